"""How a label can be written in a URL, after FCMRPS 3.5: in English, shortened, in pinyin, by first letters.

pypinyin and its dictionary take 0.2 s and some 60 MB, so it is imported only when a Chinese label is met that the
token table does not know.
"""

from __future__ import annotations

import re
from enum import StrEnum

from thresher.text.tokens import CJK

_NOT_WRITTEN = re.compile(r"[\W_]+")
_CHINESE = re.compile(f"[{CJK}]").search


class Kind(StrEnum):
    """The four kinds of spellings, in the order of the paper's columns."""

    WORD = "word"
    ABBREVIATION = "abbreviation"
    PINYIN = "pinyin"
    INITIALS = "initials"


ALPHA = {Kind.WORD: 1.0, Kind.ABBREVIATION: 0.5, Kind.PINYIN: 1.0, Kind.INITIALS: 0.2}
"""How far a match of each kind is trusted; the values are the paper's."""


def fold(label: str) -> str:
    """Write a label as URLs do: in lower case, without blanks and signs."""
    return _NOT_WRITTEN.sub("", label.lower())


def is_chinese(label: str) -> bool:
    """Whether a label holds any Chinese character."""
    return _CHINESE(label) is not None


def full_pinyin(label: str) -> str:
    """Give the pinyin of a label without tones; ü is written v, as it is typed."""
    return "".join(_syllables(label))


def initials(label: str) -> str:
    """Give the first letters of the pinyin of each character; a single letter says nothing and is left out."""
    letters = "".join(syllable[0] for syllable in _syllables(label))
    return letters if len(letters) > 1 else ""


def _syllables(label: str) -> list[str]:
    from pypinyin import lazy_pinyin

    return [syllable for syllable in map(fold, lazy_pinyin(label)) if syllable]
