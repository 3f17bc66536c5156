"""Links that name a page by another spelling of its address.

A site answers under more addresses than one: ``/`` and ``/index.html``, ``/people`` and ``/people/``, http and https.
A frozen web holds each page once, so a link by another spelling would seem dead. We write the page's own address into
the link when the web is imported. A redirect would also lead there, but would cost a crawler one fetch for every
spelling, and those fetches would be counted against its strategy.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from html import escape, unescape
from urllib.parse import unquote

from thresher.urls.canonical import canonicalize, host_key

Resolve = Callable[[str], tuple[int, str] | None]
"""From a canonical address to the number and the address of the page that it means; None when it means none."""

_INDEX_FILE = re.compile(r"(?<=/)(?:index|default)\.(?:s?html?|aspx?|php|jsp|cgi)$", re.IGNORECASE)
# Comments and scripts are matched, without a group, so that nothing inside them is read as a link.
_LINK_TAG = re.compile(
    r"<(?:!--.*?--|script\b.*?</script|style\b.*?</style|((?:a|area|frame|iframe)\s[^>]*))>", re.IGNORECASE | re.DOTALL
)
_TARGET = re.compile(r"""((?<![\w-])(?:href|src)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_BY_NAME = "SELECT id, url FROM other_name JOIN page ON id = page WHERE rank = ? AND name = ?"
_BASE = re.compile(r"""<base\s[^>]*?href\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)


Name = tuple[int, bytes]
"""What spellings of one address have in common, and its rank: a lower one is surer. Bytes need not be text."""


def recorded_name(url: str) -> Name:
    """Return the name of a URL that the source itself lists as an alias: the surest kind."""
    return 0, url.encode("utf-8", "replace")


def other_names(url: str) -> Iterator[Name]:
    """Yield the names that a page shares with other spellings of its address."""
    path, mark, query = url.partition("://")[2].partition("?")
    spelling = unquote(path, errors="surrogateescape")
    for rank, name in ((1, spelling), (2, _INDEX_FILE.sub("", spelling).rstrip("/"))):
        yield rank, f"{name}{mark}{query}".encode("utf-8", "surrogateescape")


class AliasTable:
    """Finds the page that an address means, by the tables of a store that is being built.

    Args:
        db: The store, with its pages and their other names.
        hosts: All hosts of the web; other links need no lookup.
    """

    def __init__(self, db: sqlite3.Connection, hosts: Collection[str]) -> None:
        self._db = db
        self._hosts = hosts
        self.resolve: Resolve = lru_cache(maxsize=1 << 17)(self._resolve)

    def _resolve(self, url: str) -> tuple[int, str] | None:
        if host_key(url) not in self._hosts:
            return None
        found: tuple[int, str] | None = self._db.execute("SELECT id, url FROM page WHERE url = ?", [url]).fetchone()
        names = iter([recorded_name(url), *other_names(url)])
        while found is None and (name := next(names, None)):
            found = self._db.execute(_BY_NAME, name).fetchone()
        return found


def settle_links(url: str, html: str, resolve: Resolve) -> str:
    """Write into the links of a page the addresses that their pages have in the web; the rest is left as it is."""
    base = _base(url, html)

    def settled(target: re.Match[str]) -> str:
        address = canonicalize(unescape(target[2].strip("\"'")), base)
        found = resolve(address) if address else None
        return target[0] if found is None or found[1] == address else f'{target[1]}"{escape(found[1])}"'

    def with_settled_target(tag: re.Match[str]) -> str:
        return f"<{_TARGET.sub(settled, tag[1], count=1)}>" if tag[1] else tag[0]

    return _LINK_TAG.sub(with_settled_target, html)


def _base(url: str, html: str) -> str:
    declared = _BASE.search(html)
    return (canonicalize(unescape(declared[1]), url) if declared else None) or url
