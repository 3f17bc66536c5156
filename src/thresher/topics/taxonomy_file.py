"""Writing a taxonomy file.

Rows may come in any order and from several sources. Nothing is held in memory but the paths of late, so that four
million pages take no more of it than a few thousand. The file appears under its name when it is whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self

from thresher.errors import StoreError, disk_full, is_disk_full
from thresher.text.tokens import tokenize
from thresher.topics.paths import default_label, parent_of, path_language

APPLICATION_ID = 0x74_68_74_78
"""Tells a taxonomy file from other SQLite files."""

VERSION = 1
"""Counts the changes of the tables that an older Thresher cannot read."""

SQL = resources.files("thresher.topics") / "sql"

_ROWS_AT_ONCE = 1_000
_PATHS_KEPT = 1 << 14
_PRAGMAS = (
    f"application_id = {APPLICATION_ID}",
    f"user_version = {VERSION}",
    "journal_mode = OFF",  # an unfinished file is thrown away, never repaired
    "synchronous = OFF",
    "temp_store = FILE",
    "cache_size = -8192",
)


class TaxonomyWriter:
    """Takes nodes, example pages and links, and makes a taxonomy file of them.

    Args:
        path: The file to make; None keeps it in memory, for taxonomies written by hand.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part") if path else None
        if self._part:
            self._part.unlink(missing_ok=True)
        self.nodes = self.examples = 0
        self._waiting: list[tuple[int, str, str, str]] = []
        self._node_of = lru_cache(maxsize=_PATHS_KEPT)(self._find_or_add)
        with in_words(self._part):
            self.db = sqlite3.connect(self._part or ":memory:", isolation_level=None)
            for pragma in _PRAGMAS:
                self.db.execute(f"PRAGMA {pragma}")
            self._script("taxonomy.sql")
            self.db.execute("BEGIN")

    def add_node(self, path: str) -> int:
        """Add a node and its ancestors, as far as they are not there; return its number."""
        with in_words(self._part):
            return self._node_of(path)

    def add_label(self, path: str, language: str, label: str = "", description: str = "") -> None:
        """Say how a node is called and what it is about; what is empty leaves what was said before."""
        with in_words(self._part):
            self.db.execute(
                "INSERT INTO label VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET "
                "label = iif(excluded.label = '', label, excluded.label), "
                "description = iif(excluded.description = '', description, excluded.description)",
                (self._node_of(path), language, label, description),
            )

    def add_example(self, path: str, url: str, title: str = "", description: str = "") -> None:
        """Add an example page to a node."""
        self._waiting.append((self.add_node(path), url, title, description))
        self.examples += 1
        if len(self._waiting) >= _ROWS_AT_ONCE:
            self._write_examples()

    def add_link(self, path: str, kind: str, target: str) -> None:
        """Link a node to another path: ``alternate`` for the same topic in another language, or any other kind."""
        with in_words(self._part):
            self.db.execute("INSERT OR IGNORE INTO link VALUES (?, ?, ?)", (self._node_of(path), kind, target))

    def finish(self) -> None:
        """Make all that is derived; nothing can be added afterwards."""
        self._write_examples()
        with in_words(self._part):
            self._script("taxonomy_finish.sql")
            self._count_below()
            self._index_words()
            self.db.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the file and give it its name, or leave nothing behind."""
        try:
            if kind is None:
                self.finish()
                if self._part and self._path:
                    self._part.replace(self._path)
        finally:
            self.db.close()
            if self._part:
                self._part.unlink(missing_ok=True)

    def _find_or_add(self, path: str) -> int:
        row = self.db.execute("SELECT id FROM node WHERE path = ?", (path,)).fetchone()
        if row:
            return int(row[0])
        parent = self._node_of(parent_of(path)) if "/" in path else 0
        language = path_language(path)
        cursor = self.db.execute(
            "INSERT INTO node (path, parent, depth, language) VALUES (?, ?, ?, ?)",
            (path, parent, path.count("/") + 1, language),
        )
        node = int(cursor.lastrowid or 0)
        self.db.execute("INSERT INTO label VALUES (?, ?, ?, '', 1)", (node, language, default_label(path)))
        self.nodes += 1
        return node

    def _write_examples(self) -> None:
        with in_words(self._part):
            self.db.executemany(
                "INSERT INTO example (node, url, title, description) VALUES (?, ?, ?, ?)", self._waiting
            )
        self._waiting.clear()

    def _count_below(self) -> None:
        (deepest,) = self.db.execute("SELECT coalesce(max(depth), 0) FROM node").fetchone()
        for depth in range(deepest - 1, 0, -1):
            self.db.execute(
                "UPDATE node SET urls_below = urls + coalesce("
                "(SELECT sum(child.urls_below) FROM node AS child WHERE child.parent = node.id), 0) WHERE depth = ?",
                (depth,),
            )

    def _index_words(self) -> None:
        """Sort the terms of all labels outside of memory, so that the index is written from left to right."""
        self.db.execute("CREATE TEMP TABLE found (term TEXT, node INTEGER, weight REAL)")
        labels = self.db.execute("SELECT node, label FROM label")
        self.db.executemany("INSERT INTO found VALUES (?, ?, ?)", _words(labels))
        self.db.execute("INSERT INTO word SELECT term, node, max(weight) FROM found GROUP BY term, node")
        self.db.execute("DROP TABLE found")

    def _script(self, name: str) -> None:
        """Run the statements of a file inside the open transaction, which `executescript` would end."""
        statement = ""
        for line in (SQL / name).read_text(encoding="utf-8").splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self.db.execute(statement)
                statement = ""


def _words(labels: Iterator[tuple[int, str]]) -> Iterator[tuple[str, int, float]]:
    for node, label in labels:
        terms = set(tokenize(label))
        for term in terms:
            yield term, node, 1 / len(terms)


@contextmanager
def in_words(path: Path | None) -> Iterator[None]:
    """Say what SQLite complains about as an error of ours."""
    try:
        yield
    except sqlite3.Error as error:
        if is_disk_full(error):
            raise disk_full() from error
        raise StoreError(f"{path or 'the taxonomy'} cannot be used: {error}") from error
