"""The topic-token table (TTMP of FCMRPS 3.5): labels of topics, and how each is written in URLs.

Thresher ships a table of its own, `tokens.tsv`; its head says how such a file is written. Users add to it by a file of
the same form, whose rows take the place of shipped rows with the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from thresher.errors import ConfigError
from thresher.topics.spellings import ALPHA, Kind, fold, full_pinyin, initials, is_chinese

COLUMNS = ("labels", "words", "abbreviations", "chinese", "pinyin", "initials")
_NONE = "-"


@dataclass(frozen=True, kw_only=True)
class TokenRow:
    """One topic of the table; every field is a set of spellings, in the order of the file.

    Args:
        labels: Names of the topic in English, the first one being the row's own.
        words: Further English words.
        abbreviations: Shortened English words.
        chinese: Names of the topic in Chinese.
        pinyin: The full pinyin of the Chinese names.
        initials: The first letters of their pinyin.
    """

    labels: tuple[str, ...]
    words: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()
    pinyin: tuple[str, ...] = ()
    initials: tuple[str, ...] = ()

    def spellings(self) -> dict[str, Kind]:
        """Give every spelling with its kind, the most trusted where it has two."""
        words = {*map(fold, self.labels), *self.words} - {*self.abbreviations}
        by_kind = {
            Kind.INITIALS: self.initials,
            Kind.ABBREVIATION: self.abbreviations,
            Kind.PINYIN: self.pinyin,
            Kind.WORD: (*sorted(words), *self.chinese),
        }
        return {spelling: kind for kind, spellings in by_kind.items() for spelling in spellings}


class TokenTable:
    """Knows how labels are written in URLs."""

    def __init__(self, rows: Iterable[TokenRow] = ()) -> None:
        self._rows = {row.labels[0]: row for row in rows}
        names = ((name, row) for row in self._rows.values() for name in (*row.labels, *row.chinese))
        self._by_name = {fold(name): row for name, row in names}
        self._known = {spelling for row in self._rows.values() for spelling in row.spellings()}

    @classmethod
    @cache
    def shipped(cls) -> TokenTable:
        """Give the table that comes with Thresher."""
        return cls.parse(resources.files(__package__).joinpath("tokens.tsv").read_text(encoding="utf-8"), "tokens.tsv")

    @classmethod
    def for_crawl(cls, folder: Path) -> TokenTable:
        """Give the shipped table with what the `tokens.tsv` in a crawl's folder adds, if there is one."""
        own = folder / "tokens.tsv"
        return cls.shipped() | cls.read(own) if own.exists() else cls.shipped()

    @classmethod
    def read(cls, path: Path) -> TokenTable:
        """Read a table from a file of the same form as the shipped one.

        Raises:
            ConfigError: The file is not written as its head must be; the message names file and line.
        """
        try:
            return cls.parse(path.read_text(encoding="utf-8-sig"), path.name)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path.name}: not UTF-8 text (byte {error.start})") from error

    @classmethod
    def parse(cls, text: str, name: str) -> TokenTable:
        """Read a table from its text; `name` is what complaints call it."""
        return cls(_rows(text, name))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TokenRow]:
        return iter(self._rows.values())

    def __or__(self, other: TokenTable) -> TokenTable:
        """Join two tables; a row of the other takes the place of one with the same first label."""
        return TokenTable((self._rows | other._rows).values())

    def __contains__(self, spelling: str) -> bool:
        """Whether some topic is written so."""
        return spelling in self._known

    def find(self, label: str) -> TokenRow | None:
        """Give the row of a label in English or Chinese."""
        return self._by_name.get(fold(label))

    def spellings(self, labels: Iterable[str]) -> dict[str, Kind]:
        """Give the spellings of a topic that has these labels, one per language as a rule.

        A label outside the table is written as itself and, if it is Chinese, in full pinyin.
        """
        found: dict[str, Kind] = {}
        for label in labels:
            row = self.find(label)
            for spelling, kind in (row.spellings() if row else _outside(label)).items():
                if spelling and ALPHA[kind] >= ALPHA[found.get(spelling, kind)]:
                    found[spelling] = kind
        return found


def _outside(label: str) -> Mapping[str, Kind]:
    pinyin = {full_pinyin(label): Kind.PINYIN} if is_chinese(label) else {}
    return {**pinyin, fold(label): Kind.WORD}


def _rows(text: str, name: str) -> Iterator[TokenRow]:
    """Read rows; lines that start with # are remarks, and the first other line must be the head."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    number, head = lines[0] if lines else (1, "")
    if tuple(head.split("\t")) != COLUMNS:
        raise ConfigError(f"{name}:{number}: the head must be {', '.join(COLUMNS)}, parted by tabs")
    taken: dict[str, int] = {}
    for number, line in lines[1:]:
        row = _row(line, f"{name}:{number}")
        for label in (*row.labels, *row.chinese):
            if (earlier := taken.setdefault(fold(label), number)) != number:
                raise ConfigError(f"{name}:{number}: {label!r} is a topic of line {earlier} already")
        yield row


def _row(line: str, place: str) -> TokenRow:
    cells = line.split("\t")
    if len(cells) > len(COLUMNS):
        raise ConfigError(f"{place}: {len(cells)} columns; there are {len(COLUMNS)}, parted by tabs")
    given = dict(zip(COLUMNS, map(_entries, cells), strict=False))
    if not given["labels"]:
        raise ConfigError(f"{place}: the first column must name the topic in English")
    chinese = given.get("chinese", ())
    for column, read in (("pinyin", full_pinyin), ("initials", initials)):
        if len(cells) <= COLUMNS.index(column) or not cells[COLUMNS.index(column)].strip():
            given[column] = _read_from(chinese, read)
    _check(given, place)
    return TokenRow(**given)


def _entries(cell: str) -> tuple[str, ...]:
    if cell.strip() == _NONE:
        return ()
    return tuple(dict.fromkeys(entry for entry in map(str.strip, cell.split(",")) if entry))


def _read_from(names: tuple[str, ...], read: Callable[[str], str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelling for spelling in map(read, names) if spelling))


def _check(given: Mapping[str, tuple[str, ...]], place: str) -> None:
    for column, entries in given.items():
        for entry in entries:
            if column not in ("labels", "chinese") and entry != fold(entry):
                raise ConfigError(f"{place}: {column}: {entry!r} must be written as in a URL: {fold(entry)!r}")
            if column == "chinese" and not is_chinese(entry):
                raise ConfigError(f"{place}: chinese: {entry!r} holds no Chinese character")
            if not fold(entry):
                raise ConfigError(f"{place}: {column}: {entry!r} holds no letter")
