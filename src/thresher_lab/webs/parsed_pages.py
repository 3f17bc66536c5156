"""A cache of parsed pages of a web, shared by all strategies.

Parsed pages are stored on disk beside the web's store, under a name that changes with the web and with the parser's own
code. Several processes may fill it at once.
"""

from __future__ import annotations

import json
import sqlite3
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thresher.compression import zstd
from thresher.parsing.html import parse
from thresher.records import Link, ParsedPage
from thresher_lab.webs.virtualweb import Web
from thresher_lab.webs.webstore import cache_folder, code_fingerprint, fingerprint_of

_IN_MEMORY = 1_000
_PER_WRITE = 100


class ParsedPages:
    """The parsed pages of a web.

    Args:
        web: The web.
        cache: The folder of stores.
        keep: Whether to cache on disk; a generated web of a million pages is better computed again.
    """

    def __init__(self, web: Web, *, cache: Path | None = None, keep: bool = True) -> None:
        self._web = web
        self._recent: OrderedDict[str, tuple[ParsedPage, int]] = OrderedDict()
        self._unwritten: list[tuple[str, bytes]] = []
        self._pack = zstd.FrameCompressor(level=3).compress
        self._db = _open(web, cache) if keep else None
        if self._db:
            weakref.finalize(self, self._db.close)  # must live as long as the measurement

    def get(self, url: str) -> tuple[ParsedPage, int] | None:
        """Return a page and its size in bytes; None where there is none."""
        found = self._recent.get(url)
        if found is not None:
            self._recent.move_to_end(url)
            return found
        found = self._read(url) or self._parse(url)
        if found is not None:
            self._recent[url] = found
            if len(self._recent) > _IN_MEMORY:
                self._recent.popitem(last=False)
        return found

    def _read(self, url: str) -> tuple[ParsedPage, int] | None:
        row = self._db.execute("SELECT page FROM parsed WHERE url = ?", [url]).fetchone() if self._db else None
        return _page(url, json.loads(zstd.decompress(row[0]))) if row else None

    def _parse(self, url: str) -> tuple[ParsedPage, int] | None:
        source = self._web.get(url)
        if source is None:
            return None
        body = source.body
        page = parse(url, body, source.content_type)
        if self._db:
            packed = self._pack(json.dumps(_values(page, len(body)), ensure_ascii=False).encode("utf-8", "replace"))
            self._unwritten.append((url, packed))
            if len(self._unwritten) >= _PER_WRITE:
                self.flush()
        return page, len(body)

    def flush(self) -> None:
        """Write the pages parsed since the last call."""
        if self._db and self._unwritten:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO parsed VALUES (?, ?)", self._unwritten)
            self._db.execute("COMMIT")
            self._unwritten.clear()

    def close(self) -> None:
        """Write remaining pages and close the file."""
        self.flush()
        if self._db:
            self._db.close()


def _open(web: Web, cache: Path | None) -> sqlite3.Connection:
    folder = cache_folder(cache)
    folder.mkdir(parents=True, exist_ok=True)
    name = fingerprint_of(f"{web.name} {len(web)} {web.url_of(0)} {web.url_of(len(web) - 1)}")
    path = folder / f"{web.name}-{name}-{code_fingerprint()}-parsed.db"
    db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")  # lost pages are parsed again
    db.execute("CREATE TABLE IF NOT EXISTS parsed (url TEXT PRIMARY KEY, page BLOB NOT NULL) WITHOUT ROWID")
    return db


def _values(page: ParsedPage, size: int) -> list[Any]:
    links = [
        [link.url, link.anchor, link.context, link.heading, link.tag_path, link.position, link.nofollow, link.block]
        for link in page.links
    ]
    fields = [page.title, page.headings, page.keywords, page.description, page.text, page.language]
    return [*fields, page.noindex, page.nofollow, page.blocks, page.canonical, size, links]


def _page(url: str, values: Sequence[Any]) -> tuple[ParsedPage, int]:
    title, headings, keywords, description, text, language, noindex, nofollow, blocks, canonical, size, links = values
    page = ParsedPage(
        url=url,
        title=title,
        headings=tuple(headings),
        keywords=keywords,
        description=description,
        text=text,
        language=language,
        links=tuple(map(_link, links)),
        noindex=noindex,
        nofollow=nofollow,
        blocks=tuple(blocks),
        canonical=canonical,
    )
    return page, size


def _link(values: Sequence[Any]) -> Link:
    url, anchor, context, heading, tag_path, position, nofollow, block = values
    return Link(
        url=url,
        anchor=anchor,
        context=context,
        heading=heading,
        tag_path=tag_path,
        position=position,
        nofollow=nofollow,
        block=block,
    )
