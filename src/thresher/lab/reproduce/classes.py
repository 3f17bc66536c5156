"""All topics of a web as classes: examples of each, a classifier trained on them, and the rules between them.

RULES trains on the pages of a directory (train-0) and on the pages they link to (train-1). Here the directory is a part
of each topic's own pages; those of the wanted topic are neither hits nor fetches of any crawl.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from weakref import finalize

from thresher.errors import ConfigError
from thresher.lab.parsed import ParsedPages
from thresher.lab.splits import both_sides
from thresher.lab.virtualweb import Web
from thresher.records import Judgement, ParsedPage, Word
from thresher.strategies.rule_table import Classify, RuleTable, learn_rules

SHARE = 0.3
"""Of the pages of every topic are examples."""
MOST = 150
"""Examples of one class, as in the paper."""
LIKELY = 0.5


class Classes:
    """The classes of a web.

    Args:
        pages: The web's parsed pages.
        labels: The topics that are classes.

    Raises:
        ConfigError: There are fewer than two.
    """

    def __init__(self, web: Web, pages: ParsedPages, labels: Sequence[str]) -> None:
        from thresher.classify.taxonomy_judge import train

        if len(labels) < 2:
            raise ConfigError(f"{web.name} has too few topics to make classes of")
        self._pages = pages
        self._known: dict[str, Mapping[str, float]] = {}
        self.examples = {label: _draw(web, label) for label in labels}
        train_0 = {label: self._parsed(web, numbers) for label, numbers in self.examples.items()}
        self._scorer = train({label: [page.text for page in found] for label, found in train_0.items()})
        self._counts = learn_rules(train_0, self._page, self.classify).counts
        self._folder = Path(mkdtemp(prefix="thresher-rules-"))
        finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def classify(self, page: ParsedPage) -> Mapping[str, float]:
        """Give the probability of every class; of none for a page without a word that is known."""
        if page.url not in self._known:
            counts = self._scorer.count(page)
            is_known = not self._scorer.vocabulary.keys().isdisjoint(counts)
            self._known[page.url] = self._scorer.probabilities(counts) if is_known else {}
        return self._known[page.url]

    def rules_for(self, topic: str) -> Path:
        """Save the rules with one wanted class, and say where."""
        folder = self._folder / topic.replace("/", " ")
        RuleTable(self._counts, frozenset([topic])).save(folder)
        return folder

    def _parsed(self, web: Web, numbers: frozenset[int]) -> list[ParsedPage]:
        found = (self._page(web.url_of(number)) for number in sorted(numbers))
        return [page for page in found if page]

    def _page(self, url: str) -> ParsedPage | None:
        found = self._pages.get(url)
        return found[0] if found else None


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
        return Judgement(relevance=probability, relevant=probability >= LIKELY, probability=probability)

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Give none; nobody asks in the lab."""
        return ()


def class_labels(web: Web) -> list[str]:
    """Give the topics that are classes: those of the web's split, or else those of its lowest level."""
    topics = list(web.topics())
    inner = {topic.rpartition("/")[0] for topic in topics}
    return both_sides(web.name) or [topic for topic in topics if topic not in inner]


def _draw(web: Web, label: str) -> frozenset[int]:
    targets = sorted(web.targets(label))
    draw = Random(f"{web.name} {label} train-0")  # noqa: S311 - no secret
    return frozenset(draw.sample(targets, min(MOST, max(1, round(SHARE * len(targets))))))
