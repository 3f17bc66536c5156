"""Does an anchor lead to the topic? Naive Bayes over anchors whose targets are known: SURVEY, section 2.6.

Examples wait until the next training; until then every anchor is scored by the same model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import exp, log
from typing import Any

from thresher.text.tokens import count

MOST_TERMS = 50_000
"""Terms that are remembered; the rarest are forgotten first."""
MOST_ANCHORS = 1 << 15
"""Anchors whose scores are remembered until the next training."""
_LARGEST = 30.0
"""Log-odds beyond this are as good as certain, and their exponential stays finite."""


class AnchorClassifier:
    """Gives the probability that the page behind an anchor is relevant.

    Args:
        alpha: Smoothing: how often every term counts as seen in each class before the first example.
        fewest: Examples of each class without which nothing is learned.
    """

    def __init__(self, *, alpha: float = 1.0, fewest: int = 1) -> None:
        self._alpha = alpha
        self._fewest = fewest
        self._examples = {True: 0, False: 0}
        self._terms: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._prior = 0.0
        self._log_odds: dict[str, float] = {}
        self._remembered: dict[str, float | None] = {}
        self.is_trained = False

    def add(self, anchor: str, relevant: bool) -> None:
        """Take in an example; it counts from the next training on."""
        self._examples[relevant] += 1
        self._terms[relevant].update(count(anchor))

    def train(self) -> bool:
        """Learn from all examples; return False while there are too few of one class."""
        if min(self._examples.values()) < self._fewest:
            return False
        self._forget_rare_terms()
        on, off, alpha = self._terms[True], self._terms[False], self._alpha
        V = on.keys() | off.keys()
        all_on, all_off = on.total() + alpha * len(V), off.total() + alpha * len(V)
        self._log_odds = {t: log((on[t] + alpha) / all_on) - log((off[t] + alpha) / all_off) for t in V}
        self._prior = log(self._examples[True] / self._examples[False])
        self._remembered.clear()
        self.is_trained = True
        return True

    def score(self, anchor: str) -> float | None:
        """Give the probability that an anchor leads to a relevant page; None without words or training."""
        if not self.is_trained:
            return None
        if anchor not in self._remembered:
            if len(self._remembered) >= MOST_ANCHORS:
                self._remembered.clear()
            self._remembered[anchor] = self._score(anchor)
        return self._remembered[anchor]

    def state(self) -> dict[str, Any]:
        """Return all examples as plain values that JSON can hold."""
        relevant, irrelevant = self._terms[True], self._terms[False]
        terms = {term: [relevant[term], irrelevant[term]] for term in relevant.keys() | irrelevant.keys()}
        return {"examples": [self._examples[True], self._examples[False]], "terms": terms}

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Take up the examples that `state` returned, and train on them."""
        self._examples = dict(zip((True, False), state["examples"], strict=True))
        for place, relevant in enumerate((True, False)):
            self._terms[relevant] = Counter(
                {term: counts[place] for term, counts in state["terms"].items() if counts[place]}
            )
        self.train()

    def _score(self, anchor: str) -> float | None:
        counts = count(anchor)
        if not counts:
            return None
        log_odds = self._prior + sum(tf * self._log_odds.get(term, 0.0) for term, tf in counts.items())
        return 1.0 / (1.0 + exp(-max(-_LARGEST, min(_LARGEST, log_odds))))

    def _forget_rare_terms(self) -> None:
        both = self._terms[True] + self._terms[False]
        for term, _ in both.most_common()[MOST_TERMS:]:
            self._terms[True].pop(term, None)
            self._terms[False].pop(term, None)
