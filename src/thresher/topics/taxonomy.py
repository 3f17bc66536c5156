"""A tree of topics: labels in several languages, descriptions, example pages.

A taxonomy is one SQLite file. ODP has four million example pages, of which a crawl needs one subtree: a file with an
index over paths gives it at once, where a packed list would have to be read to its end. It also is in the standard
library, and reading it executes nothing: files whose tables are not exactly ours are refused, and those of ours have
neither triggers nor views. A small taxonomy written by hand as YAML is read into the same tables in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from thresher.errors import ConfigError, StoreError
from thresher.text.tokens import tokenize
from thresher.topics.paths import clean_path, levels_of, parent_of, path_language
from thresher.topics.taxonomy_file import APPLICATION_ID, SQL, VERSION, TaxonomyWriter, in_words

_MAGIC = b"SQLite format 3\0"
_NEAREST = 3
_AFTER_SLASH = chr(ord("/") + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A page that people filed under a node."""

    url: str
    title: str = ""
    description: str = ""

    @property
    def text(self) -> str:
        """What is said of the page: its title and description."""
        return f"{self.title} {self.description}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One topic of a taxonomy.

    Args:
        path: From the root, which is not written: ``Sports/Basketball``.
        labels: Its name, by language.
        descriptions: What it is about, by language.
        urls: How many example pages are its own.
        urls_below: How many there are in its whole subtree.
    """

    path: str
    labels: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    urls: int = 0
    urls_below: int = 0


class UnknownNode(ConfigError):
    """A path that a taxonomy does not have."""

    def __init__(self, path: str, file: str, nearest: Iterable[str]) -> None:
        near = ", ".join(map(repr, nearest))
        hint = f"; nearest: {near}" if near else ""
        super().__init__(f"no node {path!r} in {file}{hint}. Look for it: thresher topics find {file} WORDS")


class Taxonomy:
    """A taxonomy, open for reading.

    Args:
        db: A connection to finished tables.
        name: What messages call it.
    """

    def __init__(self, db: sqlite3.Connection, name: str) -> None:
        self._db = db
        self._name = name

    @classmethod
    def open(cls, path: Path) -> Taxonomy:
        """Open an imported file, or a YAML file written by hand.

        Raises:
            ConfigError: There is no such file, or it must be imported first.
            StoreError: It is damaged, or not a taxonomy.
        """
        if not path.is_file():
            raise ConfigError(f"there is no taxonomy {path}; make one: thresher topics import FILE -o {path}")
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC:
                return cls(_connect(path), str(path))
        from thresher.topics.taxonomy_import import Kind, open_source

        with open_source(path) as source:
            if source.kind is not Kind.YAML:
                made = f"thresher topics import {path} -o {path.name.partition('.')[0]}.taxonomy"
                raise ConfigError(f"{path} is {source.kind.value}, which must be imported first: {made}")
            return cls(_by_hand(source.file, path.name), str(path))

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def size(self) -> tuple[int, int]:
        """Return the number of nodes and of example pages."""
        [(nodes, examples)] = self.rows("SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM example)")
        return nodes, examples

    def node(self, path: str) -> Node:
        """Return one node.

        Raises:
            UnknownNode: There is none; the message names the nearest ones.
        """
        wanted = clean_path(path)
        for number, *counts in self.rows("SELECT id, urls, urls_below FROM node WHERE path = ?", wanted):
            return self._node(number, wanted, *counts)
        raise UnknownNode(wanted or path, self._name, self.nearest(wanted))

    def children(self, path: str = "") -> list[Node]:
        """List the nodes one level below, by path; those below the root when none is named."""
        parent = self.rows("SELECT id FROM node WHERE path = ?", clean_path(path))
        number = parent[0][0] if parent else 0
        found = self.rows("SELECT id, path, urls, urls_below FROM node WHERE parent = ? ORDER BY path", number)
        return [self._node(*row) for row in found]

    def find(self, words: str, *, limit: int = 20) -> list[tuple[Node, float]]:
        """Look for nodes by the words of their labels, in any language; return them with scores, best first."""
        terms = json.dumps(list(dict.fromkeys(tokenize(words))), ensure_ascii=False)
        if terms == "[]":
            return []
        return [(self.node(path), score) for path, score in self.rows(_find(), {"terms": terms, "limit": limit})]

    def nearest(self, path: str) -> list[str]:
        """Name nodes that somebody may have meant: spelled alike beside it, or with the same words elsewhere."""
        above = parent_of(path)
        while above and not self.rows("SELECT 1 FROM node WHERE path = ?", above):
            above = parent_of(above)
        name = path.removeprefix(f"{above}/").partition("/")[0].casefold()
        beside = {node.path.rpartition("/")[2].casefold(): node.path for node in self.children(above)}
        alike = [beside[match] for match in get_close_matches(name, beside, n=_NEAREST)]
        worded = [node.path for node, _ in self.find(path.rpartition("/")[2].replace("_", " "), limit=_NEAREST)]
        return list(dict.fromkeys([*alike, *worded]))

    def labels(self, path: str) -> list[dict[str, str]]:
        """Return the labels of all levels by language, from the first below the root to the node itself."""
        self.node(path)
        return [self.node(level).labels for level in levels_of(clean_path(path))]

    def links(self, path: str, kind: str) -> list[str]:
        """List the paths that a node is linked to, such as its ``alternate`` ones in other languages."""
        query = "SELECT target FROM link JOIN node ON node.id = link.node WHERE path = ? AND kind = ? ORDER BY target"
        return [target for (target,) in self.rows(query, clean_path(path), kind)]

    def with_counterparts(self, path: str, languages: Collection[str]) -> list[str]:
        """Return a node's path and those of its counterparts, in so far as they are in one of the languages."""
        wanted = clean_path(path)
        others = [other for other in self.links(wanted, "alternate") if path_language(other) in languages]
        return [wanted, *(other for other in others if self.rows("SELECT 1 FROM node WHERE path = ?", other))]

    def examples(self, path: str, *, below: bool = False) -> Iterator[Example]:
        """Yield the example pages of a node; with `below`, those of its subtree after its own."""
        columns = "example.url, example.title, example.description"
        wanted = clean_path(path)
        for found in self._ranges(columns, "CROSS JOIN example ON example.node = node.id", wanted, below=below):
            for url, title, description in found:
                yield Example(url=url, title=title, description=description)

    def description(self, path: str, *, languages: Collection[str] = ("en", "zh")) -> Iterator[str]:
        """Yield `Desc`: all descriptions and the texts of all example pages, of a subtree and its counterparts.

        It judges pages in experiments, and never guides a crawl.
        """
        self.node(path)
        label = "CROSS JOIN label ON label.node = node.id AND label.own = 1 AND label.description <> ''"
        for top in self.with_counterparts(path, languages):
            own = chain.from_iterable(self._ranges("label.language, label.description", label, top, below=True))
            yield from (text for language, text in own if language in languages)
            yield from filter(None, (example.text for example in self.examples(top, below=True)))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        return list(self.stream(query, *values))

    def stream(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Run a query and yield its rows; one mapping gives values by name."""
        with in_words(Path(self._name)):
            named = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
            yield from self._db.execute(query, named)

    def _ranges(self, columns: str, joined: str, path: str, *, below: bool) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Ask about a node, and then about its subtree, which is one range of the paths."""
        query = f"SELECT {columns} FROM node {joined} WHERE node.path"  # noqa: S608 - no text from outside
        yield self.stream(f"{query} = ?", path)
        if below and path:
            yield self.stream(f"{query} > ? AND node.path < ?", f"{path}/", path + _AFTER_SLASH)
        elif below:
            yield self.stream(f"{query} > ''")

    def _node(self, number: int, path: str, urls: int, urls_below: int) -> Node:
        found = self.rows("SELECT language, label, description FROM label WHERE node = ? ORDER BY language", number)
        return Node(
            path=path,
            labels={language: label for language, label, _ in found if label},
            descriptions={language: description for language, _, description in found if description},
            urls=urls,
            urls_below=urls_below,
        )


@cache
def _find() -> str:
    return (SQL / "taxonomy_find.sql").read_text(encoding="utf-8")


def _by_hand(file: BinaryIO, name: str) -> sqlite3.Connection:
    writer = TaxonomyWriter()
    try:
        from thresher.topics.taxonomy_yaml import read_yaml

        read_yaml(file, name, writer)
        writer.finish()
    except BaseException:
        writer.db.close()
        raise
    return writer.db


def _connect(path: Path) -> sqlite3.Connection:
    """Open a file that a stranger may have made: read only, and only when its tables are ours to the letter."""
    with in_words(path):
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            [(application,)] = db.execute("PRAGMA application_id")
            [(version,)] = db.execute("PRAGMA user_version")
            if application != APPLICATION_ID or (version == VERSION and _tables(db) != _our_tables()):
                raise StoreError(f"{path} is no taxonomy file; make one: thresher topics import FILE -o NAME.taxonomy")
            if version != VERSION:
                raise StoreError(f"{path} is of version {version}, this Thresher reads {VERSION}; import it anew")
        except BaseException:
            db.close()
            raise
    return db


def _tables(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()


@cache
def _our_tables() -> list[tuple[Any, ...]]:
    writer = TaxonomyWriter()
    writer.finish()
    tables = _tables(writer.db)
    writer.db.close()
    return tables
