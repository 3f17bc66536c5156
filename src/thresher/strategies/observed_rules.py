"""Rules refined by the crawl itself, which RULES names as future work: each fetched page is one more observation.

A link carries the class of its page; when its own page has come, the two classes are counted like a train-1 page. Links
that a crawl follows are no fair sample of all links: it follows those that it expects most of.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.strategies.rule_table import RuleTable

NOTES = "rules"

Observed = dict[str, Counter[str]]


class ObservedRules:
    """Counts which class led to which.

    Every worker writes down its own counts and adds those of the others, so all come to the same rules; what is carried
    by a link travels with it to whichever worker fetches its page.
    """

    def __init__(self) -> None:
        self._own: Observed = {}
        self._others: dict[str, Mapping[str, Mapping[str, int]]] = {}
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
            state = json.loads(content)
            self._worker = state["worker"]
            self._own = {label: Counter(found) for label, found in state["counts"].items()}
        self.read_others()

    def write_down(self) -> None:
        """Write down this worker's own counts."""
        if self._notebook:
            state = {"worker": self._worker, "counts": self._own}
            self._notebook.write(NOTES, json.dumps(state, ensure_ascii=False).encode("utf-8", "replace"))

    def read_others(self) -> None:
        """Take in what the other workers wrote since the last time."""
        for content in self._notebook.read_others(NOTES) if self._notebook else ():
            state = json.loads(content)
            if state["worker"] != self._worker:
                self._others[state["worker"]] = state["counts"]
