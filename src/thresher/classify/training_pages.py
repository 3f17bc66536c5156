"""The pages that a judge trains on: examples of the topic, what people refused, and a sample of everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.classify.base import Brief
from thresher.classify.rows import Terms
from thresher.classify.sample import Sample
from thresher.classify.sample_notes import Fitting, SampleNotes
from thresher.classify.sections import Counts

MOST_EXAMPLES = 200
"""Seeds and pages that people spoke about which stay for good; more of them are sampled like any other page."""
FEWEST_BACKGROUND = 10
"""Pages besides the examples from which a model can be trained."""
MOST_TERMS = 2_000
"""Terms of one page that are looked at, the most frequent ones: a page of random words must not fill the memory."""


class TrainingPages:
    """Pages of the crawl as counts of terms, and what is known of each.

    Args:
        brief: What the user said: which pages are seeds, which are about the topic and which are not.
        sample_pages: Pages besides the examples that are remembered.
    """

    def __init__(self, brief: Brief, *, sample_pages: int) -> None:
        self.sample = Sample(sample_pages)
        self.given: dict[str, float] = {}
        self._seed_urls = brief.seeds
        self._from_user = {**dict.fromkeys(brief.yes, True), **dict.fromkeys(brief.no, False)}
        self._told: dict[str, bool | None] = dict(self._from_user)
        self._heard: dict[str, bool | None] = {}
        self._seeds: set[str] = set()
        self._chinese: dict[str, bool] = {}
        self._lent: dict[str, Mapping[str, bool]] = {}
        self._fitting = Fitting()

    def told(self, url: str) -> bool | None:
        """Return what a person said of a page: to this worker, or else to another."""
        return self._told[url] if url in self._told else self._heard.get(url)

    def is_example(self, url: str) -> bool:
        """Tell whether a page is a seed or one that a person spoke about."""
        return url in self._seeds or self.told(url) is not None

    def take_in(self, url: str, counts: Counts, *, chinese: bool, seed: bool) -> None:
        """Remember a page: for good when it is an example, else if the draw says so."""
        if seed or url in self._seed_urls:
            self._seeds.add(url)
        self._chinese[url] = chinese
        if self.is_example(url) and self.sample.kept < MOST_EXAMPLES:
            self.sample.keep(url, Terms.of(counts))
        elif left := self.sample.add(url, Terms.of(counts)):
            self._forget(left)

    def note(self, url: str, relevance: float) -> None:
        """Remember what was said of a page, so that a change of mind can be told."""
        if url in self.sample:
            self.given[url] = relevance

    def tell(self, url: str, relevant: bool | None) -> None:
        """Take a person's word on a page; None takes it back."""
        self._told[url] = relevant
        if relevant is not None and self.sample.kept < MOST_EXAMPLES:
            self.sample.keep_known(url)

    def is_chinese(self, url: str) -> bool:
        """Tell the language of a page of the sample: Chinese, or another."""
        known = self._chinese.get(url)
        return known if known is not None else any(lent.get(url, False) for lent in self._lent.values())

    def examples_in(self) -> frozenset[bool]:
        """Say in which languages there are pages about the topic: Chinese (True) and others (False)."""
        return frozenset(self.is_chinese(url) for url in self.sample.urls if self._is_yes(url))

    def labels(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say of each page of the sample whether it is about the topic, and whether a person said that it is not."""
        urls = self.sample.urls
        yes = np.array([self._is_yes(url) for url in urls], dtype=bool)
        no = np.array([self.told(url) is False for url in urls], dtype=bool)
        return yes, no

    def are_enough(self) -> bool:
        """Tell whether a model can be trained: on an example, and on pages to tell it from."""
        yes = sum(map(self._is_yes, self.sample.urls))
        return yes > 0 and len(self.sample) - yes >= FEWEST_BACKGROUND

    def entry(self, worker: str) -> bytes:
        """Return what must be known to go on later, and to others: examples, what people said, a draw of the sample."""
        return self._fitting.entry(lambda most: self._packed(worker, most))

    def _packed(self, worker: str, most: int) -> bytes:
        draw, seeds = self.sample.draw(most), sorted(self._seeds)
        notes = SampleNotes(worker=worker, draw=draw, seeds=seeds, told=self._told, given=self.given)
        return notes.entry(chinese=[self.is_chinese(url) for url in draw.urls])

    def go_on_from(self, entry: bytes) -> str:
        """Go on from what `entry` returned in an earlier run, and return whose it is.

        What the user says now outweighs what was said then.
        """
        other = OtherPages.read(entry)
        notes = other.notes
        self.sample.restore(notes.draw)
        self._seeds = set(notes.seeds)
        self._told = {**notes.told, **self._from_user}
        self._chinese = dict(other.chinese)
        self.given = dict(notes.given)
        for url in self._from_user:
            self.tell(url, self._from_user[url])
        return notes.worker

    def take_over(self, other: OtherPages) -> bool:
        """Put what another worker wrote in the place of what it wrote before; tell whether it has a new example."""
        known, notes, draw = self._known(), other.notes, other.notes.draw
        self._heard.update(notes.told)
        for place in range(draw.kept):
            url = draw.urls[place]
            if url not in self.sample and self.sample.kept < MOST_EXAMPLES:
                self.take_in(url, draw.terms_of(place), chinese=other.chinese[url], seed=url in notes.seeds)
        self.sample.borrow(notes.worker, draw)
        self._lent[notes.worker] = other.chinese
        return self._known() != known

    def _known(self) -> dict[str, bool]:
        """Say which pages stay for good, and whether they are about the topic."""
        return {url: self._is_yes(url) for url in self.sample.kept_urls}

    def _is_yes(self, url: str) -> bool:
        told = self.told(url)
        return url in self._seeds if told is None else told

    def _forget(self, url: str) -> None:
        self.given.pop(url, None)
        self._chinese.pop(url, None)
        self._seeds.discard(url)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherPages:
    """What a worker wrote down of its pages, and which of them are Chinese."""

    notes: SampleNotes
    chinese: Mapping[str, bool]

    @classmethod
    def read(cls, entry: bytes) -> OtherPages:
        """Read an entry of `TrainingPages.entry`.

        Raises:
            ValueError: It is none.
        """
        notes, values = SampleNotes.read_with_more(entry)
        chinese = zip(notes.draw.urls, map(bool, values["chinese"]), strict=True)
        return cls(notes=notes, chinese=dict(chinese))


def most_frequent(counts: Counts) -> Counts:
    """Keep the most frequent terms of a page that has too many."""
    if len(counts) <= MOST_TERMS:
        return counts
    kept = sorted(counts, key=lambda term: -counts[term])[:MOST_TERMS]
    return {term: counts[term] for term in kept}
