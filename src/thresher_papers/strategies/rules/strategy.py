"""Interclass rules: Altingövde and Ulusoy, IEEE Intelligent Systems, 2004; score names are the paper's.

The score of a link is the probability of getting from the class of its page to a wanted class along the rules of
`table.py`, so a crawl can tunnel through pages that are not wanted themselves.

Rules refined by the crawl itself, which RULES names as future work: each fetched page is one more observation.

A link carries the class of its page; when its target is fetched, the two classes are counted like a train-1 page. The
links that a crawl follows are a biased sample of all links: it follows the most promising ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from thresher.errors import ConfigError
from thresher.judges.base import StateStore
from thresher.modelstate.codec import fitted, pack_values, readable, unpack_values
from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.estimators.sections import Counts
from thresher_papers.judges.persistence.files import load
from thresher_papers.judges.persistence.scorer import PlainScorer
from thresher_papers.strategies.rules.table import FILE, Classify, RuleTable, class_of, inherited, with_inner_nodes

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


CLASSES = "classes"
"""The folder of the taxonomy classifier, beside the file of the rules."""
PAGE_CLASS = "class"
"""The key of the strategy data: the class of the page that a link is on, when rules are refined."""


class InterclassRules(BaseStrategy):
    """Follow links from pages of classes that are known to lead to the wanted ones, over other classes if need be.

    Args:
        topic_profile: The topic; its folder of trained models holds the rules, and the classifier of pages.
        classify: Returns the classes of a page, each with its probability; by default the trained classifier.
        max_depth: How many rules may be chained.
        combine: ``sum`` adds up all paths to the wanted classes, ``max`` takes the best one.
        refine: Whether every fetched page is one more observation for the rules. Links found later follow the refined
            rules, waiting ones keep their scores. Each link carries the class of its page; the counts are merged over
            all workers of a crawl.
        refine_every: Pages after which the scores are computed again.
        inner: Whether a class with few observations, or with no path to a wanted one, takes the rule of its parent
            node.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        classify: Classify | None = None,
        *,
        max_depth: int = 2,
        combine: str = "sum",
        refine: bool = False,
        refine_every: int = 50,
        inner: bool = False,
    ) -> None:
        if max_depth < 1:
            raise ValueError(f"max_depth must be at least 1, got {max_depth}")
        if refine_every < 1:
            raise ValueError(f"refine_every must be at least 1, got {refine_every}")
        if combine not in ("sum", "max"):
            raise ValueError(f"combine must be sum or max, got {combine!r}")
        if topic_profile.model is None or not (topic_profile.model / FILE).is_file():
            raise ConfigError("strategy rules needs rules learned from example pages; collect them: thresher train DIR")
        self._classify = classify or trained_classifier(topic_profile.model)
        self._table = RuleTable.load(topic_profile.model)
        self._max_depth, self._combine, self._inner = max_depth, combine, inner
        self._observed = ObservedRules() if refine else None
        self._refine_every = refine_every
        self._pages = 0
        self._rule_focus = self._compute()

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Score all links of a page by its class; where no rule applies, by soft focus."""
        C = class_of(self._classify(page))
        strategy_data = self._observe(lease.strategy_data.get(PAGE_CLASS), C) if self._observed else {}
        rule_score = inherited(self._rule_focus, C) if self._inner else self._rule_focus.get(C)
        score = judgement.relevance if rule_score is None else rule_score
        breakdown = {"soft focus" if rule_score is None else f"rules from {C}": score}
        return (
            Candidate(url=link.url, score=score, breakdown=breakdown, strategy_data=strategy_data)
            for link in page.links
        )

    def load_state(self, state_store: StateStore) -> None:
        if self._observed:
            self._observed.load_state(state_store)
            self._rule_focus = self._compute()

    def save_state(self) -> None:
        if self._observed:
            self._observed.save_state()

    def _observe(self, parent: object, C: str) -> dict[str, str]:
        """Count which class led to this page, and return the strategy data of its links."""
        assert self._observed is not None  # only then is anything observed
        if parent and isinstance(parent, str):
            self._observed.add(parent, C)
        self._pages += 1
        if self._pages % self._refine_every == 0:
            self._observed.save_state()
            self._observed.read_others()
            self._rule_focus = self._compute()
        return {PAGE_CLASS: C}

    def _compute(self) -> dict[str, float]:
        table = self._observed.added_to(self._table) if self._observed else self._table
        table = with_inner_nodes(table) if self._inner else table
        return table.scores(max_depth=self._max_depth, combine=self._combine)


def trained_classifier(folder: Path) -> Classify:
    """Load the taxonomy classifier that was saved beside the rules.

    Raises:
        ThresherError: There is none, or it cannot be used.
    """
    scorer: PlainScorer = load(folder / CLASSES)
    return lambda page: classes_of(scorer, scorer.count(page))


def classes_of(scorer: PlainScorer, counts: Counts) -> Mapping[str, float]:
    """Return the probability of every class; empty for a page without any known word."""
    return {} if scorer.vocabulary.keys().isdisjoint(counts) else scorer.probabilities(counts)
