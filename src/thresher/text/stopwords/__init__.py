"""Stop words: lists of our own for English and Chinese, and a table of those of other languages."""

from __future__ import annotations

from functools import cache
from importlib import resources

TABLE = resources.files(__package__).joinpath("others.txt")
"""The stop words of the other languages; its head states source and licence."""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, or the function characters of ``zh``; none where there is no list."""
    if language not in ("en", "zh"):
        return _table().get(language, frozenset())
    text = resources.files(__package__).joinpath(f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@cache
def _table() -> dict[str, frozenset[str]]:
    lines = (line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {code: frozenset(words) for code, *words in lines}
