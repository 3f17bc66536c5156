"""URL templates: the invariant part of URLs with numbers, hashes or dates.

Numbers become ``#``, hexadecimal names ``@``, dates ``date``; of a query only the keys count. URLs that differ in
nothing else are variants of one template, and most traps are templates with endless variants.
"""

from __future__ import annotations

import re
from functools import lru_cache

DATE = "date"
_VARYING = ("#", "@", DATE, "?")

_YEAR = r"(?:19|20|21)\d\d"
_DATE = re.compile(rf"(?<!\d){_YEAR}(?:[-/_.]?[01]?\d[-/_.]?[0-3]\d|[-/_.][01]?\d)(?!\d)")
# Words of hexadecimal digits, joined by dashes; without backtracking, so that the time is bounded.
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]++(?![0-9A-Za-z])(?:-++[0-9a-fA-F]++(?![0-9A-Za-z]))*+")
_MIN_HEX = 8
_NUMBER = re.compile(r"\d+")


@lru_cache(maxsize=4096)
def template(url: str) -> str:
    """Return the template of a canonical URL, without its host; empty when the URL has no variable part."""
    path, _, query = url.partition("?")
    pattern = _fold(path[path.index("/", len("https://")) :])
    if query:
        pattern = f"{pattern}?{'&'.join(sorted(set(map(_fold_pair, query.split('&')))))}"
    return pattern if any(mark in pattern for mark in _VARYING) else ""


def is_dated(pattern: str) -> bool:
    """Return whether a template contains a date, as in a calendar."""
    return DATE in pattern


def _fold(text: str) -> str:
    text = _HEX.sub(_fold_hex, _DATE.sub(DATE, text))
    return _NUMBER.sub("#", text)


def _fold_hex(match: re.Match[str]) -> str:
    """Replace a hash, but no number and no word such as ``cafe-bade``: a hash has digits and letters."""
    word, digits = match[0], match[0].replace("-", "")
    return "@" if len(word) >= _MIN_HEX and not digits.isdecimal() and not digits.isalpha() else word


def _fold_pair(piece: str) -> str:
    key, _, value = piece.partition("=")
    return f"{_NUMBER.sub('#', key)}={DATE}" if _DATE.fullmatch(value) else _NUMBER.sub("#", key)
