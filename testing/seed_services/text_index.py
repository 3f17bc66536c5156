"""A plain full-text index of the pages of a web: SQLite FTS5, ranked by BM25, titles before texts.

Texts are split by the tokenizer of Thresher, so that Chinese is searched by pairs of characters.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from thresher.text.tokens import tokenize

TITLE_WEIGHT = 5.0
SNIPPET_CHARACTERS = 160


@dataclass(frozen=True, kw_only=True)
class IndexedPage:
    """A page as the index returns it."""

    url: str
    title: str
    text: str


class TextIndex:
    """Pages by the words in them; may be used from any thread.

    Args:
        path: The file of the index; in memory when it is not given.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._db = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        self._lock = threading.Lock()
        self._db.execute("CREATE TABLE IF NOT EXISTS page (url TEXT, title TEXT, snippet TEXT)")
        self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5(title, text, content='')")

    def __len__(self) -> int:
        [(number,)] = self._db.execute("SELECT count(*) FROM page")
        return int(number)

    def add(self, pages: Iterable[IndexedPage]) -> None:
        """Index some pages, all of them or none."""
        with self._lock:
            self._db.execute("BEGIN")
            for page in pages:
                values = (page.url, page.title, page.text[:SNIPPET_CHARACTERS])
                number = self._db.execute("INSERT INTO page VALUES (?, ?, ?)", values).lastrowid
                words = (number, " ".join(tokenize(page.title)), " ".join(tokenize(page.text)))
                self._db.execute("INSERT INTO word (rowid, title, text) VALUES (?, ?, ?)", words)
            self._db.execute("COMMIT")

    def search(self, query: str, *, most: int, skip: int = 0) -> list[IndexedPage]:
        """Return pages that have any word of the query, best first."""
        terms = " OR ".join(f'"{term}"' for term in dict.fromkeys(tokenize(query)))
        if not terms:
            return []
        with self._lock:
            found = self._db.execute(
                "SELECT url, page.title, snippet FROM word JOIN page ON page.rowid = word.rowid WHERE word MATCH ? "
                "ORDER BY bm25(word, ?, 1.0), word.rowid LIMIT ? OFFSET ?",
                (terms, TITLE_WEIGHT, most, skip),
            ).fetchall()
        return [IndexedPage(url=url, title=title, text=snippet) for url, title, snippet in found]

    def close(self) -> None:
        self._db.close()
