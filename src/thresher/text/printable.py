"""Text of strangers made fit for a terminal or a log: nothing that they would obey, one line, reading forwards.

Titles, anchors and addresses come from pages that anybody may write. Escape sequences move cursors, change titles and
fill clipboards; direction marks let a line read as another; a line break forges the next line of a log.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

_LINE_BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_OBEYED = frozenset({"Cc", "Cs", "Zl", "Zp", "Cf"})
_JOINERS = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # of these formats many scripts, and emoji, have need


class _Shown(dict[int, str]):
    """How a character is shown; grows with the characters that are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character) not in _OBEYED or character in _JOINERS:
            shown = character
        else:
            shown = " " if character in _LINE_BREAKS else "\N{REPLACEMENT CHARACTER}"
        self[code] = shown
        return shown


_SHOWN = _Shown()
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")  # what JSON leaves as it is, DEL among it


def printable(text: str) -> str:
    """Take out what a terminal would obey or what turns text around: control and direction characters."""
    return text if text.isprintable() else text.translate(_SHOWN)


def printable_json(value: Any, *, indent: int | None = None) -> str:
    """Write a value as JSON in which every such character is escaped: safe to look at, and nothing is lost."""
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return written if written.isprintable() else _NOT_ASCII.sub(_escaped, written)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return character if _SHOWN[ord(character)] == character else json.dumps(character)[1:-1]
