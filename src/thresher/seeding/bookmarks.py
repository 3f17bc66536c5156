"""Bookmark files as a source of seeds: the HTML that browsers export (Netscape bookmark file), or one URL per line."""

from __future__ import annotations

from pathlib import Path

from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.parsing.html import parse
from thresher.seeding.base import SeedCandidate, SeedQuery, SourceFailed, url_terms
from thresher.text.tokens import tokenize
from thresher.urls.canonical import canonicalize

MAX_BYTES = 20 << 20
BASE = "http://bookmarks.invalid/"
"""The base of relative links, which are no bookmarks."""


class BookmarkFile:
    """The links of a file.

    Args:
        address: The path of the file.
        config: The crawl that seeds are sought for.
    """

    def __init__(self, address: str, config: CrawlConfig) -> None:
        if not address:
            raise ConfigError("the source bookmarks needs a file: bookmarks=FILE")
        self._path = Path(address).expanduser()
        if not self._path.is_file():
            raise ConfigError(f"there is no file {self._path}; give one: bookmarks=FILE")

    def find(self, query: SeedQuery) -> list[SeedCandidate]:
        """Return the bookmarks, those with words of the topic in title or URL first, then in the order of the file."""
        if self._path.stat().st_size > MAX_BYTES:
            raise SourceFailed(f"{self._path} is larger than {MAX_BYTES >> 20} MiB")
        body = self._path.read_bytes()
        found = _of_html(body) if b"<a" in body[:1_000_000].lower() else _of_lines(body.decode("utf-8", "replace"))

        def words(url: str) -> int:
            return len(query.terms.intersection([*tokenize(found[url]), *url_terms(url)]))

        return [
            SeedCandidate(url=url, title=found[url], source="bookmarks", reason=f"in {self._path.name}")
            for url in sorted(found, key=lambda url: -words(url))
        ]


def _of_html(body: bytes) -> dict[str, str]:
    """Return the titles of all links by URL."""
    page = parse(BASE, body, "text/html")
    return {link.url: link.anchor for link in page.links if not link.url.startswith(BASE)}


def _of_lines(text: str) -> dict[str, str]:
    lines = (line.partition(" #") for line in text.splitlines() if not line.lstrip().startswith("#"))
    urls = ((canonicalize(url.strip()), title.strip()) for url, _, title in lines if url.strip())
    return {url: title for url, title in urls if url}
