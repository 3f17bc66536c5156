"""Training of interclass rules: RULES, figure 2: a classifier of pages, and which classes link to which.

The classifier is trained on the pages of every class (train-0). The pages that they link to (train-1) are classified by
it, even where their class is known.

`citation_matrix` samples which classes link to which by random walks: future work of RULES, after Chakrabarti, Joshi,
Punera and Pennock, The structure of broad topics on the web, WWW 2002. A walk follows links in both directions, so that
it does not end in a page without links; from time to time it jumps back to a start page. Each link that it meets counts
once for the classes of its two ends. The result has the form of interclass rules, and may replace or complete them:
rules see the links of example pages alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Protocol

from thresher.errors import ConfigError
from thresher.linkgraph import LinkGraph
from thresher_papers.judges.estimators.sections import Counts, weighted_counts
from thresher_papers.judges.persistence.files import Training, save
from thresher_papers.judges.persistence.scorer import PlainScorer
from thresher_papers.strategies.layers.source import TrainingSource
from thresher_papers.strategies.rules.strategy import CLASSES, classes_of
from thresher_papers.strategies.rules.table import RuleTable, class_of, count_rules
from thresher_papers.training.quality import ModelQuality, cross_validate

MIN_LINKED_PAGES = 20
"""Minimum number of linked pages, of all classes together."""

NO_WORDS = "no known word"
"""The predicted class of a page without any word that the classifier knows."""

JUMP = 0.1
"""Probability that a walk jumps to a start page."""

ClassCounts = dict[str, dict[str, int]]
"""From class T_i over class T_j to the number of sampled links from T_i to T_j."""

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
    random_state: int = 0,
) -> LearnedRules:
    """Train a classifier on the example pages, and count the classes of the pages they link to.

    Args:
        graph: The links between pages.
        words: Counts the terms of a page.
        examples: The example pages of every class; a class without any has no rules.
        targets: The wanted classes.
        more_texts: Further texts of the classes, for the classifier only.
        walk_steps: Length of a random walk from the example pages whose links are counted too; 0 for none.
        random_state: Seed of the walk.

    Raises:
        ConfigError: There are fewer than two classes, or too few linked pages.
    """
    from thresher_papers.judges.taxonomy import train

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
        counts = combined(counts, citation_matrix(graph, starts, class_at, steps=walk_steps, random_state=random_state))
    linked = sum(sum(found.values()) for found in counts.values())
    if linked < MIN_LINKED_PAGES:
        raise ConfigError(
            f"the example pages link to {linked} pages that are known, too few to learn rules from; "
            f"{MIN_LINKED_PAGES} is the least"
        )
    table = RuleTable(counts, frozenset(targets))
    return LearnedRules(scorer=scorer, table=table, examples={label: len(pages) for label, pages in kept.items()})


def classifier_quality(
    words: TermCounter,
    examples: Examples,
    *,
    more_texts: Mapping[str, Sequence[str]] | None = None,
    host_of: Callable[[int], str] = lambda _: "",
    random_state: int = 0,
) -> ModelQuality:
    """Cross-validate the classifier of classes on the example pages; further texts are always in the training part."""
    from thresher_papers.judges.taxonomy import train

    listed = [(label, page) for label, own in sorted(examples.items()) for page in sorted(own)]
    counted = ((label, words.of_text(page), host_of(page)) for label, page in listed)
    pages = [(label, counts, host) for label, counts, host in counted if counts]
    texts = {label: list(map(weighted_counts, own)) for label, own in (more_texts or {}).items() if own}

    def predict(others: Sequence[int], held_out: Sequence[int]) -> list[str]:
        classes: dict[str, list[Counts]] = {label: list(own) for label, own in texts.items()}
        for label, counts, _ in (pages[place] for place in others):
            classes.setdefault(label, []).append(counts)
        if len(classes) < 2:
            return [*classes] * len(held_out)
        scorer = train(classes, counted=True)
        return [class_of(classes_of(scorer, pages[place][1])) or NO_WORDS for place in held_out]

    hosts = [host for *_, host in pages]
    return cross_validate([label for label, *_ in pages], predict, hosts=hosts, random_state=random_state)


def _linked(graph: LinkGraph, pages: Collection[int]) -> set[int]:
    """Return the train-1 pages of a class; links of a page to itself do not count."""
    return {linked for page in sorted(pages) for linked in graph.successors(page).tolist() if linked != page}


def citation_matrix(
    graph: LinkGraph,
    starts: Sequence[int],
    class_at: Callable[[int], str],
    *,
    steps: int,
    jump: float = JUMP,
    random_state: int = 0,
) -> ClassCounts:
    """Sample links by a random walk, and count the classes of their ends.

    Args:
        graph: The links between pages.
        starts: Pages to start from and to jump to.
        class_at: Returns the class of a page, empty for none; called once per page.
        steps: Length of the walk.
        jump: Probability of a jump at each step.
        random_state: Seed of the walk.

    Raises:
        ValueError: There is no page to start from.
    """
    if not starts:
        raise ValueError("a random walk needs a page to start from")
    random, classes, links = Random(random_state), dict[int, str](), set[tuple[int, int]]()  # noqa: S311 - no secret
    page = random.choice(starts)
    for _ in range(steps):
        out, into = graph.successors(page), graph.predecessors(page)
        if random.random() < jump or not out.size + into.size:
            page = random.choice(starts)
            continue
        place = random.randrange(out.size + into.size)
        other = int(out[place] if place < out.size else into[place - out.size])
        links.add((page, other) if place < out.size else (other, page))
        page = other
    for page in sorted({end for link in links for end in link}):
        classes[page] = class_at(page)
    pairs = Counter((classes[tail], classes[head]) for tail, head in links)
    matrix: ClassCounts = {}
    for (tail, head), number in sorted(pairs.items()):
        if tail:
            matrix.setdefault(tail, {})[head] = number
    return matrix


def combined(*matrices: ClassCounts) -> ClassCounts:
    """Add the counts of several matrices."""
    total: ClassCounts = {}
    for matrix in matrices:
        for tail, heads in matrix.items():
            own = total.setdefault(tail, {})
            for head, number in heads.items():
                own[head] = own.get(head, 0) + number
    return total
