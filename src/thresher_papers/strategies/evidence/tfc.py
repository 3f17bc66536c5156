"""TFC weights of terms, learned while crawling: LPE, equations 12 and 13.

A unit is a block, an anchor or a link context. The document frequencies of terms among units are not known before the
crawl, so every page is counted before its links are scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

from thresher.text.vectors import Vector, norm

TOPIC_TERMS = 8
"""Terms of a topic vector: with more, no anchor of a few words could reach a cosine of one half."""
MAX_TERMS = 100_000
"""Terms that one table remembers; beyond it the rarest are dropped."""


def heaviest(vectors: Iterable[Vector], most: int = TOPIC_TERMS) -> list[Vector]:
    """Reduce topic vectors to their heaviest terms; of equal ones the first."""
    return [dict(sorted(vector.items(), key=lambda item: -item[1])[:most]) for vector in vectors]


class UnitTable:
    """The number of units, and of those with each term; other workers' counts are added.

    Args:
        units: The first units: the topic's own terms.
    """

    def __init__(self, units: Iterable[Mapping[str, float]] = ()) -> None:
        self._N = 0
        self._n: Counter[str] = Counter()
        self._others: dict[str, tuple[int, Counter[str]]] = {}
        self._others_N = 0
        self._others_n: Counter[str] = Counter()
        self.add(units)

    def add(self, units: Iterable[Mapping[str, float]]) -> None:
        """Count units, each term once per unit."""
        for unit in units:
            self._N += 1
            self._n.update(unit.keys())
        if len(self._n) > MAX_TERMS:
            self._n = Counter(dict(self._n.most_common(MAX_TERMS // 2)))

    @property
    def units(self) -> int:
        """Number of units, those of other workers included."""
        return self._N + self._others_N

    def shares(self) -> dict[str, float]:
        """Return for each term the share of units that contain it."""
        both = self._n + self._others_n
        return {term: number / self.units for term, number in both.items()}

    def weigh(self, f: Mapping[str, float]) -> dict[str, float]:
        """Weigh the terms of a unit: ``f · ln((N + 1) / (n_t + 0.5))``; the length is left to the cosine.

        The paper's ``log(N / n_t)`` would be 0 for all terms of the first unit.
        """
        n, others = self._n, self._others_n
        log_N = log(max(1, self._N + self._others_N) + 1)
        return {t: f_t * (log_N - log((n[t] + others[t] or 1) + 0.5)) for t, f_t in f.items()}

    def similarity(self, u: Mapping[str, float], topics: Sequence[Vector]) -> float:
        """Return Sim(u, v): the cosine of a unit and the topic, both weighted; of several vectors the greatest."""
        matching = [topic for topic in topics if not topic.keys().isdisjoint(u)]
        if not matching:  # most units have no word of the topic and need not be weighted
            return 0.0
        w_u = self.weigh(u)
        return max(_cosine(w_u, self.weigh(topic)) for topic in matching)

    def state(self, most_terms: int = MAX_TERMS) -> dict[str, Any]:
        """Return this worker's own counts as JSON values."""
        return {"N": self._N, "n": dict(self._n if len(self._n) <= most_terms else self._n.most_common(most_terms))}

    @staticmethod
    def checked(state: Mapping[str, Any]) -> dict[str, Any]:
        """Validate the `state` of another worker.

        Raises:
            ValueError: It is invalid.
        """
        N, n = int(state["N"]), {str(term): int(number) for term, number in state["n"].items()}
        if min([N, *n.values()]) < 0:
            raise ValueError("a count is below 0")
        return {"N": N, "n": n}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._N, self._n = int(state["N"]), Counter(state["n"])

    def merge(self, worker: str, state: Mapping[str, Any]) -> None:
        """Replace the counts of another worker."""
        self._others[worker] = int(state["N"]), Counter(state["n"])
        each = MAX_TERMS // len(self._others)
        for name, (N, n) in self._others.items():
            if len(n) > each:
                self._others[name] = N, Counter(dict(n.most_common(each)))
        self._others_N = sum(N for N, _ in self._others.values())
        self._others_n = Counter()
        for _, n in self._others.values():
            self._others_n.update(n)


def _cosine(w_u: Vector, w_v: Vector) -> float:
    product = sum(w_tv * w_u[t] for t, w_tv in w_v.items() if t in w_u)
    return min(1.0, product / (norm(w_u) * norm(w_v)))
