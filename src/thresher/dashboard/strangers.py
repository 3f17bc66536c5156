"""Text and addresses of strangers, made fit for a screen: what cannot be seen is shown, what leads elsewhere is not.

Templates escape everything; this file is about what escaping leaves: characters that turn a line around or hide in it,
and addresses that a browser would run.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import quote, urlsplit

_JOINERS = "\u00ad\u200c\u200d"  # many scripts, and emoji, have need of these
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SPACE = "\t\n\r"


class _Shown(dict[int, str]):
    """How a character is shown; grows with the characters that are met."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN or character in _JOINERS or character in _SPACE:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode has a picture of each
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"


_SHOWN = _Shown()


def visible(text: str) -> str:
    """Show control, direction and other hidden characters by their pictures or numbers; keep line breaks."""
    return text if text.isprintable() else text.translate(_SHOWN)


def web_address(url: str) -> str | None:
    """Return an address that a person may open; None for anything but plain http and https."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
        return None
    return url


def escaped(text: str) -> str:
    """Write any text as a part of one of our own addresses."""
    return quote(text, safe="", errors="replace")
