"""The topic-token table (TTMP of FCMRPS 3.5): labels of topics, and how each is spelled in URLs.

Spellings are English words, abbreviations, pinyin and initials. Thresher ships a table, `tokens.tsv`; its head
describes the format. Users extend it by a file of the same format, whose rows replace shipped rows with the same name.

pypinyin and its dictionary take 0.2 s and some 60 MB, so it is imported only for a Chinese label outside the table.

Frequent tokens of URLs that are mapped to no topic are candidates for the table, after FCMRPS 3.5. They are counted in
bounded memory after Misra and Gries: when there are too many, the same number is subtracted from every count, and
counts of 0 or less are dropped. A count is then too low by at most that number, which is never more than the number of
tokens seen divided by the capacity, and 0 as long as all of them fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path

from thresher.errors import ConfigError
from thresher.text.tokens import CJK
from thresher.urls.tokens import url_blocks

_NOT_WRITTEN = re.compile(r"[\W_]+")
_CHINESE = re.compile(f"[{CJK}]").search


class SpellingKind(StrEnum):
    """The kinds of spellings, in the order of the paper's columns."""

    WORD = "word"
    ABBREVIATION = "abbreviation"
    PINYIN = "pinyin"
    INITIALS = "initials"


ALPHA = {SpellingKind.WORD: 1.0, SpellingKind.ABBREVIATION: 0.5, SpellingKind.PINYIN: 1.0, SpellingKind.INITIALS: 0.2}
"""The weight of a match of each kind; the values are the paper's."""


def fold(label: str) -> str:
    """Write a label as in URLs: in lower case, without blanks and punctuation."""
    return _NOT_WRITTEN.sub("", label.lower())


def is_chinese(label: str) -> bool:
    """Return whether a label contains any Chinese character."""
    return _CHINESE(label) is not None


def full_pinyin(label: str) -> str:
    """Return the pinyin of a label without tones; ü is written v, as it is typed."""
    return "".join(_syllables(label))


def initials(label: str) -> str:
    """Return the first letters of the pinyin of each character; empty for a single letter."""
    letters = "".join(syllable[0] for syllable in _syllables(label))
    return letters if len(letters) > 1 else ""


def _syllables(label: str) -> list[str]:
    from pypinyin import lazy_pinyin

    return [syllable for syllable in map(fold, lazy_pinyin(label)) if syllable]


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

    def spellings(self) -> dict[str, SpellingKind]:
        """Return every spelling with its kind, the one with the highest weight where it has two."""
        words = {*map(fold, self.labels), *self.words} - {*self.abbreviations}
        by_kind = {
            SpellingKind.INITIALS: self.initials,
            SpellingKind.ABBREVIATION: self.abbreviations,
            SpellingKind.PINYIN: self.pinyin,
            SpellingKind.WORD: (*sorted(words), *self.chinese),
        }
        return {spelling: kind for kind, spellings in by_kind.items() for spelling in spellings}


class TokenTable:
    """The spellings of labels in URLs."""

    def __init__(self, rows: Iterable[TokenRow] = ()) -> None:
        self._rows = {row.labels[0]: row for row in rows}
        names = ((name, row) for row in self._rows.values() for name in (*row.labels, *row.chinese))
        self._by_name = {fold(name): row for name, row in names}
        self._known = {spelling for row in self._rows.values() for spelling in row.spellings()}

    @classmethod
    @cache
    def shipped(cls) -> TokenTable:
        return cls.parse(resources.files(__package__).joinpath("tokens.tsv").read_text(encoding="utf-8"), "tokens.tsv")

    @classmethod
    def for_crawl(cls, folder: Path) -> TokenTable:
        """Return the shipped table, extended by the `tokens.tsv` in a crawl's folder, if there is one."""
        own = folder / "tokens.tsv"
        return cls.shipped() | cls.read(own) if own.exists() else cls.shipped()

    @classmethod
    def read(cls, path: Path) -> TokenTable:
        """Read a table from a file of the same format as the shipped one.

        Raises:
            ConfigError: The format is wrong; the message names file and line.
        """
        try:
            return cls.parse(path.read_text(encoding="utf-8-sig"), path.name)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path.name}: not UTF-8 text (byte {error.start})") from error

    @classmethod
    def parse(cls, text: str, name: str) -> TokenTable:
        """Parse a table; `name` is its name in error messages."""
        return cls(_rows(text, name))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TokenRow]:
        return iter(self._rows.values())

    def __or__(self, other: TokenTable) -> TokenTable:
        """Merge two tables; a row of the other one replaces one with the same first label."""
        return TokenTable((self._rows | other._rows).values())

    def __contains__(self, spelling: str) -> bool:
        """Return whether some topic has this spelling."""
        return spelling in self._known

    def find(self, label: str) -> TokenRow | None:
        """Return the row of a label in English or Chinese."""
        return self._by_name.get(fold(label))

    def spellings(self, labels: Iterable[str]) -> dict[str, SpellingKind]:
        """Return the spellings of a topic with these labels, usually one per language.

        A label outside the table is spelled as itself and, if it is Chinese, in full pinyin.
        """
        found: dict[str, SpellingKind] = {}
        for label in labels:
            row = self.find(label)
            for spelling, kind in (row.spellings() if row else _outside(label)).items():
                if spelling and ALPHA[kind] >= ALPHA[found.get(spelling, kind)]:
                    found[spelling] = kind
        return found


def _outside(label: str) -> Mapping[str, SpellingKind]:
    pinyin = {full_pinyin(label): SpellingKind.PINYIN} if is_chinese(label) else {}
    return {**pinyin, fold(label): SpellingKind.WORD}


def _rows(text: str, name: str) -> Iterator[TokenRow]:
    """Parse rows; lines that start with # are comments, and the first other line must be the header."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and line[0] != "#"]
    number, head = lines[0] if lines else (1, "")
    if tuple(head.split("\t")) != COLUMNS:
        raise ConfigError(f"{name}:{number}: the header must be {', '.join(COLUMNS)}, separated by tabs")
    line_of: dict[str, int] = {}
    for number, line in lines[1:]:
        row = _row(line, f"{name}:{number}")
        for label in (*row.labels, *row.chinese):
            if (earlier := line_of.setdefault(fold(label), number)) != number:
                raise ConfigError(f"{name}:{number}: {label!r} is a topic of line {earlier} already")
        yield row


def _row(line: str, place: str) -> TokenRow:
    cells = line.split("\t")
    if len(cells) > len(COLUMNS):
        raise ConfigError(f"{place}: {len(cells)} columns; expected at most {len(COLUMNS)}, separated by tabs")
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
                raise ConfigError(f"{place}: chinese: {entry!r} contains no Chinese character")
            if not fold(entry):
                raise ConfigError(f"{place}: {column}: {entry!r} contains no letter")


MIN_COUNT = 500
"""A frequent token occurs more often than this; the value is the paper's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmappedToken:
    """A token that is not in the table.

    Args:
        token: The token as in URLs.
        count: A lower bound of its count.
        example: One of the URLs that contain it.
        holds: Spellings of the table inside it, so that it counts for their topics already; those of three letters
            or fewer are left out, since they occur in words of all kinds.
    """

    token: str
    count: int
    example: str
    holds: tuple[str, ...] = ()


class TokenCounter:
    """A counter of the tokens of URLs, in bounded memory: at most twice `capacity` of them.

    Args:
        least: A frequent token occurs more often than this.
        capacity: How many tokens remain when the least frequent ones are dropped.
    """

    def __init__(self, *, least: int = MIN_COUNT, capacity: int = 200_000) -> None:
        self.least = least
        self.error = 0
        self.urls = 0
        self._capacity = capacity
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}

    def add(self, url: str) -> None:
        """Count the tokens of a URL, each once."""
        self.urls += 1
        counts = self._counts
        for token in {token for block in url_blocks(url) for token in block}:
            count = counts[token] = counts.get(token, 0) + 1
            if count + self.error > self.least and token not in self._examples:
                self._examples[token] = url
        if len(counts) > 2 * self._capacity:
            self._make_room()

    def _make_room(self) -> None:
        subtracted = sorted(self._counts.values(), reverse=True)[self._capacity]
        self.error += subtracted
        self._counts = {token: count - subtracted for token, count in self._counts.items() if count > subtracted}
        self._examples = {token: url for token, url in self._examples.items() if token in self._counts}

    def frequent(self) -> list[tuple[str, int]]:
        """Return the frequent tokens with lower bounds of their counts, most frequent first.

        No token with more than `least` occurrences is missing; some with up to `error` fewer may be included.
        """
        kept = [(token, count) for token, count in self._counts.items() if count + self.error > self.least]
        return sorted(kept, key=lambda item: (-item[1], item[0]))

    def example(self, token: str) -> str:
        return self._examples.get(token, "")


def unmapped(counter: TokenCounter, table: TokenTable, *, labels: Iterable[str] = ()) -> list[UnmappedToken]:
    """Return the frequent tokens that are neither in the table nor spellings of the labels, most frequent first."""
    own = table.spellings(labels)
    long = [spelling for spelling in {*own, *_spellings(table)} if len(spelling) > 3 or not spelling.isascii()]
    found = []
    for token, count in counter.frequent():
        if token not in table and token not in own:
            holds = tuple(sorted((s for s in long if s in token), key=lambda s: (-len(s), s)))
            found.append(UnmappedToken(token=token, count=count, example=counter.example(token), holds=holds))
    return found


def _spellings(table: TokenTable) -> set[str]:
    return {spelling for row in table for spelling in row.spellings()}
