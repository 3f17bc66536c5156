"""Predict the level of a link: naive Bayes over the frequent words near links, as in ACHE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from thresher.records import Link
from thresher.text.tokens import tokenize
from thresher.urls.tokens import split_host
from thresher_lab.peers.naive_bayes import Features, NaiveBayes

MAX_WORDS = {"around": 100, "url": 150, "anchor": 150}
"""The most frequent words of each field are features."""
MIN_COUNT = 2
"""Links that must have a word nearby."""
MAX_ANCHOR, MAX_AROUND = 100, 200
"""Characters of a link that are read."""
REMEMBERED_TEXTS = 1 << 14


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The words of a link: of its URL, of its anchor, and around it."""

    url: tuple[str, ...]
    anchor: tuple[str, ...]
    around: tuple[str, ...]

    @classmethod
    def of(cls, url: str, anchor: str, around: str) -> Neighbourhood:
        """Tokenize the texts of a link; of the host only its ending counts."""
        host, path = split_host(url)
        ending = host.partition(":")[0].rpartition(".")[2]
        return cls((f"host_{ending}", *_terms(path)), _terms(anchor), _terms(around))

    def words(self) -> Iterable[tuple[str, str]]:
        """Return each word with its field, once."""
        fields = {"url": self.url, "anchor": self.anchor, "around": self.around}
        return dict.fromkeys((field, word) for field, words in fields.items() for word in words)


def words_near(link: Link) -> list[str]:
    """Return the words to store with a link, so that they are known when its page is fetched."""
    return [link.anchor[:MAX_ANCHOR], link.context[:MAX_AROUND]]


def neighbourhood(link: Link) -> Neighbourhood:
    """Read the words of a link."""
    return Neighbourhood.of(link.url, *words_near(link))


class LevelClassifier:
    """Predicts the probability of each level.

    Args:
        numbers: The features: a number for each word of a field.
        bayes: What was counted of them.
    """

    def __init__(self, numbers: Mapping[tuple[str, str], int], bayes: NaiveBayes) -> None:
        self._numbers = numbers
        self._bayes = bayes
        bayes.fit()

    @classmethod
    def train(cls, samples: Sequence[Sequence[Neighbourhood]]) -> LevelClassifier | None:
        """Learn from the links of each level; None while a level other than the first would be all there is."""
        if not samples[0] or not any(samples[1:]):
            return None
        numbers = {word: number for number, word in enumerate(_frequent(samples))}
        bayes = NaiveBayes(len(samples), len(numbers))
        for level, links in enumerate(samples):
            for link in links:
                bayes.add(level, _features(link, numbers))
        return cls(numbers, bayes)

    def levels(self, links: Sequence[Neighbourhood]) -> list[list[float]]:
        """Return the probabilities of all levels for each link."""
        found: list[list[float]] = self._bayes.predict([_features(link, self._numbers) for link in links]).tolist()
        return found

    def state(self) -> dict[str, Any]:
        """Return the learned state as JSON values."""
        words = [[*word, *self._bayes.counts[:, number].tolist()] for word, number in self._numbers.items()]
        return {"examples": self._bayes.examples.tolist(), "words": words}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LevelClassifier:
        """Restore what `state` returned."""
        numbers = {(str(field), str(word)): number for number, (field, word, *_) in enumerate(state["words"])}
        bayes = NaiveBayes(len(state["examples"]), len(numbers))
        bayes.examples[:] = state["examples"]
        for number, (_, _, *counts) in enumerate(state["words"]):
            bayes.counts[:, number] = counts
        return cls(numbers, bayes)


def _frequent(samples: Sequence[Sequence[Neighbourhood]]) -> list[tuple[str, str]]:
    counts = Counter(word for links in samples for link in links for word in link.words())
    chosen: list[tuple[str, str]] = []
    for field, most in MAX_WORDS.items():
        found = [(word, number) for word, number in counts.items() if word[0] == field and number >= MIN_COUNT]
        found.sort(key=lambda each: (-each[1], each[0]))
        chosen += [word for word, _ in found[:most]]
    return chosen


def _features(link: Neighbourhood, numbers: Mapping[tuple[str, str], int]) -> Features:
    return np.array([numbers[word] for word in link.words() if word in numbers], dtype=np.int32)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))
