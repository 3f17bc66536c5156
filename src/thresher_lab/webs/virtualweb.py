"""Frozen webs: pages as servers would send them, with topic labels."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

from thresher.compression import zstd
from thresher.errors import UnknownName
from thresher.urls.canonical import host_key
from thresher_lab.webs.webstore import unpacked_numbers

_WIDER_CODECS = {"gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "utf-8": "utf-8", "utf8": "utf-8"}
"""Codecs that can write every character, and whose bytes for the charset's own characters are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page as its server would send it.

    Args:
        language: ``en``, ``zh`` or another code; empty when unknown.
        topics: Its true labels, for measurements; a crawler must not see them.
        html: Its markup, decoded.
        charset: In which its server sends it.
    """

    url: str
    title: str
    language: str
    topics: tuple[str, ...]
    html: str
    charset: str = "utf-8"

    @property
    def body(self) -> bytes:
        """The bytes that a server sends: in the page's charset, or in UTF-8 when that cannot write them."""
        return self.html.encode(self._codec(), "replace")

    @property
    def content_type(self) -> str:
        """The header of that name."""
        named = self.charset if self._codec() != "utf-8" else "utf-8"
        return f"text/html; charset={named}"

    def _codec(self) -> str:
        total = _WIDER_CODECS.get(self.charset.lower())
        if total:
            return total
        try:
            self.html.encode(self.charset)
        except (LookupError, UnicodeEncodeError):
            return "utf-8"
        return self.charset


class Web(Protocol):
    """A web that can be crawled without a network, and that knows which pages a crawl should have found.

    Pages are numbered from 0 without gaps, and the numbers stay the same each time the web is opened. URLs are
    canonical. A topic includes its whole subtree: ``Science`` means ``Science/Biology`` too, but never ``Sciences``.
    """

    @property
    def name(self) -> str:
        """The name it was opened by."""
        ...

    def __len__(self) -> int:
        """Count the pages."""
        ...

    def get(self, url: str) -> WebPage | None:
        """Return the page at a URL; None where a server would respond 404, or where there is no server."""
        ...

    def urls(self) -> Iterator[str]:
        """Yield the URLs of all pages, in the order of their numbers."""
        ...

    def page_id(self, url: str) -> int | None:
        """Return the number of a page; None for a URL that is not a page of the web."""
        ...

    def url_of(self, page_id: int) -> str:
        """Return the URL of a page; raises IndexError when there is no such number."""
        ...

    def topics(self) -> dict[str, int]:
        """Return every topic, inner levels of the hierarchy included, and the number of its pages."""
        ...

    def targets(self, topic: str) -> frozenset[int]:
        """Return the numbers of all pages of a topic; raises UnknownName for a topic that no page has."""
        ...

    def is_topic(self, url: str, topic: str) -> bool:
        """Return whether the page at a URL belongs to a topic."""
        ...

    def hosts(self) -> dict[str, int]:
        """Return every host and the number of its pages."""
        ...

    def links_from(self, page_id: int) -> Sequence[int]:
        """Return the pages that an obedient crawler can reach by one link, each once: for oracles, not for crawlers."""
        ...

    def close(self) -> None:
        """Close files."""
        ...


class VirtualWeb:
    """A web in a store; pages are read one at a time, by any thread."""

    def __init__(self, name: str, store: Path) -> None:
        self.name = name
        uri = f"{store.absolute().as_uri()}?mode=ro&immutable=1"
        self._db = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        weakref.finalize(self, self._db.close)
        self._lock = threading.Lock()
        learned = self._db.execute("SELECT bytes FROM dictionary").fetchone()
        dictionary = zstd.ZstdDict(learned[0]) if learned else None
        self._unpack = partial(zstd.decompress, dictionary=dictionary)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> VirtualWeb:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _size(self) -> int:
        size: int = self._db.execute("SELECT count(*) FROM page").fetchone()[0]
        return size

    def __len__(self) -> int:
        return self._size

    def get(self, url: str) -> WebPage | None:
        with self._lock:  # a statement and a decompressor serve one thread at a time
            row = self._db.execute(_PAGE, [url]).fetchone()
            if row is None:
                return None
            number, title, language, charset, packed = row
            html, topics = self._unpack(packed).decode("utf-8"), self._labels(number)
        return WebPage(url=url, title=title, language=language, topics=topics, html=html, charset=charset)

    def _labels(self, page_id: int) -> tuple[str, ...]:
        rows = self._db.execute("SELECT label FROM topic WHERE page = ? ORDER BY label", [page_id])
        return tuple(label for (label,) in rows)

    def urls(self) -> Iterator[str]:
        return (url for (url,) in self._db.execute("SELECT url FROM page ORDER BY id"))

    def page_id(self, url: str) -> int | None:
        row = self._db.execute("SELECT id FROM page WHERE url = ?", [url]).fetchone()
        return row[0] if row else None

    def url_of(self, page_id: int) -> str:
        return self._of_page(page_id, "SELECT url FROM page WHERE id = ?")

    def title_of(self, page_id: int) -> str:
        """Return the title of a page, without reading its markup."""
        return self._of_page(page_id, "SELECT title FROM page WHERE id = ?")

    def _of_page(self, page_id: int, query: str) -> str:
        row = self._db.execute(query, [page_id]).fetchone()
        if row is None:
            raise IndexError(f"{self.name} has the pages 0 to {len(self) - 1}, not {page_id}")
        value: str = row[0]
        return value

    def topics(self) -> dict[str, int]:
        return dict(self._topics)

    @cached_property
    def _topics(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for (labels,) in self._db.execute("SELECT group_concat(label, char(10)) FROM topic GROUP BY page"):
            counts.update({level for label in labels.split("\n") for level in levels(label)})
        return dict(sorted(counts.items()))

    def targets(self, topic: str) -> frozenset[int]:
        found = frozenset(page for (page,) in self._db.execute(_TARGETS, {"topic": topic}))
        if not found:
            raise UnknownName("topic", topic, self._topics)
        return found

    def is_topic(self, url: str, topic: str) -> bool:
        page_id = self.page_id(url)
        return page_id is not None and belongs(self._labels(page_id), topic)

    def hosts(self) -> dict[str, int]:
        return dict(self._hosts)

    @cached_property
    def _hosts(self) -> Counter[str]:
        return Counter(map(host_key, self.urls()))

    def links_from(self, page_id: int) -> tuple[int, ...]:
        row = self._db.execute("SELECT links FROM markup WHERE page = ?", [page_id]).fetchone()
        if row is None:
            raise IndexError(f"{self.name} has the pages 0 to {len(self) - 1}, not {page_id}")
        return unpacked_numbers(row[0])


_PAGE = "SELECT id, title, language, charset, html FROM page JOIN markup ON page = id WHERE url = ?"
# A slash is followed by the digit zero in the order of characters, so this is the whole subtree and nothing else.
_TARGETS = "SELECT page FROM topic WHERE label = :topic OR (label > :topic || '/' AND label < :topic || '0')"


def levels(label: str) -> Iterator[str]:
    """Yield a label and all labels above it: ``a/b`` and ``a``."""
    while label:
        yield label
        label = label.rpartition("/")[0]


def belongs(labels: Sequence[str], topic: str) -> bool:
    """Return whether one of a page's labels is in the subtree of a topic."""
    return any(label == topic or label.startswith(f"{topic}/") for label in labels)
