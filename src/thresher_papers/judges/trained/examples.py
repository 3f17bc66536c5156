"""The training pages of a judge: positive and negative examples, and a sample of the rest of the crawl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.judges.adaptive.reservoir import Reservoir
from thresher.judges.adaptive.snapshot import EntrySizer, LearnerState
from thresher.judges.adaptive.terms import TermVector
from thresher.judges.base import label_weight
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.estimators.sections import Counts

MAX_EXAMPLES = 200
"""Upper bound of permanently kept seeds and labelled pages; further ones are sampled like any other page."""
MIN_BACKGROUND = 10
"""Pages besides the examples that training needs at least."""
MIN_LABEL_WEIGHT = 0.5
"""Labels of models that count less are no examples."""
MAX_TERMS = 2_000
"""Terms of one page that are used, the most frequent ones: a page of random words must not fill the memory."""


class TrainingPages:
    """Pages of the crawl as term counts, with their labels and languages.

    Args:
        topic_profile: The topic with seeds and labels of the user.
        sample_pages: Sample size besides the examples.
    """

    def __init__(self, topic_profile: TopicProfile, *, sample_pages: int) -> None:
        self.sample = Reservoir(sample_pages)
        self.given: dict[str, float] = {}
        self._seed_urls = topic_profile.seeds
        self._from_user = topic_profile.labelled
        self._labelled: dict[str, float | None] = dict(self._from_user)
        self._labelled_elsewhere: dict[str, float | None] = {}
        self._seeds: set[str] = set()
        self._chinese: dict[str, bool] = {}
        self._peer_languages: dict[str, Mapping[str, bool]] = {}
        self._fitting = EntrySizer()

    def labelled(self, url: str) -> float | None:
        """Return the label of a page, by a model its probability: given to this worker, or else to another."""
        return self._labelled[url] if url in self._labelled else self._labelled_elsewhere.get(url)

    def is_example(self, url: str) -> bool:
        """Return whether a page is a seed or labelled."""
        return url in self._seeds or self._example_label(url) is not None

    def add(self, url: str, counts: Counts, *, chinese: bool, seed: bool) -> None:
        """Add a page: permanently when it is an example, else by reservoir sampling."""
        if seed or url in self._seed_urls:
            self._seeds.add(url)
        self._chinese[url] = chinese
        if self.is_example(url) and self.sample.kept < MAX_EXAMPLES:
            self.sample.keep(url, TermVector.of(counts))
        elif left := self.sample.add(url, TermVector.of(counts)):
            self._forget(left)

    def record_judgement(self, url: str, relevance: float) -> None:
        """Store the last judgement of a page, so that changes can be reported."""
        if url in self.sample:
            self.given[url] = relevance

    def set_label(self, url: str, relevant: float | None) -> None:
        """Set the label of a page; None withdraws it."""
        self._labelled[url] = relevant
        if relevant is not None and self.sample.kept < MAX_EXAMPLES:
            self.sample.keep_known(url)

    def is_chinese(self, url: str) -> bool:
        known = self._chinese.get(url)
        if known is not None:
            return known
        return any(languages.get(url, False) for languages in self._peer_languages.values())

    def examples_in(self) -> frozenset[bool]:
        """Return the languages of the positive examples: Chinese (True) and others (False)."""
        return frozenset(self.is_chinese(url) for url in self.sample.urls if self._is_yes(url))

    def labels(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return for each page of the sample whether it is a positive example, and whether it has a negative label."""
        urls = self.sample.urls
        yes = np.array([self._is_yes(url) for url in urls], dtype=bool)
        no = np.array([self._example_label(url) is False for url in urls], dtype=bool)
        return yes, no

    def are_enough(self) -> bool:
        """Return whether there are enough pages for training: a positive example, and a background."""
        yes = sum(map(self._is_yes, self.sample.urls))
        return yes > 0 and len(self.sample) - yes >= MIN_BACKGROUND

    def entry(self, worker: str) -> bytes:
        """Return the state to save for a restart and for other workers: examples, labels, a snapshot of the sample."""
        return self._fitting.entry(lambda most: self._packed(worker, most))

    def _packed(self, worker: str, most: int) -> bytes:
        snapshot, seeds = self.sample.snapshot(most), sorted(self._seeds)
        state = LearnerState(worker=worker, snapshot=snapshot, seeds=seeds, labelled=self._labelled, given=self.given)
        return state.entry(chinese=[self.is_chinese(url) for url in snapshot.urls])

    def restore(self, entry: bytes) -> str:
        """Restore the `entry` of an earlier run, and return the name of its worker.

        The current labels of the user override those in the entry.
        """
        other = OtherPages.read(entry)
        state = other.state
        self.sample.restore(state.snapshot)
        self._seeds = set(state.seeds)
        self._labelled = {**state.labelled, **self._from_user}
        self._chinese = dict(other.chinese)
        self.given = dict(state.given)
        for url in self._from_user:
            self.set_label(url, self._from_user[url])
        return state.worker

    def merge(self, other: OtherPages) -> bool:
        """Replace the state of another worker; return whether it has a new example."""
        known, state, snapshot = self._known(), other.state, other.state.snapshot
        self._labelled_elsewhere.update(state.labelled)
        for place in range(snapshot.kept):
            url = snapshot.urls[place]
            if url not in self.sample and self.sample.kept < MAX_EXAMPLES:
                self.add(url, snapshot.terms_of(place), chinese=other.chinese[url], seed=url in state.seeds)
        self.sample.set_peer_snapshot(state.worker, snapshot)
        self._peer_languages[state.worker] = other.chinese
        return self._known() != known

    def _known(self) -> dict[str, bool]:
        """Return the permanent pages, and whether they are positive examples."""
        return {url: self._is_yes(url) for url in self.sample.kept_urls}

    def _is_yes(self, url: str) -> bool:
        label = self._example_label(url)
        return url in self._seeds if label is None else label

    def _example_label(self, url: str) -> bool | None:
        """Return the label as an example has it: None when it counts too little to train with."""
        label = self.labelled(url)
        return None if label is None or label_weight(label) < MIN_LABEL_WEIGHT else label > 0.5

    def _forget(self, url: str) -> None:
        self.given.pop(url, None)
        self._chinese.pop(url, None)
        self._seeds.discard(url)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPages:
    """The saved state of a worker, and which of its pages are Chinese."""

    state: LearnerState
    chinese: Mapping[str, bool]

    @classmethod
    def read(cls, entry: bytes) -> OtherPages:
        """Read an entry of `TrainingPages.entry`.

        Raises:
            ValueError: The bytes are not an entry.
        """
        state, values = LearnerState.read_with_more(entry)
        chinese = zip(state.snapshot.urls, map(bool, values["chinese"]), strict=True)
        return cls(state=state, chinese=dict(chinese))


def most_frequent(counts: Counts) -> Counts:
    """Keep the most frequent terms of a page that has too many."""
    if len(counts) <= MAX_TERMS:
        return counts
    kept = sorted(counts, key=lambda term: -counts[term])[:MAX_TERMS]
    return {term: counts[term] for term in kept}
