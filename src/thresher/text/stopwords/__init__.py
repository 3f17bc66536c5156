"""Stop words, one list per language."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of ``en``, or the function characters of ``zh``."""
    text = resources.files(__package__).joinpath(f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
