"""A tree of topics: labels in several languages, descriptions, example pages.

A taxonomy is one SQLite file. ODP has four million example pages, of which a crawl needs one subtree: with an index of
paths it is found at once, where a compressed list would have to be read to its end. SQLite is in the standard library,
and reading a file executes nothing: files with any other schema are refused, and the expected one has neither triggers
nor views. A small taxonomy written by hand as YAML is read into the same tables in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from thresher.errors import ConfigError, StoreError
from thresher.text.tokens import tokenize
from thresher.topics.taxonomy.bundled import BUNDLED_TITLE, write_bundled
from thresher.topics.taxonomy.paths import clean_path, levels_of, parent_of, path_language
from thresher.topics.taxonomy.writer import APPLICATION_ID, SQL, VERSION, TaxonomyWriter, index_words, sqlite_errors

_MAGIC = b"SQLite format 3\0"
_NEAREST = 3
_AFTER_SLASH = chr(ord("/") + 1)
_READABLE = (1, VERSION)
_FEW_NODES = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyExample:
    """An example page of a node."""

    url: str
    title: str = ""
    description: str = ""

    @property
    def text(self) -> str:
        return f"{self.title} {self.description}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyNode:
    """One topic of a taxonomy.

    Args:
        path: The path from the root, which is not written: ``Sports/Basketball``.
        labels: Its name, by language.
        descriptions: Its description, by language.
        keywords: Words and phrases of its pages, by language.
        urls: Number of its own example pages.
        urls_below: Number of example pages of its whole subtree.
    """

    path: str
    labels: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    keywords: dict[str, list[str]] = field(default_factory=dict)
    urls: int = 0
    urls_below: int = 0


class UnknownNode(ConfigError):
    """A path that a taxonomy does not have."""

    def __init__(self, path: str, file: str, nearest: Iterable[str]) -> None:
        near = ", ".join(map(repr, nearest))
        hint = f"; nearest: {near}" if near else ""
        find = "thresher topics find WORDS" if file == BUNDLED_TITLE else f"thresher topics find {file} WORDS"
        super().__init__(f"no node {path!r} in {file}{hint}. Look for it: {find}")


class TaxonomyReader:
    """A taxonomy, open for reading.

    Args:
        db: A connection to complete tables.
        name: Its name in messages.
        indexed: Whether the words of its labels are indexed; if not, the first search does it.
    """

    def __init__(self, db: sqlite3.Connection, name: str, *, indexed: bool = True) -> None:
        self._db = db
        self._name = name
        self._indexed = indexed
        [(self._version,)] = db.execute("PRAGMA user_version")

    @property
    def name(self) -> str:
        return self._name

    @classmethod
    def bundled(cls) -> TaxonomyReader:
        """Open the taxonomy that ships with Thresher."""
        db = _in_memory(lambda writer: write_bundled(writer.db), words=False)
        return cls(db, BUNDLED_TITLE, indexed=False)

    @classmethod
    def open(cls, path: Path) -> TaxonomyReader:
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
        from thresher.topics.taxonomy.importing import TaxonomyFormat, open_source

        with open_source(path) as source:
            if source.kind is not TaxonomyFormat.YAML:
                made = f"thresher topics import {path} -o {path.name.partition('.')[0]}.taxonomy"
                raise ConfigError(f"{path} is {source.kind.value}, which must be imported first: {made}")
            from thresher.topics.taxonomy.yaml import read_yaml

            return cls(_in_memory(partial(read_yaml, source.file, path.name)), str(path))

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def size(self) -> tuple[int, int]:
        [(nodes, examples)] = self.rows("SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM example)")
        return nodes, examples

    def node(self, path: str) -> TaxonomyNode:
        """Return one node.

        Raises:
            UnknownNode: It does not exist; the message suggests the nearest ones.
        """
        wanted = clean_path(path)
        for number, *counts in self.rows("SELECT id, urls, urls_below FROM node WHERE path = ?", wanted):
            return self._node(number, wanted, *counts)
        raise UnknownNode(wanted or path, self._name, self.nearest(wanted))

    def children(self, path: str = "") -> list[TaxonomyNode]:
        """Return the nodes one level below, by path; those below the root by default."""
        parent = self.rows("SELECT id FROM node WHERE path = ?", clean_path(path))
        number = parent[0][0] if parent else 0
        found = self.rows("SELECT id, path, urls, urls_below FROM node WHERE parent = ? ORDER BY path", number)
        return [self._node(*row) for row in found]

    def find(self, words: str, *, limit: int = 20) -> list[tuple[TaxonomyNode, float]]:
        """Search nodes by words of labels and keywords, in any language; return them with scores, best first."""
        terms = json.dumps(list(dict.fromkeys(tokenize(words))), ensure_ascii=False)
        if terms == "[]":
            return []
        if not self._indexed:
            index_words(self._db)
            self._indexed = True
        return [(self.node(path), score) for path, score in self.rows(_find(), {"terms": terms, "limit": limit})]

    def nearest(self, path: str) -> list[str]:
        """Return suggestions for an unknown path: siblings of similar spelling, and nodes with the same words.

        In a small taxonomy, nodes of similar spelling anywhere come last.
        """
        above = parent_of(path)
        while above and not self.rows("SELECT 1 FROM node WHERE path = ?", above):
            above = parent_of(above)
        name = path.removeprefix(f"{above}/").partition("/")[0].casefold()
        beside = {node.path.rpartition("/")[2].casefold(): node.path for node in self.children(above)}
        alike = [beside[match] for match in get_close_matches(name, beside, n=_NEAREST)]
        worded = [node.path for node, _ in self.find(path.rpartition("/")[2].replace("_", " "), limit=_NEAREST)]
        return list(dict.fromkeys([*alike, *worded, *self._spelled_alike(path)]))

    def _spelled_alike(self, path: str) -> list[str]:
        if self.size()[0] > _FEW_NODES:
            return []
        named = {known.rpartition("/")[2].casefold(): known for (known,) in self.rows("SELECT path FROM node")}
        wanted = path.rpartition("/")[2].replace(" ", "_").casefold()
        return [named[match] for match in get_close_matches(wanted, named, n=_NEAREST, cutoff=0.75)]

    def labels(self, path: str) -> list[dict[str, str]]:
        """Return the labels of all levels by language, from the first below the root to the node itself."""
        self.node(path)
        return [self.node(level).labels for level in levels_of(clean_path(path))]

    def links(self, path: str, kind: str) -> list[str]:
        """Return the paths that a node is linked to, such as its ``alternate`` ones in other languages."""
        query = "SELECT target FROM link JOIN node ON node.id = link.node WHERE path = ? AND kind = ? ORDER BY target"
        return [target for (target,) in self.rows(query, clean_path(path), kind)]

    def with_counterparts(self, path: str, languages: Collection[str]) -> list[str]:
        """Return a node's path and those of its counterparts in the given languages."""
        wanted = clean_path(path)
        others = [other for other in self.links(wanted, "alternate") if path_language(other) in languages]
        return [wanted, *(other for other in others if self.rows("SELECT 1 FROM node WHERE path = ?", other))]

    def examples(self, path: str, *, below: bool = False) -> Iterator[TaxonomyExample]:
        """Yield the example pages of a node; with `below`, those of its subtree after its own."""
        columns = "example.url, example.title, example.description"
        wanted = clean_path(path)
        for found in self._ranges(columns, "CROSS JOIN example ON example.node = node.id", wanted, below=below):
            for url, title, description in found:
                yield TaxonomyExample(url=url, title=title, description=description)

    def description(self, path: str, *, languages: Collection[str] = ("en", "zh")) -> Iterator[str]:
        """Yield `Desc`: all descriptions and the texts of all example pages, of a subtree and its counterparts.

        It is used to judge pages in experiments, and never in a crawl.
        """
        self.node(path)
        label = "CROSS JOIN label ON label.node = node.id AND label.own = 1 AND label.description <> ''"
        for top in self.with_counterparts(path, languages):
            own = chain.from_iterable(self._ranges("label.language, label.description", label, top, below=True))
            yield from (text for language, text in own if language in languages)
            yield from filter(None, (example.text for example in self.examples(top, below=True)))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return list(self.stream(query, *values))

    def stream(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Run a query and yield its rows; a single mapping is used for named parameters."""
        with sqlite_errors(Path(self._name)):
            named = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
            yield from self._db.execute(query, named)

    def _ranges(self, columns: str, joined: str, path: str, *, below: bool) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Query a node, and then its subtree, which is one range of the paths."""
        query = f"SELECT {columns} FROM node {joined} WHERE node.path"  # noqa: S608 - no external text
        yield self.stream(f"{query} = ?", path)
        if below and path:
            yield self.stream(f"{query} > ? AND node.path < ?", f"{path}/", path + _AFTER_SLASH)
        elif below:
            yield self.stream(f"{query} > ''")

    def _node(self, number: int, path: str, urls: int, urls_below: int) -> TaxonomyNode:
        found = self.rows("SELECT language, label, description FROM label WHERE node = ? ORDER BY language", number)
        return TaxonomyNode(
            path=path,
            labels={language: label for language, label, _ in found if label},
            descriptions={language: description for language, _, description in found if description},
            keywords=self._keywords(number),
            urls=urls,
            urls_below=urls_below,
        )

    def _keywords(self, number: int) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        if self._version > 1:
            query = "SELECT language, keyword FROM keyword WHERE node = ? ORDER BY language, place"
            for language, keyword in self.rows(query, number):
                found.setdefault(language, []).append(keyword)
        return found


@cache
def _find() -> str:
    return (SQL / "taxonomy_find.sql").read_text(encoding="utf-8")


def _in_memory(write: Callable[[TaxonomyWriter], None], *, words: bool = True) -> sqlite3.Connection:
    writer = TaxonomyWriter()
    try:
        write(writer)
        writer.finish(words=words)
    except BaseException:
        writer.db.close()
        raise
    return writer.db


def _connect(path: Path) -> sqlite3.Connection:
    """Open a file of an untrusted source: read-only, and only when its schema is exactly the expected one."""
    with sqlite_errors(path):
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            [(application,)] = db.execute("PRAGMA application_id")
            [(version,)] = db.execute("PRAGMA user_version")
            if application != APPLICATION_ID or (version in _READABLE and _tables(db) != _our_tables(version)):
                raise StoreError(
                    f"{path} is not a taxonomy file; make one: thresher topics import FILE -o NAME.taxonomy"
                )
            if version not in _READABLE:
                raise StoreError(f"{path} is of version {version}, this Thresher reads {VERSION}; import it again")
        except BaseException:
            db.close()
            raise
    return db


def _tables(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()


@cache
def _our_tables(version: int) -> list[tuple[Any, ...]]:
    writer = TaxonomyWriter()
    writer.finish()
    tables = _tables(writer.db)
    writer.db.close()
    return tables if version == VERSION else [table for table in tables if table[2] != "keyword"]
