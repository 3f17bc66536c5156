"""Files of training data: example pages of classes, and links between pages.

    examples    one URL per line; or a class, a tab and a URL; or JSON objects with "url" and "path"
    links       a source URL, a tab and a target URL; or JSON objects with "source" and "target"

The forms with a path are those of `thresher topics import`, the one with a source that of `thresher export --links`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from thresher.errors import ConfigError
from thresher.topics.seeds import seed_url
from thresher.topics.taxonomy.paths import clean_path
from thresher.urls.canonical import canonicalize

NO_CLASS = ""
"""The class of URLs that a file lists without one: targets."""
_MAX_LINE_BYTES = 1 << 16
_HEADERS = {"url", "path", "source", "class"}


class BackLinkSource(Protocol):
    """A source of pages that link to others."""

    def linking_to(self, urls: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return for canonical URLs the canonical URLs of pages that link to them; none for those it does not know."""
        ...


def read_examples(path: Path) -> dict[str, list[str]]:
    """Read the example URLs of every class; those without a class are under `NO_CLASS`.

    Raises:
        ConfigError: There is no such file, it lists nothing, or a line has no http or https URL.
    """
    found: dict[str, dict[str, None]] = {}
    for number, line in _lines(path):
        place = f"{path}:{number}"
        if line.startswith("{"):
            row = _object(line, place)
            label, url = (
                next((str(row[name]) for name in ("path", "class", "topic") if name in row), ""),
                row.get("url"),
            )
        else:
            *labels, url = [part.strip() for part in line.split("\t")[:2]]
            label = labels[0] if labels else ""
        found.setdefault(clean_path(label), {})[seed_url(str(url or ""), place)] = None
    if not found:
        raise ConfigError(f"{path} lists no example pages; write one URL per line, or a class, a tab and a URL")
    return {label: list(urls) for label, urls in found.items()}


class LinkFile:
    """A file of links as a source of back links; it is read once per call, so it may be larger than the memory.

    Lines that are no link between two http or https URLs are skipped.

    Args:
        most: How many back links of one URL are returned.
    """

    def __init__(self, path: Path, *, most: int = 1000) -> None:
        if not path.is_file():
            raise ConfigError(f"there is no file of links {path}; check --links")
        if next(self._links(path), None) is None:
            raise ConfigError(
                f"{path} has no links; each line must be a source URL, a tab and a target URL, or a JSON object with "
                '"source" and "target", as thresher export --links writes it'
            )
        self._path = path
        self._most = most

    def linking_to(self, urls: Collection[str]) -> dict[str, list[str]]:
        wanted: dict[str, dict[str, None]] = {url: {} for url in urls}
        for source, target in self._links(self._path):
            found = wanted.get(target)
            if found is not None and source != target and len(found) < self._most:
                found[source] = None
        return {url: list(sources) for url, sources in wanted.items() if sources}

    @staticmethod
    def _links(path: Path) -> Iterator[tuple[str, str]]:
        for _, line in _lines(path):
            if line.startswith("{"):
                try:
                    row = json.loads(line)
                    ends = [str(row["source"]), str(row["target"])]
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
            else:
                ends = line.split("\t")[:2]
            urls = [canonicalize(end.strip()) for end in ends]
            if len(urls) == 2 and urls[0] and urls[1]:
                yield urls[0], urls[1]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without comments and a header.

    Raises:
        ConfigError: There is no such file.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(_MAX_LINE_BYTES):
                number += 1
                line = raw.decode("utf-8", "replace").removeprefix("\ufeff").strip()
                is_header = number == 1 and line.split("\t")[0].strip().lower() in _HEADERS
                if line and not line.startswith("#") and not is_header:
                    yield number, line
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _object(line: str, place: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: this is no JSON object: {error}") from error
    return row if isinstance(row, dict) else {}
