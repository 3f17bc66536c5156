"""The seeds that a user wrote: URLs in topic.yaml, and files of them, one per line."""

from __future__ import annotations

from pathlib import Path

from thresher.errors import ConfigError
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
