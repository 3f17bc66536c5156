"""All topics of a web as classes: examples of each, a classifier trained on them, and the rules between them.

RULES trains on the pages of a directory (train-0) and on the pages they link to (train-1). Here the directory is a part
of each topic's own pages; those of the wanted topic are neither hits nor fetches of any crawl.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize

from thresher.linkgraph import LinkGraph
from thresher.records import Judgement, ParsedPage, TermWeight
from thresher_lab.simulation.classes import draw_examples
from thresher_lab.webs.page_terms import PageWords
from thresher_lab.webs.virtualweb import Web
from thresher_papers.strategies.rules.strategy import classes_of
from thresher_papers.strategies.rules.table import Classify, RuleTable
from thresher_papers.training.rules import learn_class_rules

LIKELY = 0.5
"""The relevance from which a page counts as relevant."""


class Classes:
    """The classes of a web.

    Args:
        labels: The topics that are classes.
        graph: The web's links.
        words: The terms of its pages.

    Raises:
        ConfigError: There are fewer than two, or hardly any links between pages.
    """

    def __init__(self, web: Web, labels: Sequence[str], graph: LinkGraph, words: PageWords) -> None:
        self._known: dict[str, Mapping[str, float]] = {}
        self.examples = {label: draw_examples(web, label) for label in labels}
        learned = learn_class_rules(graph, words, self.examples)
        self._scorer, self._counts = learned.scorer, learned.table.counts
        self._folder = Path(mkdtemp(prefix="thresher-rules-"))
        finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def classify(self, page: ParsedPage) -> Mapping[str, float]:
        """Return the probability of every class; of none for a page without a known word."""
        if page.url not in self._known:
            self._known[page.url] = classes_of(self._scorer, self._scorer.count(page))
        return self._known[page.url]

    def rules_for(self, topic: str) -> Path:
        """Save the rules with one wanted class; return the path."""
        folder = self._folder / topic.replace("/", " ")
        RuleTable(self._counts, frozenset([topic])).save(folder)
        return folder


class ClassJudge:
    """Judge a page by how likely it is of the wanted class: soft focus.

    Args:
        classify: Gives the classes of a page.
        target: The wanted one.
    """

    def __init__(self, classify: Classify, target: str) -> None:
        self._classify = classify
        self._target = target

    def judge(self, page: ParsedPage) -> Judgement:
        probability = self._classify(page).get(self._target, 0.0)
        return Judgement(relevance=probability, relevant=probability >= LIKELY)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return ()
