"""Training of interclass rules: RULES, figure 2: a classifier of pages, and which classes link to which.

The classifier is trained on the pages of every class (train-0). The pages that they link to (train-1) are classified by
it, even where their class is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from thresher.errors import ConfigError
from thresher.judges.estimators.sections import Counts, weighted_counts
from thresher.judges.persistence.files import Training, save
from thresher.judges.persistence.scorer import PlainScorer
from thresher.linkgraph import LinkGraph
from thresher.strategies.layers.source import TrainingSource
from thresher.strategies.rules.strategy import CLASSES, classes_of
from thresher.strategies.rules.table import RuleTable, class_of, count_rules
from thresher.training.citation_matrix import citation_matrix, combined

FEWEST_LINKED_PAGES = 20
"""Minimum number of linked pages, of all classes together."""

Examples = Mapping[str, Collection[int]]
"""Train-0: the numbers of the pages of every class."""


@dataclass(frozen=True, kw_only=True)
class LearnedRules:
    """A classifier, the rules between its classes, and the size of the training set.

    Args:
        scorer: The classifier.
        table: The rules.
        examples: Number of training pages of each class.
    """

    scorer: PlainScorer
    table: RuleTable
    examples: Mapping[str, int] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Save both in a folder of trained models; the rules last, since a crawl checks for them first."""
        save(self.scorer, folder / CLASSES, Training(examples=sum(self.examples.values())))
        self.table.save(folder)


class TermCounter(Protocol):
    """A counter of the terms of pages."""

    def of_text(self, page: int) -> Counts:
        """Count the terms of a page's text."""
        ...


class TextWords:
    """A counter for pages of which only the text is known."""

    def __init__(self, source: TrainingSource) -> None:
        self._source = source

    def of_text(self, page: int) -> Counts:
        return weighted_counts(self._source.text(page))


def learn_class_rules(
    graph: LinkGraph,
    words: TermCounter,
    examples: Examples,
    *,
    targets: Iterable[str] = (),
    more_texts: Mapping[str, Sequence[str]] | None = None,
    walk_steps: int = 0,
) -> LearnedRules:
    """Train a classifier on the example pages, and count the classes of the pages they link to.

    Args:
        graph: The links between pages.
        words: Counts the terms of a page.
        examples: The example pages of every class; a class without any has no rules.
        targets: The wanted classes.
        more_texts: Further texts of the classes, for the classifier only.
        walk_steps: Length of a random walk from the example pages whose links are counted too; 0 for none.

    Raises:
        ConfigError: There are fewer than two classes, or too few linked pages.
    """
    from thresher.judges.taxonomy import train

    counted = {label: list(map(words.of_text, sorted(pages))) for label, pages in examples.items()}
    for label, texts in (more_texts or {}).items():
        counted.setdefault(label, []).extend(map(weighted_counts, texts))
    known = {label: own for label, pages in counted.items() if (own := [counts for counts in pages if counts])}
    if len(known) < 2:
        raise ConfigError(f"rules need at least two classes with example pages, and there are {len(known)}")
    scorer = train(known, counted=True)
    kept = {label: pages for label, pages in examples.items() if label in known}
    referred = {label: _linked(graph, pages) for label, pages in kept.items()}
    class_at = cache(lambda page: class_of(classes_of(scorer, words.of_text(page))))
    counts = count_rules(referred, class_at)
    if walk_steps:
        starts = sorted({page for pages in kept.values() for page in pages})
        counts = combined(counts, citation_matrix(graph, starts, class_at, steps=walk_steps))
    linked = sum(sum(found.values()) for found in counts.values())
    if linked < FEWEST_LINKED_PAGES:
        raise ConfigError(
            f"the example pages link to {linked} pages that are known, too few to learn rules from; "
            f"{FEWEST_LINKED_PAGES} is the least"
        )
    table = RuleTable(counts, frozenset(targets))
    return LearnedRules(scorer=scorer, table=table, examples={label: len(pages) for label, pages in kept.items()})


def _linked(graph: LinkGraph, pages: Collection[int]) -> set[int]:
    """Return the train-1 pages of a class; links of a page to itself do not count."""
    return {linked for page in sorted(pages) for linked in graph.successors(page).tolist() if linked != page}
