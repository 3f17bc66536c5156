"""The seeds that a user wrote: URLs in topic.yaml, and files of them, one per line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from thresher.errors import ConfigError, RefusedAddress
from thresher.urls.addresses import Network, private_network, refusal
from thresher.urls.canonical import canonicalize


def seeds_of(entry: str, topic: Path) -> list[str]:
    """Return the seeds of one entry of topic.yaml: a URL, or the name of a file beside it.

    Raises:
        ConfigError: A line is no http or https URL, or the file is missing.
    """
    if "://" in entry:
        return [seed_url(entry, topic.name)]
    path = topic.parent / entry
    if not path.is_file():
        raise ConfigError(f"{topic}: seeds names {entry}, and there is no such file")
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    stripped = ((number, line.partition(" #")[0].strip()) for number, line in lines)
    return [seed_url(line, f"{entry}:{number}") for number, line in stripped if line and not line.startswith("#")]


def seed_url(url: str, place: str) -> str:
    """Return the one spelling of a URL that was found at a place.

    Raises:
        ConfigError: It is no http or https URL.
    """
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(f"{place}: {url!r} is not an http or https URL")
    return canonical


def is_own(url: str, allowed: Sequence[Network]) -> bool:
    """Tell whether a seed lies in the user's own network.

    Raises:
        RefusedAddress: It lies in a private network that topic.yaml does not list.
    """
    name = urlsplit(url).hostname or ""
    network = private_network(name)
    address = name if "localhost" not in name else "127.0.0.1"
    if network and (why := refusal(address, allowed)):
        raise RefusedAddress(url, why, network)
    return bool(network)
