"""Text and URLs of untrusted sources, made safe to display.

Templates escape HTML; this module handles what escaping leaves: invisible and bidirectional control characters, and
URLs that a browser would execute.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import quote, urlsplit

_JOINERS = "\u00ad\u200c\u200d"  # needed by many scripts and by emoji
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SPACE = "\t\n\r"


class _Shown(dict[int, str]):
    """Visible form of each character, filled on demand."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(chr(code))
        return shown


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN or character in _JOINERS or character in _SPACE:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # Unicode control pictures
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"


_SHOWN = _Shown()


def visible(text: str) -> str:
    """Replace control, bidirectional and other invisible characters by visible forms; keep line breaks."""
    return text if text.isprintable() else text.translate(_SHOWN)


def web_address(url: str) -> str | None:
    """Return a URL that may be linked; None for anything but http and https."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
        return None
    return url


def escaped(text: str) -> str:
    """Percent-encode text for a URL of the dashboard."""
    return quote(text, safe="", errors="replace")
