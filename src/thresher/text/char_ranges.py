"""Ranges of characters: scripts that are split into bigrams, and characters that are normalized."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]
"""Code points, from the first to the last."""

UNSPACED: tuple[Range, ...] = (
    (0x3005, 0x3005), (0x3007, 0x3007), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x30FC, 0x30FC), (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
"""Han of all extensions, and kana."""
UNSPACED_IN: dict[str, tuple[Range, ...]] = {
    "ko": ((0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3)),  # words are spaced, but end in particles
    "th": ((0x0E01, 0x0E3A), (0x0E40, 0x0E4E)),  # with vowel signs
}
"""Ranges that are split into bigrams in texts of one language; names in other texts are words."""
FOLDED: tuple[Range, ...] = (
    (0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A),  # full-width digits and letters
    (0xFF66, 0xFF9F), (0xFB00, 0xFB06), (0xF900, 0xFAFF),  # half-width kana, ligatures, compatibility Han
)  # fmt: skip
ACCENTS: tuple[Range, ...] = ((0x0300, 0x036F),)
"""Combining accents; they are normalized with the letters before them."""


def inside(ranges: Iterable[Range]) -> str:
    """Return ranges as a regular expression's character class without brackets."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
