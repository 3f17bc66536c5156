"""Learning interclass rules: RULES, figure 2: a classifier of pages, and which classes link to which.

The pages of every class (train-0) teach the classifier; the pages that they link to (train-1) get their class from it,
even where somebody knows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from thresher.classify.saved import Training, save
from thresher.classify.scorer import PlainScorer
from thresher.classify.sections import Counts, weighted_counts
from thresher.errors import ConfigError
from thresher.linkgraph.graph import LinkGraph
from thresher.strategies.layering.source import Source
from thresher.strategies.rule_table import RuleTable, class_of, count_rules
from thresher.strategies.rules import CLASSES, classes_of

FEWEST_LINKED_PAGES = 20
"""Of all classes together; from fewer nothing can be said about who links to whom."""

Examples = Mapping[str, Collection[int]]
"""Train-0: the numbers of the pages of every class."""


@dataclass(frozen=True, kw_only=True)
class LearnedRules:
    """A classifier, the rules between its classes, and what they were made of.

    Args:
        scorer: The classifier.
        table: The rules.
        examples: How many pages of each class they were learned from.
    """

    scorer: PlainScorer
    table: RuleTable
    examples: Mapping[str, int] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write all of it into a folder of trained models; the rules last, since a crawl asks for them first."""
        save(self.scorer, folder / CLASSES, Training(examples=sum(self.examples.values())))
        self.table.save(folder)


class Words(Protocol):
    """Counts the terms of pages, by their numbers."""

    def of_text(self, page: int) -> Counts:
        """Count the text of a page, as a classifier learns it."""
        ...

    def of_page(self, page: int) -> Counts:
        """Count a page as a crawl would: by section, where the sections are known."""
        ...


class TextWords:
    """Counts the texts of pages anew; nothing else is known of them."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def of_text(self, page: int) -> Counts:
        """Count the text of a page."""
        return weighted_counts(self._source.text(page))

    of_page = of_text


def learn_class_rules(
    graph: LinkGraph,
    words: Words,
    examples: Examples,
    *,
    targets: Iterable[str] = (),
    more_texts: Mapping[str, Sequence[str]] | None = None,
) -> LearnedRules:
    """Train a classifier on the example pages, and count what they link to.

    Args:
        graph: Which page links to which.
        words: Counts the terms of a page.
        examples: The example pages of every class; a class without any has no rules of its own.
        targets: The wanted classes.
        more_texts: Further texts of the classes, for the classifier alone.

    Raises:
        ConfigError: There are fewer than two classes, or hardly any linked page.
    """
    from thresher.classify.taxonomy_judge import train

    counted = {label: list(map(words.of_text, sorted(pages))) for label, pages in examples.items()}
    for label, texts in (more_texts or {}).items():
        counted.setdefault(label, []).extend(map(weighted_counts, texts))
    known = {label: own for label, pages in counted.items() if (own := [counts for counts in pages if counts])}
    if len(known) < 2:
        raise ConfigError(f"rules need at least two classes with example pages, and there are {len(known)}")
    scorer = train(known, counted=True)
    kept = {label: pages for label, pages in examples.items() if label in known}
    referred = {label: _linked(graph, pages) for label, pages in kept.items()}
    counts = count_rules(referred, lambda page: class_of(classes_of(scorer, words.of_page(page))))
    linked = sum(sum(found.values()) for found in counts.values())
    if linked < FEWEST_LINKED_PAGES:
        raise ConfigError(
            f"the example pages link to {linked} pages that are known, too few to learn rules from; "
            f"{FEWEST_LINKED_PAGES} is the least"
        )
    table = RuleTable(counts, frozenset(targets))
    return LearnedRules(scorer=scorer, table=table, examples={label: len(pages) for label, pages in kept.items()})


def _linked(graph: LinkGraph, pages: Collection[int]) -> set[int]:
    """Give the train-1 pages of a class; a page does not refer to itself."""
    return {linked for page in sorted(pages) for linked in graph.successors(page).tolist() if linked != page}
