"""Fish's own judge, a binary match of the topic's words or of a pattern: SURVEY, section 2.1."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from thresher.errors import ConfigError
from thresher.judges.base import MAX_WORDS
from thresher.records import Judgement, ParsedPage, TermWeight
from thresher.text.tokens import count
from thresher.text.vectors import Vector
from thresher.topics.profile import TopicProfile

MAX_CHARACTERS = 200_000
"""Characters of a page that a pattern is matched against: this bounds the time for a hostile page."""


class MatchJudge:
    """Judge a page by whether it holds all words of the topic, or matches a pattern.

    Args:
        topic_profile: The topic; a match of one of its vectors is enough.
        least: The share of a vector's words that a page must contain.
        pattern: A regular expression to match in place of the words; case-insensitive.
    """

    def __init__(self, topic_profile: TopicProfile, *, least: float = 1.0, pattern: str = "") -> None:
        if not 0 < least <= 1:
            raise ConfigError(f"judge match: least must lie above 0 and be at most 1, got {least}")
        self._vectors = topic_profile.vectors
        self._least = least
        self._pattern = _compile(pattern) if pattern else None

    def judge(self, page: ParsedPage) -> Judgement:
        breakdown = {"pattern": float(bool(self._found(page)))} if self._pattern else self._shares(page)
        least = 1.0 if self._pattern else self._least
        relevant = any(share >= least for share in breakdown.values())
        return Judgement(relevance=float(relevant), relevant=relevant, breakdown=breakdown)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        """Return the words that were found; no weight is negative."""
        if self._pattern:
            return [TermWeight(term=found, weight=1.0) for found in self._found(page)]
        counts = count(page.text, page.language)
        weights: dict[str, float] = {}
        for vector in self._vectors.values():
            weights |= {term: max(weight, weights.get(term, 0.0)) for term, weight in vector.items() if term in counts}
        words = [TermWeight(term=term, weight=weight) for term, weight in weights.items()]
        return sorted(words, key=lambda word: -word.weight)[:MAX_WORDS]

    def _shares(self, page: ParsedPage) -> dict[str, float]:
        counts = count(page.text, page.language)
        return {f"words {name}": _share(vector, counts) for name, vector in self._vectors.items() if vector}

    def _found(self, page: ParsedPage) -> list[str]:
        assert self._pattern is not None
        text = f"{page.title}\n{page.text}"[:MAX_CHARACTERS]
        found: dict[str, None] = {}
        for match in self._pattern.finditer(text):
            found[match[0].lower()] = None
            if len(found) == MAX_WORDS:
                break
        return list(found)


def _share(vector: Vector, counts: Mapping[str, int]) -> float:
    return sum(term in counts for term in vector) / len(vector)


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ConfigError(f"judge match: pattern {pattern!r} is no regular expression: {error}") from error
