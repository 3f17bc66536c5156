"""The pages that a judge trains on: examples of the topic, what people refused, and a sample of everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.classify.base import Brief
from thresher.classify.sample import Sample, Terms
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
        self._told = dict(self._from_user)
        self._seeds: set[str] = set()
        self._chinese: dict[str, bool] = {}

    def told(self, url: str) -> bool | None:
        """Return what a person said of a page."""
        return self._told.get(url)

    def is_example(self, url: str) -> bool:
        """Tell whether a page is a seed or one that a person spoke about."""
        return url in self._seeds or url in self._told

    def take_in(self, url: str, counts: Counts, *, chinese: bool, seed: bool) -> None:
        """Remember a page: for good when it is an example, else if the draw says so."""
        if seed or url in self._seed_urls:
            self._seeds.add(url)
        self._chinese[url] = chinese
        if self.is_example(url) and self.sample.kept < MOST_EXAMPLES:
            self.sample.keep_known(url)
            self.sample.keep(url, Terms.of(counts))
        elif left := self.sample.add(url, Terms.of(counts)):
            self._forget(left)

    def note(self, url: str, relevance: float) -> None:
        """Remember what was said of a page, so that a change of mind can be told."""
        if url in self.sample:
            self.given[url] = relevance

    def tell(self, url: str, relevant: bool) -> None:
        """Take a person's word on a page."""
        self._told[url] = relevant
        if self.sample.kept < MOST_EXAMPLES:
            self.sample.keep_known(url)

    def is_chinese(self, url: str) -> bool:
        """Tell the language of a page of the sample: Chinese, or another."""
        return self._chinese.get(url, False)

    def examples_in(self) -> frozenset[bool]:
        """Say in which languages there are pages about the topic: Chinese (True) and others (False)."""
        return frozenset(self.is_chinese(url) for url in self.sample.urls if self._is_yes(url))

    def labels(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say of each page of the sample whether it is about the topic, and whether a person said that it is not."""
        urls = self.sample.urls
        yes = np.array([self._is_yes(url) for url in urls], dtype=bool)
        no = np.array([self._told.get(url) is False for url in urls], dtype=bool)
        return yes, no

    def are_enough(self) -> bool:
        """Tell whether a model can be trained: on an example, and on pages to tell it from."""
        yes = sum(map(self._is_yes, self.sample.urls))
        return yes > 0 and len(self.sample) - yes >= FEWEST_BACKGROUND

    def shared(self) -> bytes:
        """Return what other workers should know: the examples with their terms."""
        examples = {
            url: {"seed": url in self._seeds, "told": self.told(url), "chinese": self.is_chinese(url), "terms": terms}
            for url, terms in self.sample.kept_terms().items()
        }
        return _json(examples)

    def take_shared(self, content: bytes) -> bool:
        """Take over what another worker shared; tell whether any of it is new."""
        new = False
        for url, known in json.loads(content).items():
            if known["told"] is not None:
                self._told.setdefault(url, known["told"])
            if url not in self.sample:
                new = True
                self.take_in(url, known["terms"], chinese=known["chinese"], seed=known["seed"])
        return new

    def take_apart(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return all that is known, as arrays and as values that JSON can hold."""
        values = {"seeds": sorted(self._seeds), "told": self._told, "chinese": self._chinese, "given": self.given}
        return self.sample.arrays(), values

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Go on from what `take_apart` returned; what the user says now outweighs what was said then."""
        self.sample.restore(arrays)
        self._seeds = set(values["seeds"])
        self._told = {**values["told"], **self._from_user}
        self._chinese, self.given = values["chinese"], values["given"]
        for url in self._from_user:
            self.tell(url, self._from_user[url])

    def _is_yes(self, url: str) -> bool:
        return self._told.get(url, url in self._seeds)

    def _forget(self, url: str) -> None:
        self.given.pop(url, None)
        self._chinese.pop(url, None)
        self._seeds.discard(url)


def most_frequent(counts: Counts) -> Counts:
    """Keep the most frequent terms of a page that has too many."""
    if len(counts) <= MOST_TERMS:
        return counts
    kept = sorted(counts, key=lambda term: -counts[term])[:MOST_TERMS]
    return {term: counts[term] for term in kept}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
