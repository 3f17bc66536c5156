"""Search queries. Everything typed is a search term; the only syntax is double quotes, for a phrase.

Only terms of our own tokenizer reach the database, so there is no syntax to get wrong or to inject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thresher.search.terms import is_single
from thresher.text.tokens import tokenize

MAX_UNITS = 32
"""Words and phrases beyond this many are ignored."""
MAX_CHARACTERS = 2_000

_PHRASES = re.compile(r'["“”„＂「『]([^"“”„＂「」『』]*)["“”＂」』]')


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query.

    Args:
        units: Words, of one term each, and phrases, of several consecutive terms.
    """

    units: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, typed: str) -> SearchQuery:
        """Parse the input of a user; the query is empty when it has no terms."""
        typed = typed[:MAX_CHARACTERS]
        phrases = [tuple(tokenize(phrase)) for phrase in _PHRASES.findall(typed)]
        words = [(term,) for term in tokenize(_PHRASES.sub(" ", typed))]
        return cls(tuple(dict.fromkeys(filter(None, [*phrases, *words])))[:MAX_UNITS])

    def __bool__(self) -> bool:
        return bool(self.units)

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(term for unit in self.units for term in unit)

    @property
    def all_of(self) -> str:
        """The FTS5 expression for pages with all units."""
        return " AND ".join(map(_quoted, self.units))

    @property
    def any_of(self) -> str:
        """The FTS5 expression for pages with one of the words; if there are phrases, with all of these."""
        phrases = [_quoted(unit) for unit in self.units if len(unit) > 1]
        words = " OR ".join(_quoted(unit) for unit in self.units if len(unit) == 1)
        return " AND ".join(phrases) if phrases else words


def _quoted(unit: tuple[str, ...]) -> str:
    """Quote a unit for FTS5; a single unspaced character also matches all pairs that begin with it."""
    written = '"' + " ".join(unit).replace('"', '""') + '"'
    return f"{written} *" if len(unit) == 1 and is_single(unit[0]) else written
