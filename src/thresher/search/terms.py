"""What stands in the index for a text: the terms of `text.tokens`, parted by blanks.

Where words are not spaced these are pairs of characters, so a query of two characters finds every place where they
stand together. A query of one character finds the pairs that begin with it; for the last character of a run, which
begins none, the character itself is added behind the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from thresher.text.tokens import CJK, tokenize

_LAST_OF_RUN = re.compile(rf"[{CJK}](?![{CJK}])").findall
is_single = re.compile(rf"[{CJK}]").fullmatch
"""Tells whether a term is a lone unspaced character."""


def indexed(text: str, terms: Sequence[str] | None = None) -> str:
    """Write a text as the index holds it; `terms` when they are at hand."""
    if terms is None:
        terms = tokenize(text)
    ends = () if text.isascii() else dict.fromkeys(_LAST_OF_RUN(text))
    return " ".join([*terms, *ends])
