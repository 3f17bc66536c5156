"""Interclass rules: Altingövde and Ulusoy, IEEE Intelligent Systems, 2004; score names are the paper's.

A link is worth the chance of coming from the class of its page to a wanted class along the rules of `rule_table.py`,
so a crawl can tunnel through pages that are not wanted themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from thresher.classify.saved import load
from thresher.classify.scorer import PlainScorer
from thresher.errors import ConfigError
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.rule_table import FILE, Classify, RuleTable, class_of
from thresher.strategies.soft_focus import likelihood

CLASSES = "classes"
"""The folder of the taxonomy classifier, beside the rules."""


class InterclassRules:
    """Follow links from pages of classes that are known to lead to the wanted ones, over other classes if need be.

    Args:
        aim: The topic; its folder of trained models holds the rules, and the classifier of pages.
        classify: Gives the classes of a page, each with its probability; by default the trained classifier.
        max_depth: How many rules may be chained.
        combine: ``sum`` adds up all paths to the wanted classes, ``max`` takes the best one.
    """

    merge = Merge.MAX

    def __init__(self, aim: Aim, classify: Classify | None = None, *, max_depth: int = 2, combine: str = "sum") -> None:
        if max_depth < 1:
            raise ValueError(f"max_depth must be at least 1, got {max_depth}")
        if combine not in ("sum", "max"):
            raise ValueError(f"combine must be sum or max, got {combine!r}")
        if aim.model is None or not (aim.model / FILE).is_file():
            raise ConfigError("strategy rules needs rules learned from example pages; learn them: thresher train")
        self._classify = classify or trained_classifier(aim.model)
        self._rule_focus = RuleTable.load(aim.model).scores(max_depth=max_depth, combine=combine)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give all links of a page the score of its class; where no rule applies, soft focus."""
        C = class_of(self._classify(page))
        score = self._rule_focus.get(C, likelihood(judgement))
        parts = {f"rules from {C}" if C in self._rule_focus else "soft focus": score}
        return (Candidate(url=link.url, score=score, parts=parts) for link in page.links)


def trained_classifier(folder: Path) -> Classify:
    """Load the taxonomy classifier that was saved beside the rules.

    Raises:
        ThresherError: There is none, or it cannot be used.
    """
    scorer: PlainScorer = load(folder / CLASSES)

    def classify(page: ParsedPage) -> Mapping[str, float]:
        counts = scorer.count(page)
        return {} if scorer.vocabulary.keys().isdisjoint(counts) else scorer.probabilities(counts)

    return classify
