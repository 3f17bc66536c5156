"""What a user asks for. Everything typed is a word to look for; only double quotes mean something: a phrase.

Nothing reaches the database but terms of our own making, so there is no syntax to get wrong or to abuse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thresher.search.terms import is_single
from thresher.text.tokens import tokenize

MOST_UNITS = 32
"""Words and phrases beyond this many are not looked for."""
MOST_CHARACTERS = 2_000

_PHRASES = re.compile(r'["“”„＂「『]([^"“”„＂「」『』]*)["“”＂」』]')


@dataclass(frozen=True, slots=True)
class Query:
    """A question.

    Args:
        units: Words, of one term each, and phrases, of several that must follow each other.
    """

    units: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, typed: str) -> Query:
        """Read what a user typed; empty when there is nothing in it to look for."""
        typed = typed[:MOST_CHARACTERS]
        phrases = [tuple(tokenize(phrase)) for phrase in _PHRASES.findall(typed)]
        words = [(term,) for term in tokenize(_PHRASES.sub(" ", typed))]
        return cls(tuple(dict.fromkeys(filter(None, [*phrases, *words])))[:MOST_UNITS])

    def __bool__(self) -> bool:
        return bool(self.units)

    @property
    def terms(self) -> frozenset[str]:
        """Every term that is looked for."""
        return frozenset(term for unit in self.units for term in unit)

    @property
    def all_of(self) -> str:
        """The question to the full-text table for pages that hold all units."""
        return " AND ".join(map(_quoted, self.units))

    @property
    def any_of(self) -> str:
        """The same for pages that hold one of the words, and every phrase: who quotes means it."""
        phrases = [_quoted(unit) for unit in self.units if len(unit) > 1]
        words = " OR ".join(_quoted(unit) for unit in self.units if len(unit) == 1)
        return " AND ".join(phrases) if phrases else words


def _quoted(unit: tuple[str, ...]) -> str:
    """Write a unit so that the database reads it as data; a lone character also stands for all pairs it begins."""
    written = '"' + " ".join(unit).replace('"', '""') + '"'
    return f"{written} *" if len(unit) == 1 and is_single(unit[0]) else written
