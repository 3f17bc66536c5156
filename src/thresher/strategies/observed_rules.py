"""Rules refined by the crawl itself, which RULES names as future work: each fetched page is one more observation.

A link carries the class of its page; when its own page has come, the two classes are counted like a train-1 page. Links
that a crawl follows are no fair sample of all links: it follows those that it expects most of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.classify.entries import fitted, pack_values, readable, unpack_values
from thresher.strategies.rule_table import RuleTable

NOTES = "rules"
MOST_PAIRS = 100_000
"""Pairs of classes that are written down, the most frequent ones."""

Observed = dict[str, Counter[str]]


class ObservedRules:
    """Counts which class led to which.

    Every worker writes down its own counts and adds those of the others, so all come to the same rules; what is carried
    by a link travels with it to whichever worker fetches its page.
    """

    def __init__(self) -> None:
        self._own: Observed = {}
        self._others: dict[str, Observed] = {}
        self._worker = uuid4().hex
        self._notebook: Notebook | None = None

    def add(self, parent: str, child: str) -> None:
        """Count one page by the class of the page that led to it and by its own."""
        self._own.setdefault(parent, Counter())[child] += 1

    def added_to(self, table: RuleTable) -> RuleTable:
        """Add what was observed to what was learned before the crawl."""
        counts = {label: Counter(found) for label, found in table.counts.items()}
        for observed in (self._own, *self._others.values()):
            for label, found in observed.items():
                counts.setdefault(label, Counter()).update(found)
        return RuleTable(counts, table.targets)

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with the counts of an earlier run."""
        self._notebook = notebook
        if content := notebook.read(NOTES):
            state = unpack_values(content)
            self._worker, self._own = str(state["worker"]), _counts(state)
        self.read_others()

    def write_down(self) -> None:
        """Write down this worker's own counts."""
        if self._notebook:
            content, _ = fitted(self._entry, MOST_PAIRS)
            self._notebook.write(NOTES, content)

    def read_others(self) -> None:
        """Take in what the other workers wrote since the last time, each in the place of what it wrote before."""
        entries = self._notebook.read_others(NOTES) if self._notebook else ()
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
