"""Quality of a classifier of pages, by cross-validation: each page is classified by a model not trained on it.

Where there are enough hosts, all pages of a host are held out together: a crawl meets hosts that it was not trained on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from thresher.intervals import wilson_interval

FOLDS = 5
MIN_HOSTS = 2 * FOLDS
"""With fewer hosts, single pages are held out."""
MIN_PAGES = 30
"""Precision and recall of a class with fewer pages are not reliable: one page more or less changes them by 0.03."""

Predict = Callable[[Sequence[int], Sequence[int]], Sequence[str]]
"""Trains on the examples at some places, and returns the predicted classes of those at other places."""


@dataclass(frozen=True, kw_only=True)
class ClassQuality:
    """Quality for one class.

    Args:
        label: The class.
        pages: Its example pages.
        precision: Share of the pages classified as this class that are of it; None when there are none.
        recall: Share of its pages that are classified as this class.
    """

    label: str
    pages: int
    precision: float | None
    recall: float

    @property
    def is_small(self) -> bool:
        return self.pages < MIN_PAGES


@dataclass(frozen=True)
class ModelQuality:
    """Quality of a classifier.

    Args:
        confusion: From the true class over the predicted one to the number of pages.
        by_host: Whether all pages of a host were held out together.
    """

    confusion: Mapping[str, Mapping[str, int]]
    by_host: bool = False

    @property
    def pages(self) -> int:
        return sum(sum(row.values()) for row in self.confusion.values())

    @property
    def right(self) -> int:
        return sum(row.get(label, 0) for label, row in self.confusion.items())

    @property
    def accuracy(self) -> float:
        return self.right / self.pages if self.pages else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy, after Wilson."""
        return wilson_interval(self.right, self.pages)

    @property
    def largest_share(self) -> float:
        """The accuracy of always naming the class with the most pages."""
        return max((sum(row.values()) for row in self.confusion.values()), default=0) / max(self.pages, 1)

    def classes(self) -> Iterator[ClassQuality]:
        """Yield the quality for each class."""
        predicted = Counter[str]()
        for row in self.confusion.values():
            predicted.update(row)
        for label, row in self.confusion.items():
            right, pages = row.get(label, 0), sum(row.values())
            precision = right / predicted[label] if predicted[label] else None
            yield ClassQuality(label=label, pages=pages, precision=precision, recall=right / pages)

    def lines(self, what: str) -> Iterator[str]:
        """Yield sentences on the quality and on what is too small; `what` is the noun for a class."""
        low, high = self.interval
        yield (
            f"Held out: {self.accuracy:.0%} of {self.pages:,} pages get the right {what} (95 % interval {low:.0%} to "
            f"{high:.0%}); always naming the most frequent {what} would get {self.largest_share:.0%}."
        )
        if low <= self.largest_share:
            yield f"So the model is not shown to be better than always naming the most frequent {what}."
        if small := [f"{found.label} ({found.pages})" for found in self.classes() if found.is_small]:
            yield f"Too few pages for reliable figures, fewer than {MIN_PAGES}: {what} {', '.join(small)}."
        if self.by_host:
            yield "All pages of a host were held out together, so this is the quality on hosts that are not known."
        else:
            yield f"With fewer than {MIN_HOSTS} hosts, single pages were held out: expect less on other hosts."

    def as_json(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.interval),
            "largest_share": self.largest_share,
            "folds": FOLDS,
            "by_host": self.by_host,
            "classes": [
                {
                    "class": found.label,
                    "pages": found.pages,
                    "precision": found.precision,
                    "recall": found.recall,
                    "reliable": not found.is_small,
                }
                for found in self.classes()
            ],
            "confusion": self.confusion,
        }


def cross_validate(
    labels: Sequence[str], predict: Predict, *, hosts: Sequence[str] = (), random_state: int = 0
) -> ModelQuality:
    """Classify every example by a model that was trained on about four fifths of the others.

    Args:
        labels: The class of each example.
        predict: Trains and predicts; called once per fold.
        hosts: The host of each example; all examples of a host are in one fold, if there are enough hosts.
        random_state: Seed of the assignment to folds.
    """
    confusion: dict[str, Counter[str]] = {label: Counter() for label in dict.fromkeys(labels)}
    by_host = len(set(hosts)) >= MIN_HOSTS
    fold_of = _host_folds(hosts, random_state) if by_host else _page_folds(labels, random_state)
    for fold in range(FOLDS):
        held_out = [place for place, own in enumerate(fold_of) if own == fold]
        others = [place for place, own in enumerate(fold_of) if own != fold]
        if not held_out:
            continue
        for place, predicted in zip(held_out, predict(others, held_out), strict=True):
            confusion[labels[place]][predicted] += 1
    return ModelQuality({label: dict(row) for label, row in confusion.items()}, by_host)


def _page_folds(labels: Sequence[str], random_state: int) -> list[int]:
    """Assign each example to a fold: the examples of a class evenly, in random order."""
    places = list(range(len(labels)))
    Random(random_state).shuffle(places)  # noqa: S311 - no secret
    places.sort(key=labels.__getitem__)  # stable: random within a class
    folds = [0] * len(labels)
    for turn, place in enumerate(places):
        folds[place] = turn % FOLDS
    return folds


def _host_folds(hosts: Sequence[str], random_state: int) -> list[int]:
    """Assign each example to the fold of its host: large hosts first, each to the smallest fold."""
    sizes, shuffled = Counter(hosts), sorted(set(hosts))
    Random(random_state).shuffle(shuffled)  # noqa: S311 - no secret
    fold_of, pages = dict[str, int](), [0] * FOLDS
    for host in sorted(shuffled, key=lambda host: -sizes[host]):
        fold_of[host] = pages.index(min(pages))
        pages[fold_of[host]] += sizes[host]
    return [fold_of[host] for host in hosts]
