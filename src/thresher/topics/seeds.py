"""Seeds: URLs in topic.yaml, files with one URL per line, and example pages of a taxonomy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from urllib.parse import urlsplit

from thresher.errors import ConfigError, RefusedAddress
from thresher.locale.translation import _
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.urls.address_policy import Network, private_network, refusal, refused_name
from thresher.urls.canonical import canonicalize


def seeds_of(entry: str, topic: Path) -> list[str]:
    """Return the seeds of one entry of topic.yaml: a URL, or the name of a file beside it.

    Raises:
        ConfigError: A line is not an http or https URL, or the file is missing.
    """
    if "://" in entry:
        return [seed_url(entry, topic.name)]
    path = topic.parent / entry
    if not path.is_file():
        raise ConfigError(
            _(
                "{file}: seeds names {entry}, and there is no such file; write it, or remove the entry",
                file=topic,
                entry=entry,
            )
        )
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    stripped = ((number, line.partition(" #")[0].strip()) for number, line in lines)
    return [seed_url(line, f"{entry}:{number}") for number, line in stripped if line and not line.startswith("#")]


def seed_url(url: str, place: str) -> str:
    """Return the canonical form of a seed; `place` is its location for the error message.

    Raises:
        ConfigError: It is not an http or https URL.
    """
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(_("{place}: {url!r} is not an http or https URL", place=place, url=url))
    return canonical


def is_own(url: str, allowed: Sequence[Network]) -> bool:
    """Return whether a seed is in the user's own network.

    Raises:
        RefusedAddress: It is in a private network that topic.yaml does not list.
    """
    name = urlsplit(url).hostname or ""
    network = private_network(name)
    address = name if "localhost" not in name else "127.0.0.1"
    if network and (why := refusal(address, allowed)):
        raise RefusedAddress(url, why, network)
    return bool(network)


MAX_SEEDS = 10


def example_seeds(
    taxonomy: TaxonomyReader, paths: Iterable[str], *, languages: Collection[str], most: int = MAX_SEEDS
) -> list[str]:
    """Return URLs of example pages, round robin over the nodes and their counterparts in the wanted languages.

    The pages of a node itself come before those below it. A taxonomy is untrusted input: private addresses in it are
    left out, since they would be in the user's own network.
    """
    tops = [top for path in paths for top in taxonomy.with_counterparts(path, languages)]
    turns = zip_longest(*(islice(_public_urls(taxonomy, top), most) for top in dict.fromkeys(tops)))
    found = dict.fromkeys(url for turn in turns for url in turn if url)
    return list(found)[:most]


def _public_urls(taxonomy: TaxonomyReader, path: str) -> Iterator[str]:
    for example in taxonomy.examples(path, below=True):
        url = canonicalize(example.url)
        name = urlsplit(url).hostname or "" if url else ""
        if url and not private_network(name) and not refused_name(name):
            yield url
