"""A naive Bayes classifier of anchors, trained on anchors whose targets are known: SURVEY, section 2.6.

New examples count from the next training on; until then every anchor is scored by the same model. The counts of other
workers' examples are added to the own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any

from thresher.text.tokens import count

MAX_TERMS = 50_000
"""Terms that are remembered; the rarest are dropped first."""
MAX_ANCHORS = 1 << 15
"""Anchors whose scores are cached until the next training."""
_LARGEST = 30.0
"""Log-odds are clipped to this, so that their exponential stays finite."""


@dataclass(frozen=True, slots=True)
class AnchorCounts:
    """Examples of each class, and the terms of their anchors."""

    examples: Mapping[bool, int]
    terms: Mapping[bool, Counter[str]]

    @classmethod
    def read(cls, state: Mapping[str, Any]) -> AnchorCounts:
        """Decode the result of `AnchorClassifier.state`.

        Raises:
            ValueError: It is invalid.
        """
        examples = [int(number) for number in state["examples"]]
        terms = {str(term): [int(number) for number in counts] for term, counts in state["terms"].items()}
        if min(*examples, *(number for counts in terms.values() for number in counts)) < 0:
            raise ValueError("a count is below 0")
        of_class = {
            relevant: Counter({term: counts[place] for term, counts in terms.items() if counts[place]})
            for place, relevant in enumerate((True, False))
        }
        return cls(dict(zip((True, False), examples, strict=True)), of_class)

    def bounded(self, most: int) -> AnchorCounts:
        """Keep the most frequent terms."""
        both = self.terms[True] + self.terms[False]
        if len(both) <= most:
            return self
        kept = {term for term, _ in both.most_common(most)}
        return AnchorCounts(
            self.examples,
            {
                relevant: Counter({t: n for t, n in found.items() if t in kept})
                for relevant, found in self.terms.items()
            },
        )


class AnchorClassifier:
    """Predicts the probability that the target of an anchor is relevant.

    Args:
        alpha: Additive smoothing: the count of every term in each class before the first example.
        fewest: Examples of each class that training needs.
    """

    def __init__(self, *, alpha: float = 1.0, fewest: int = 1) -> None:
        self._alpha = alpha
        self._fewest = fewest
        self._examples = {True: 0, False: 0}
        self._terms: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._others: dict[str, AnchorCounts] = {}
        self._prior = 0.0
        self._log_odds: dict[str, float] = {}
        self._cache: dict[str, float | None] = {}
        self.is_trained = False

    def add(self, anchor: str, relevant: bool) -> None:
        """Add an example; it counts from the next training on."""
        self._examples[relevant] += 1
        self._terms[relevant].update(count(anchor))

    @property
    def examples(self) -> int:
        """Number of examples, those of other workers included."""
        return sum(sum(counts.examples.values()) for counts in self._all_counts())

    def train(self) -> bool:
        """Train on all examples; return False while there are too few of one class."""
        all_counts = self._all_counts()
        of_class = {relevant: sum(each.examples[relevant] for each in all_counts) for relevant in (True, False)}
        if min(of_class.values()) < self._fewest:
            return False
        self._drop_rare_terms()
        on, off = (_sum(each.terms[relevant] for each in self._all_counts()) for relevant in (True, False))
        V, alpha = on.keys() | off.keys(), self._alpha
        all_on, all_off = on.total() + alpha * len(V), off.total() + alpha * len(V)
        self._log_odds = {t: log((on[t] + alpha) / all_on) - log((off[t] + alpha) / all_off) for t in V}
        self._prior = log(of_class[True] / of_class[False])
        self._cache.clear()
        self.is_trained = True
        return True

    def score(self, anchor: str) -> float | None:
        """Return the probability that an anchor leads to a relevant page; None without words or training."""
        if not self.is_trained:
            return None
        if anchor not in self._cache:
            if len(self._cache) >= MAX_ANCHORS:
                self._cache.clear()
            self._cache[anchor] = self._score(anchor)
        return self._cache[anchor]

    def state(self, most_terms: int = MAX_TERMS) -> dict[str, Any]:
        """Return this worker's own examples as plain values that JSON can hold."""
        own = AnchorCounts(self._examples, self._terms).bounded(most_terms).terms
        terms = {term: [own[True][term], own[False][term]] for term in own[True].keys() | own[False].keys()}
        return {"examples": [self._examples[True], self._examples[False]], "terms": terms}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the examples that `state` returned, and train on them."""
        own = AnchorCounts.read(state)
        self._examples, self._terms = dict(own.examples), dict(own.terms)
        self.train()

    def merge(self, worker: str, state: Mapping[str, Any]) -> None:
        """Replace the examples of another worker; they count from the next training on.

        Raises:
            ValueError: They are invalid.
        """
        self._others[worker] = AnchorCounts.read(state)
        each = MAX_TERMS // len(self._others)
        self._others = {name: counts.bounded(each) for name, counts in self._others.items()}

    def _all_counts(self) -> list[AnchorCounts]:
        return [AnchorCounts(self._examples, self._terms), *self._others.values()]

    def _score(self, anchor: str) -> float | None:
        counts = count(anchor)
        if not counts:
            return None
        log_odds = self._prior + sum(tf * self._log_odds.get(term, 0.0) for term, tf in counts.items())
        return 1.0 / (1.0 + exp(-max(-_LARGEST, min(_LARGEST, log_odds))))

    def _drop_rare_terms(self) -> None:
        both = self._terms[True] + self._terms[False]
        for term, _ in both.most_common()[MAX_TERMS:]:
            self._terms[True].pop(term, None)
            self._terms[False].pop(term, None)


def _sum(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total
