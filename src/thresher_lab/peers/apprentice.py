"""The apprentice: Chakrabarti, Punera and Subramanyam, Accelerated focused crawling, WWW 2002.

A critic judges pages; an apprentice watches, and learns from the words around links which of them the critic will like.
An instance is a link (u, v): the words of page u near it, each with its offset from the link, with the relevance of v
for its target. Until there are enough of them, a link gets the relevance of the page it is on.

Logistic regression that learns one example at a time, over hashed features: a bounded number of weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, copysign, sqrt
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thresher.modelstate.codec import pack_both, unpack_both
from thresher.records import Candidate, Json, Judgement, Lease, Link, ParsedPage, Revision, StrategyData
from thresher.strategies.base import ScoreChange, StatefulStrategy
from thresher.text.tokens import tokenize
from thresher_lab.peers.saved_state import StateSaver
from thresher_lab.peers.waiting_links import WaitingLinks

SLOTS = 1 << 16
"""Weights; two features in one slot share theirs."""
BIAS, PAGE = 0, 1
"""Reserved slots: the bias, and the relevance of the page with the link."""
_OWN_SLOTS = 2
_LARGEST = 30.0


@dataclass(frozen=True, slots=True)
class HashedExample:
    """The features of one link: their slots, each once, and their values."""

    slots: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, names: Iterable[str], page: float) -> HashedExample:
        """Return an example whose names have a joint vector length of 1."""
        hashed = {_OWN_SLOTS + crc32(name.encode("utf-8", "replace")) % (SLOTS - _OWN_SLOTS) for name in names}
        slots = np.array([BIAS, PAGE, *sorted(hashed)], dtype=np.int32)
        values = np.full(len(slots), 1 / sqrt(max(len(hashed), 1)), dtype=np.float32)
        values[BIAS], values[PAGE] = 1.0, page
        return cls(slots, values)


class SparseLogistic:
    """Predicts the probability that a link leads to a relevant page.

    Args:
        rate: The length of a first step; AdaGrad shortens those that follow.
    """

    def __init__(self, *, rate: float = 0.3) -> None:
        self._rate = rate
        self._w = np.zeros(SLOTS, dtype=np.float32)
        self._G = np.zeros(SLOTS, dtype=np.float32)

    def predict(self, examples: Sequence[HashedExample]) -> NDArray[np.float64]:
        """Return the probabilities of some links."""
        if not examples:
            return np.zeros(0)
        rows = np.repeat(np.arange(len(examples)), [len(example.slots) for example in examples])
        slots = np.concatenate([example.slots for example in examples])
        values = np.concatenate([example.values for example in examples])
        return _logistic(np.bincount(rows, weights=self._w[slots] * values, minlength=len(examples)))

    def learn(self, example: HashedExample, target: float) -> None:
        """Take one step of gradient descent on the log-loss, towards a target from 0 to 1."""
        slots, values = example.slots, example.values
        p = _logistic(np.dot(self._w[slots], values))
        gradient = (p - target) * values
        self._G[slots] += gradient**2
        self._w[slots] -= self._rate * gradient / (np.sqrt(self._G[slots]) + 1e-6)

    def encode(self) -> dict[str, Any]:
        """Return the learned state as arrays."""
        used = np.flatnonzero(self._G).astype(np.int32)
        return {"slots": used, "w": self._w[used], "G": self._G[used]}

    def decode(self, arrays: dict[str, Any]) -> None:
        """Restore what `encode` returned.

        Raises:
            ValueError: It is something else.
        """
        slots = arrays["slots"]
        if len(slots) and not 0 <= slots.min() <= slots.max() < SLOTS:
            raise ValueError("a weight has no place")
        self._w[slots], self._G[slots] = arrays["w"], arrays["G"]


def _logistic(margin: Any) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(margin, -_LARGEST, _LARGEST))))


D_MAX = 5
"""The largest offset."""
WORDS_AN_OFFSET = 2
"""The ten words on each side of a link make five offsets."""
MAX_ANCHOR, MAX_AROUND = 100, 200
"""Characters that are stored with a link."""
MAX_EXAMPLES = 2_000
"""Examples per verdict, for replay; a random one is replaced by a new one."""
REMEMBERED_TEXTS = 1 << 14

Names = tuple[str, ...]


class Apprentice(StatefulStrategy):
    """Follow links by what their words led to before, learning with every page.

    The features of a link are stored with it. Weights are saved with the crawl; examples for replay and the links that
    are scored again are not, and a restart collects new ones. Each worker learns from the pages that it fetches.
    Bounded: 65,536 weights, 4,000 examples, and the latest 20,000 links.

    Args:
        first_examples: Relevant and irrelevant examples, of each, before the apprentice is used.
        rate: Learning rate.
        replay: Earlier examples that are replayed with each new one, alternating verdicts.
        rescore_every: Pages after which waiting links are scored again.
        random_state: The same number gives the same replay.
    """

    def __init__(
        self,
        *,
        first_examples: int = 5,
        rate: float = 0.3,
        replay: int = 6,
        rescore_every: int = 5,
        random_state: int = 0,
    ) -> None:
        if min(first_examples, rescore_every) < 1 or replay < 0:
            raise ValueError("first_examples and rescore_every must be at least 1, and replay at least 0")
        self._first_examples = first_examples
        self._replay = replay
        self._rescore_every = rescore_every
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._learner = SparseLogistic(rate=rate)
        self._seen = {True: 0, False: 0}
        self._examples: dict[bool, list[tuple[HashedExample, float]]] = {True: [], False: []}
        self._waiting: WaitingLinks[HashedExample] = WaitingLinks()
        self._new_pages = 0
        self._state = StateSaver("apprentice", self._write, self._read)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Learn from the link that led to this page, then score its own links."""
        self._waiting.leave(lease.url)
        self._new_pages += 1
        if example := _stored_example(lease.strategy_data):
            self._learn(example, judgement)
        yield from self._guess(page.links, judgement.reward)
        self._state.page_done()

    def on_miss(self, lease: Lease) -> Iterator[Candidate]:
        self._waiting.leave(lease.url)
        return iter(())

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Every few pages, rescore all remembered waiting links."""
        if self._new_pages < self._rescore_every or not self._is_trained:
            return {}
        self._new_pages = 0
        links = list(self._waiting.items())
        scores = self._learner.predict([example for _, example in links]).tolist()
        return self._waiting.rescore({url: score for (url, _), score in zip(links, scores, strict=True)})

    @property
    def _is_trained(self) -> bool:
        return min(self._seen.values()) >= self._first_examples

    def _guess(self, links: Sequence[Link], relevance: float) -> Iterator[Candidate]:
        examples = [_example(link.anchor, link.context, relevance) for link in links]
        guesses = self._learner.predict(examples).tolist() if self._is_trained else [relevance] * len(links)
        for link, example, guess in zip(links, examples, guesses, strict=True):
            self._waiting.add_best(link.url, guess, example)
            breakdown = {"page": relevance, "apprentice": guess} if self._is_trained else {"page": relevance}
            strategy_data: dict[str, Json] = {
                "anchor": link.anchor[:MAX_ANCHOR],
                "around": link.context[:MAX_AROUND],
                "page": relevance,
            }
            yield Candidate(url=link.url, score=guess, breakdown=breakdown, strategy_data=strategy_data)

    def _learn(self, example: HashedExample, judgement: Judgement) -> None:
        """Learn from a new instance, and again from some of the earlier ones."""
        self._seen[judgement.relevant] += 1
        self._learner.learn(example, judgement.reward)
        for turn in range(self._replay):
            if earlier := self._examples[turn % 2 == 0]:
                self._learner.learn(*self._random.choice(earlier))
        kept = self._examples[judgement.relevant]
        if len(kept) >= MAX_EXAMPLES:
            kept.pop(self._random.randrange(len(kept)))
        kept.append((example, judgement.reward))

    def _write(self) -> bytes:
        return pack_both(self._learner.encode(), {"seen": [self._seen[True], self._seen[False]]})

    def _read(self, content: bytes) -> None:
        arrays, values = unpack_both(content)
        self._learner.decode(arrays)
        self._seen = dict(zip((True, False), map(int, values["seen"]), strict=True))


def names_of(anchor: str, around: str) -> Names:
    """Name each word near a link with its offset: 0 inside the anchor, -1 and 1 for the two nearest on a side, …."""
    terms = tokenize(around)
    middle = (len(terms) - 1) / 2
    offsets = (copysign(min(ceil((abs(place - middle) + 0.5) / WORDS_AN_OFFSET), D_MAX), place - middle)
               for place in range(len(terms)))  # fmt: skip
    return (*(f"{term}@0" for term in tokenize(anchor)), *map("{}@{:+.0f}".format, terms, offsets))


_names = lru_cache(maxsize=REMEMBERED_TEXTS)(names_of)


def _example(anchor: str, around: str, relevance: float) -> HashedExample:
    return HashedExample.of(_names(anchor[:MAX_ANCHOR], around[:MAX_AROUND]), relevance)


def _stored_example(strategy_data: StrategyData) -> HashedExample | None:
    """Return the features of the link that led to a page; none for a seed."""
    anchor, around, relevance = strategy_data.get("anchor"), strategy_data.get("around"), strategy_data.get("page")
    if isinstance(anchor, str) and isinstance(around, str) and isinstance(relevance, int | float):
        return _example(anchor, around, float(relevance))
    return None
