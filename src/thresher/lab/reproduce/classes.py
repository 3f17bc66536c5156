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

from thresher.lab.classes import draw_examples
from thresher.lab.page_words import PageWords
from thresher.lab.virtualweb import Web
from thresher.linkgraph.graph import LinkGraph
from thresher.records import Judgement, ParsedPage, Word
from thresher.strategies.rule_table import Classify, RuleTable
from thresher.strategies.rules import classes_of
from thresher.training.rules import learn_class_rules

LIKELY = 0.5


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
        """Give the probability of every class; of none for a page without a word that is known."""
        if page.url not in self._known:
            self._known[page.url] = classes_of(self._scorer, self._scorer.count(page))
        return self._known[page.url]

    def rules_for(self, topic: str) -> Path:
        """Save the rules with one wanted class, and say where."""
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
        """Give the probability of the wanted class."""
        probability = self._classify(page).get(self._target, 0.0)
        return Judgement(relevance=probability, relevant=probability >= LIKELY)

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Give none; nobody asks in the lab."""
        return ()
