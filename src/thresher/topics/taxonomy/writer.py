"""Writer of taxonomy files.

Rows may come in any order and from several sources. Only recent paths are kept in memory, so that four million pages
need no more of it than a few thousand. The file appears under its name when it is complete.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from thresher.errors import StoreError, disk_full, is_disk_full
from thresher.text.tokens import tokenize
from thresher.topics.taxonomy.paths import default_label, parent_of, path_language

APPLICATION_ID = 0x74_68_74_78
"""Identifies a taxonomy file among SQLite files."""

VERSION = 2
"""Version of the schema; increased when an older Thresher cannot read it. Version 1 had no keywords."""

KEYWORD_WEIGHT = 0.5
"""Weight of a keyword in a search for nodes; that of a label is 1."""

SQL = resources.files(__package__) / "sql"

_ROWS_AT_ONCE = 1_000
_PATHS_KEPT = 1 << 14
_BOUNDARY = "xlabelboundaryx"
_PRAGMAS = (
    f"application_id = {APPLICATION_ID}",
    f"user_version = {VERSION}",
    "journal_mode = OFF",  # an incomplete file is deleted, never repaired
    "synchronous = OFF",
    "temp_store = FILE",
    "cache_size = -8192",
)


class TaxonomyWriter:
    """Writes nodes, example pages and links into a taxonomy file.

    Args:
        path: The file; None for a database in memory, for taxonomies written by hand.
        complete: Adds labels from elsewhere before the file is finished; returns how many nodes it completed.
    """

    def __init__(
        self, path: Path | None = None, *, complete: Callable[[sqlite3.Connection], int] = lambda _: 0
    ) -> None:
        self._path = path
        self._complete = complete
        self._part = path.with_name(path.name + ".part") if path else None
        if self._part:
            self._part.unlink(missing_ok=True)
        self.nodes = self.examples = self.completed = 0
        self._waiting: list[tuple[int, str, str, str]] = []
        self._node_of = lru_cache(maxsize=_PATHS_KEPT)(self._find_or_add)
        with sqlite_errors(self._part):
            self.db = sqlite3.connect(self._part or ":memory:", isolation_level=None)
            for pragma in _PRAGMAS:
                self.db.execute(f"PRAGMA {pragma}")
            self._script("taxonomy.sql")
            self.db.execute("BEGIN")

    def add_node(self, path: str) -> int:
        """Add a node and its ancestors, unless they exist; return its id."""
        with sqlite_errors(self._part):
            return self._node_of(path)

    def add_label(self, path: str, language: str, label: str = "", description: str = "") -> None:
        """Set label and description of a node; empty values leave the previous ones."""
        with sqlite_errors(self._part):
            self.db.execute(
                "INSERT INTO label VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET "
                "label = iif(excluded.label = '', label, excluded.label), "
                "description = iif(excluded.description = '', description, excluded.description)",
                (self._node_of(path), language, label, description),
            )

    def add_keywords(self, path: str, language: str, keywords: Sequence[str]) -> None:
        """Set the keywords of a node in one language, unless it has some."""
        node = self.add_node(path)
        with sqlite_errors(self._part):
            self.db.executemany(
                "INSERT OR IGNORE INTO keyword VALUES (?, ?, ?, ?)",
                [(node, language, place, keyword) for place, keyword in enumerate(keywords)],
            )

    def add_example(self, path: str, url: str, title: str = "", description: str = "") -> None:
        self._waiting.append((self.add_node(path), url, title, description))
        self.examples += 1
        if len(self._waiting) >= _ROWS_AT_ONCE:
            self._write_examples()

    def add_link(self, path: str, kind: str, target: str) -> None:
        """Link a node to another path: ``alternate`` for the same topic in another language, or any other kind."""
        with sqlite_errors(self._part):
            self.db.execute("INSERT OR IGNORE INTO link VALUES (?, ?, ?)", (self._node_of(path), kind, target))

    def finish(self, *, words: bool = True) -> None:
        """Compute the derived tables; nothing can be added afterwards.

        Args:
            words: Index the words of labels; else `index_words` must be called before a search.
        """
        self._write_examples()
        with sqlite_errors(self._part):
            self._script("taxonomy_finish.sql")
            self.completed = self._complete(self.db)
            self._count_below()
            if words:
                index_words(self.db)
            self.db.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the file and rename it, or delete it after an error."""
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
        with sqlite_errors(self._part):
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

    def _script(self, name: str) -> None:
        """Run the statements of a file inside the open transaction, which `executescript` would commit."""
        statement = ""
        for line in (SQL / name).read_text(encoding="utf-8").splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self.db.execute(statement)
                statement = ""


def index_words(db: sqlite3.Connection) -> None:
    """Index the terms of labels and, with a lower weight, of keywords.

    They are sorted on disk, so that the index is written sequentially.
    """
    db.execute("CREATE TEMP TABLE found (term TEXT, node INTEGER, weight REAL)")
    labels = db.execute(
        "SELECT node, label, 1.0 FROM label UNION ALL SELECT node, keyword, ? FROM keyword", (KEYWORD_WEIGHT,)
    )
    db.executemany("INSERT INTO found VALUES (?, ?, ?)", _words(labels))
    db.execute("INSERT INTO word SELECT term, node, max(weight) FROM found GROUP BY term, node")
    db.execute("DROP TABLE found")


def _words(labels: Iterator[tuple[int, str, float]]) -> Iterator[tuple[str, int, float]]:
    while rows := list(islice(labels, _ROWS_AT_ONCE)):
        for (node, _, weight), terms in zip(rows, _tokenize_each([label for _, label, _ in rows]), strict=True):
            for term in terms:
                yield term, node, weight / len(terms)


def _tokenize_each(labels: Sequence[str]) -> list[set[str]]:
    """Tokenize many short texts at once, several times faster than one by one."""
    found: list[set[str]] = [set()]
    for term in tokenize(f" {_BOUNDARY} ".join(labels)):
        if term == _BOUNDARY:
            found.append(set())
        else:
            found[-1].add(term)
    return found if len(found) == len(labels) else [set(tokenize(label)) for label in labels]


@contextmanager
def sqlite_errors(path: Path | None) -> Iterator[None]:
    """Convert errors of SQLite to `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        if is_disk_full(error):
            raise disk_full() from error
        raise StoreError(f"{path or 'the taxonomy'} cannot be used: {error}") from error
