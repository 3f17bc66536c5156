"""What must outlive a worker, and what it tells the others.

A worker writes down its model, words and places for itself: after a restart, or as a first help for a new worker,
learning goes on from there. The links it knows are not written down; what waits keeps its last score.

To the others it tells what became of the latest URLs, by their fingerprints. Each learns from that by the links to them
that it knows itself. Hearing it twice changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from thresher.classify.base import Notebook
from thresher.classify.entries import fitted, pack_both, readable, unpack_both
from thresher.classify.rhythm import Rhythm
from thresher.strategies.learned.model import Model
from thresher.strategies.learned.net import Net
from thresher.strategies.learned.places import Places
from thresher.strategies.learned.words import Words

LEARNED, OUTCOMES = "learned", "outcomes"
"""The kinds of entries."""
MOST_NAMES = 20_000
"""Words, and places, that are written down."""
MOST_OUTCOMES = 2_000

Outcome = tuple[int, float]
"""A URL's fingerprint, and how relevant its page was."""


class Notes:
    """Writes down what a worker learned, and reads what others found out."""

    def __init__(self, model: Model, words: Words, places: Places, net: Net | None = None) -> None:
        self._model = model
        self._words = words
        self._places = places
        self._net = net
        self._latest: deque[Outcome] = deque(maxlen=MOST_OUTCOMES)
        self._rhythm = Rhythm()
        self._pages = 0
        self._notebook: Notebook | None = None

    def keep_in(self, notebook: Notebook) -> Sequence[Outcome]:
        """Take up what was learned before; a new worker begins with what one of the others has learned.

        Return what became of the latest URLs of this worker.
        """
        self._notebook = notebook
        if content := notebook.read(OUTCOMES):
            self._latest.extend(_read_outcomes(content))
        if content := notebook.read(LEARNED):
            self._go_on_from(content)
        else:
            next(islice(readable(notebook.read_others(LEARNED), self._go_on_from, "what was learned"), 1), None)
        return tuple(self._latest)

    def page_done(self, key: int, relevance: float) -> Iterator[Outcome]:
        """Note what became of a URL; every now and then write down what was learned, and give what others told."""
        self._pages += 1
        self._latest.append((key, relevance))
        if self._rhythm.is_write_due(self._pages):
            self.write_down()
        if self._notebook and self._rhythm.is_read_due(self._pages):
            self._rhythm.read(self._pages)
            for told in readable(self._notebook.read_others(OUTCOMES), _read_outcomes, "outcomes"):
                yield from told

    def write_down(self) -> None:
        """Write down what was learned."""
        if self._notebook:
            content, _ = fitted(self._entry, MOST_NAMES)
            self._notebook.write(LEARNED, content)
            keys, relevance = zip(*self._latest, strict=True) if self._latest else ((), ())
            arrays = {"keys": np.array(keys, dtype=np.int64), "relevance": np.array(relevance, dtype=np.float32)}
            self._notebook.write(OUTCOMES, pack_both(arrays, {}))
        self._rhythm.written(self._pages)

    def _entry(self, most: int) -> bytes:
        words, word_counts = self._words.state(most)
        places, place_counts = self._places.state(most)
        net = self._net.state() if self._net else {}
        arrays = {**self._model.state(), **net, "word_counts": word_counts, "place_counts": place_counts}
        return pack_both(arrays, {"words": words, "places": places})

    def _go_on_from(self, content: bytes) -> None:
        arrays, names = unpack_both(content)
        self._model.go_on_from(arrays)
        self._words.go_on_from(names["words"], arrays["word_counts"])
        self._places.go_on_from(names["places"], arrays["place_counts"])
        if self._net:
            self._net.resume_from(arrays)


def _read_outcomes(content: bytes) -> list[Outcome]:
    arrays, _ = unpack_both(content)
    keys, relevance = arrays["keys"].tolist(), np.clip(arrays["relevance"], 0.0, 1.0).tolist()
    return list(zip(keys, relevance, strict=True))
