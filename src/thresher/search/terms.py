"""The indexed form of a text: the terms of `text.tokens`, separated by spaces.

Where words are not spaced, terms are pairs of characters, so a query of two characters finds every place where they
are adjacent. A query of one character finds the pairs that begin with it; for the last character of a run, which
begins none, the character itself is appended to the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from thresher.text.tokens import CJK, tokenize

_LAST_OF_RUN = re.compile(rf"[{CJK}](?![{CJK}])").findall
is_single = re.compile(rf"[{CJK}]").fullmatch
"""Whether a term is a single unspaced character."""


def indexed(text: str, terms: Sequence[str] | None = None) -> str:
    """Return the indexed form of a text; `terms` are its terms, if known."""
    if terms is None:
        terms = tokenize(text)
    ends = () if text.isascii() else dict.fromkeys(_LAST_OF_RUN(text))
    return " ".join([*terms, *ends])
