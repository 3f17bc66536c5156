"""Words for generated pages: lists per topic and language, written for Thresher, and sentences made from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

LANGUAGES = ("en", "zh")

TOPICS = {
    "Science/Astronomy": "astronomy",
    "Arts/Music": "music",
    "Life/Cooking": "cooking",
    "Science/Medicine": "medicine",
    "Sport/Football": "football",
    "Life/Gardening": "gardening",
    "Society/Finance": "finance",
    "Science/Archaeology": "archaeology",
    "Technology/Programming": "programming",
    "Sport/Sailing": "sailing",
    "Arts/Photography": "photography",
    "Technology/Railways": "railways",
}
"""The topics that pages can be about, as labels, and the names of their lists."""

GENERAL = "general"
"""The list of words of every topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The words of a list, each once, in the order of the list."""

    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]


@cache
def vocabulary(language: str, name: str) -> Vocabulary:
    """Read a list: a line per kind of word, continued on lines that begin with a blank."""
    text = resources.files(__package__).joinpath(language, f"{name}.txt").read_text(encoding="utf-8")
    kinds: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        head, colon, words = line.partition(": ")
        kind = kinds.setdefault(head, {}) if colon else kinds[list(kinds)[-1]]
        kind.update(dict.fromkeys((words if colon else line).split()))
    return Vocabulary(**{kind: tuple(words) for kind, words in kinds.items()})
