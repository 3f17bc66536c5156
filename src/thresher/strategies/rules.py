"""Interclass rules: Altingövde and Ulusoy, IEEE Intelligent Systems, 2004; score names are the paper's.

A link is worth the chance of coming from the class of its page to a wanted class along the rules of `rule_table.py`,
so a crawl can tunnel through pages that are not wanted themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from thresher.classify.base import Notebook
from thresher.classify.saved import load
from thresher.classify.scorer import PlainScorer
from thresher.classify.sections import Counts
from thresher.errors import ConfigError
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.inner_rules import inherited, with_inner_nodes
from thresher.strategies.observed_rules import ObservedRules
from thresher.strategies.rule_table import FILE, Classify, RuleTable, class_of

CLASSES = "classes"
"""The folder of the taxonomy classifier, beside the rules."""
CARRIED = "class"
"""What a link carries of its page when rules are refined."""


class InterclassRules:
    """Follow links from pages of classes that are known to lead to the wanted ones, over other classes if need be.

    Args:
        aim: The topic; its folder of trained models holds the rules, and the classifier of pages.
        classify: Gives the classes of a page, each with its probability; by default the trained classifier.
        max_depth: How many rules may be chained.
        combine: ``sum`` adds up all paths to the wanted classes, ``max`` takes the best one.
        refine: Whether every fetched page is one more observation for the rules. Links found later follow the refined
            rules, those that wait keep their scores. The class of its page rides on each link; the counts are merged
            over all workers of a crawl.
        refine_every: Pages after which the scores are computed anew.
        inner: Whether a class with few observations, or with no path to a wanted one, takes the rule of its parent
            node; see `inner_rules.py`.
    """

    merge = Merge.MAX

    def __init__(
        self,
        aim: Aim,
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
        if aim.model is None or not (aim.model / FILE).is_file():
            raise ConfigError("strategy rules needs rules learned from example pages; learn them: thresher train")
        self._classify = classify or trained_classifier(aim.model)
        self._table = RuleTable.load(aim.model)
        self._max_depth, self._combine, self._inner = max_depth, combine, inner
        self._observed = ObservedRules() if refine else None
        self._refine_every = refine_every
        self._pages = 0
        self._rule_focus = self._compute()

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give all links of a page the score of its class; where no rule applies, soft focus."""
        C = class_of(self._classify(page))
        carry = self._observe(lease.carry.get(CARRIED), C) if self._observed else {}
        rule_score = inherited(self._rule_focus, C) if self._inner else self._rule_focus.get(C)
        score = judgement.relevance if rule_score is None else rule_score
        parts = {"soft focus" if rule_score is None else f"rules from {C}": score}
        return (Candidate(url=link.url, score=score, parts=parts, carry=carry) for link in page.links)

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with what was observed in an earlier run, and by other workers."""
        if self._observed:
            self._observed.keep_in(notebook)
            self._rule_focus = self._compute()

    def write_down(self) -> None:
        """Write down what was observed."""
        if self._observed:
            self._observed.write_down()

    def _observe(self, parent: object, C: str) -> dict[str, str]:
        """Count which class led to this page, and say what its links carry."""
        assert self._observed is not None  # only then is anything observed
        if parent and isinstance(parent, str):
            self._observed.add(parent, C)
        self._pages += 1
        if self._pages % self._refine_every == 0:
            self._observed.write_down()
            self._observed.read_others()
            self._rule_focus = self._compute()
        return {CARRIED: C}

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
    """Give the probability of every class; of none for a page without a word that is known."""
    return {} if scorer.vocabulary.keys().isdisjoint(counts) else scorer.probabilities(counts)
