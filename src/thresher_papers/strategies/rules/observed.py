"""Rules refined by the crawl itself, which RULES names as future work: each fetched page is one more observation.

A link carries the class of its page; when its target is fetched, the two classes are counted like a train-1 page. The
links that a crawl follows are a biased sample of all links: it follows the most promising ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from thresher.judges.base import StateStore
from thresher.modelstate.codec import fitted, pack_values, readable, unpack_values
from thresher_papers.strategies.rules.table import RuleTable

STATE_KIND = "rules"
MAX_PAIRS = 100_000
"""Pairs of classes that are saved, the most frequent ones."""

Observed = dict[str, Counter[str]]


class ObservedRules:
    """Counts which class led to which.

    Every worker saves its own counts and adds those of the others, so all have the same rules; the data of a link go
    to the worker that fetches it.
    """

    def __init__(self) -> None:
        self._own: Observed = {}
        self._others: dict[str, Observed] = {}
        self._worker = uuid4().hex
        self._state_store: StateStore | None = None

    def add(self, parent: str, child: str) -> None:
        """Count one page by the class of the page that led to it and by its own."""
        self._own.setdefault(parent, Counter())[child] += 1

    def added_to(self, table: RuleTable) -> RuleTable:
        """Return a table with the observed counts added."""
        counts = {label: Counter(found) for label, found in table.counts.items()}
        for observed in (self._own, *self._others.values()):
            for label, found in observed.items():
                counts.setdefault(label, Counter()).update(found)
        return RuleTable(counts, table.targets)

    def load_state(self, state_store: StateStore) -> None:
        self._state_store = state_store
        if content := state_store.read(STATE_KIND):
            state = unpack_values(content)
            self._worker, self._own = str(state["worker"]), _counts(state)
        self.read_others()

    def save_state(self) -> None:
        if self._state_store:
            content, _ = fitted(self._entry, MAX_PAIRS)
            self._state_store.write(STATE_KIND, content)

    def read_others(self) -> None:
        """Replace the counts of other workers by their latest entries."""
        entries = self._state_store.read_others(STATE_KIND) if self._state_store else ()
        self._others |= dict(readable(entries, _read, "rules"))
        self._others.pop(self._worker, None)

    def _entry(self, most: int) -> bytes:
        pairs = Counter({(parent, child): n for parent, found in self._own.items() for child, n in found.items()})
        counts: Observed = {}
        for (parent, child), n in pairs.most_common(most):
            counts.setdefault(parent, Counter())[child] = n
        return pack_values({"worker": self._worker, "counts": counts})


def _read(content: bytes) -> tuple[str, Observed]:
    state = unpack_values(content)
    return str(state["worker"]), _counts(state)


def _counts(state: Mapping[str, Any]) -> Observed:
    counts = {label: Counter({child: int(n) for child, n in found.items()}) for label, found in state["counts"].items()}
    if any(n < 0 for found in counts.values() for n in found.values()):
        raise ValueError("a count is below 0")
    return counts
