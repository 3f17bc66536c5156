"""The topics of a web as classes: their names, training pages, and labels of pages.

RULES trains on the pages of a directory (train-0) and on the pages they link to (train-1). Here the directory is a part
of each topic's own pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from random import Random

from thresher.records import ParsedPage
from thresher_lab.simulation.topic_splits import both_sides
from thresher_lab.simulation.training import TRAINING_SHARE, TrainingSplit
from thresher_lab.webs.virtualweb import Web
from thresher_papers.strategies.rules.table import Classify

MAX_EXAMPLES = 150
"""Examples of one class, as in the paper."""


def class_labels(web: Web) -> list[str]:
    """Return the topics that are classes: those of the web's split, or else those of its lowest level."""
    topics = list(web.topics())
    inner = {topic.rpartition("/")[0] for topic in topics}
    return both_sides(web.name) or [topic for topic in topics if topic not in inner]


def draw_examples(
    web: Web, label: str, *, share: float = TRAINING_SHARE, without: Set[int] = frozenset()
) -> frozenset[int]:
    """Sample the training pages of a class, always the same ones, without excluded pages."""
    known = sorted(web.targets(label) - without)
    rng = Random(f"{web.name} {label} train-0")  # noqa: S311 - no secret
    return frozenset(rng.sample(known, min(MAX_EXAMPLES, len(known), max(1, round(share * len(known))))))


def train_0(web: Web, topic: str, split: TrainingSplit) -> dict[str, frozenset[int]]:
    """Return the training pages of each class when one topic is wanted.

    The wanted topic is trained on its training targets. No other class may contain any of the rest of its pages, nor a
    hidden page.
    """
    forbidden = web.targets(topic) | split.hidden
    others = {label: draw_examples(web, label, without=forbidden) for label in class_labels(web) if label != topic}
    return {topic: split.targets, **{label: pages for label, pages in others.items() if pages}}


class KnownClasses:
    """Classes as a perfect judge sees them: those of the labels, and the classifier's where a page has none.

    A page of several classes is of the wanted one if that is among them, else of the most likely one by the
    classifier.

    Args:
        labels: The classes.
        wanted: The wanted one.
        classify: The classifier.
    """

    def __init__(self, web: Web, labels: Sequence[str], wanted: str, classify: Classify) -> None:
        self._web = web
        self._wanted = wanted
        self._classify = classify
        self._labels: dict[int, list[str]] = {}
        for label in labels:
            for page in web.targets(label):
                self._labels.setdefault(page, []).append(label)

    def __call__(self, page: ParsedPage) -> Mapping[str, float]:
        """Return the classes of a page, each with its probability."""
        number = self._web.page_id(page.url)
        labels = self._labels.get(number, []) if number is not None else []
        if not labels:
            return self._classify(page)
        if self._wanted in labels:
            return {self._wanted: 1.0}
        if len(labels) == 1:
            return {labels[0]: 1.0}
        likely = self._classify(page)
        return {max(labels, key=lambda label: likely.get(label, 0.0)): 1.0}
