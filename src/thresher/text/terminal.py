"""Text for terminals and logs: its width; no control characters, one line, no reversed direction.

Titles, anchors and URLs come from pages that anybody may write. Escape sequences move cursors, change titles and fill
clipboards; direction marks make a line read as another; a line break forges the next line of a log.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

_LINE_BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_OBEYED = frozenset({"Cc", "Cs", "Zl", "Zp", "Cf"})
_JOINERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # format characters that many scripts and emoji need


class _Shown(dict[int, str]):
    """A translation table that is filled on demand."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character) not in _OBEYED or character in _JOINERS:
            shown = character
        else:
            shown = " " if character in _LINE_BREAKS else "\N{REPLACEMENT CHARACTER}"
        self[code] = shown
        return shown


_SHOWN = _Shown()
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")  # not escaped by JSON, DEL included


def columns(text: str) -> int:
    """Return the number of columns of a text in a terminal."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def printable(text: str) -> str:
    """Replace control and direction characters."""
    return text if text.isprintable() else text.translate(_SHOWN)


def printable_json(value: Any, *, indent: int | None = None) -> str:
    """Write a value as JSON in which every such character is escaped: safe to print, and lossless."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return written if written.isprintable() else _NOT_ASCII.sub(_escaped, written)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return character if _SHOWN[ord(character)] == character else json.dumps(character)[1:-1]
