"""Retraining of layers while crawling: SURVEY requires that context graphs be updated by what the crawl finds.

The latest pages of the running crawl, as training pages for layers.

Pages of other workers are included: a page and the one that links to it are often fetched by different workers. Only
the beginning of a page's text is exchanged, compressed once when the page is added.
"""

from __future__ import annotations

import json
import logging
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from uuid import uuid4

import numpy as np

from thresher.errors import ConfigError
from thresher.judges.base import StateStore
from thresher.linkgraph import LinkGraph
from thresher.modelstate.codec import ENTRY_BYTES, BadEntry, compress, decompress, readable
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import ParsedPage
from thresher.urls.canonical import fingerprint
from thresher_papers.judges.trained.learner import require_scikit_learn
from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.strategies.layers.source import ELSEWHERE

MAX_PAGES = 3_000
"""Limit of the worker's own pages, and of those of all other workers together; the oldest are dropped."""
MAX_CHARACTERS = 20_000
"""Of a page's text."""
SENT_CHARACTERS, SENT_LINKS = 4_000, 200
"""Of a page that is saved and exchanged."""
_LENGTH = 4
_MAX_ROW_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class _Page:
    text: str
    links: array[int]
    target: bool


class CrawledPages:
    """Text and links of the latest pages, without anchors.

    Args:
        most: How many pages are remembered.
    """

    def __init__(self, *, most: int = MAX_PAGES) -> None:
        self._most = most
        self._pages: dict[int, _Page] = {}
        self._packed: dict[int, bytes] = {}
        self._others: dict[str, dict[int, _Page]] = {}

    def add(self, page: ParsedPage, *, target: bool) -> None:
        links = array("q", dict.fromkeys(fingerprint(link.url) for link in page.links))
        self._remember(fingerprint(page.url), _Page(page.text[:MAX_CHARACTERS], links, target))

    def _remember(self, url: int, page: _Page) -> None:
        self._pages[url], self._packed[url] = page, _pack(url, page)
        if len(self._pages) > self._most:
            oldest = next(iter(self._pages))
            del self._pages[oldest], self._packed[oldest]

    def others_targets(self) -> int:
        return sum(page.target for pages in self._others.values() for page in pages.values())

    def numbered(self) -> NumberedPages:
        """Return a snapshot of the pages for training: the own, and those that only others have."""
        others = chain.from_iterable(pages.items() for pages in self._others.values())
        return NumberedPages({**self._pages, **{url: page for url, page in others if url not in self._pages}})

    def to_bytes(self, worker: str = "") -> bytes:
        """Encode the latest pages, as many as fit into an entry."""
        rows, room = [], ENTRY_BYTES - len(worker.encode()) - _LENGTH
        for row in reversed(self._packed.values()):
            room -= len(row) + _LENGTH
            if room < 0:
                break
            rows.append(row)
        return b"".join(len(row).to_bytes(_LENGTH) + row for row in [worker.encode(), *reversed(rows)])

    def restore(self, content: bytes) -> str:
        """Restore the pages that `to_bytes` encoded; return their worker.

        Raises:
            BadEntry: They cannot be decoded.
        """
        worker, pages = _read(content)
        self._pages, self._packed = {}, {}
        for url, page in pages.items():
            self._remember(url, page)
        return worker

    def merge(self, content: bytes) -> str:
        """Replace the pages of another worker; return its id.

        Raises:
            BadEntry: They cannot be decoded.
        """
        worker, self._others[worker] = _read(content)
        each = self._most // len(self._others)
        for name, pages in self._others.items():
            self._others[name] = dict(list(pages.items())[-each:])
        return worker

    def forget(self, worker: str) -> None:
        self._others.pop(worker, None)


def _pack(url: int, page: _Page) -> bytes:
    row = [url, page.target, page.text[:SENT_CHARACTERS], page.links[:SENT_LINKS].tolist()]
    return compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))


def _read(content: bytes) -> tuple[str, dict[int, _Page]]:
    chunks, place = [], 0
    while place < len(content):
        length = int.from_bytes(content[place : place + _LENGTH])
        place += _LENGTH + length
        if place > len(content):
            raise BadEntry("it is cut short")
        chunks.append(content[place - length : place])
    if not chunks:
        raise BadEntry("it is empty")
    rows = (json.loads(decompress(chunk, most=_MAX_ROW_BYTES)) for chunk in chunks[1:])
    pages = {int(url): _Page(str(text), array("q", links), bool(target)) for url, target, text, links in rows}
    return chunks[0].decode(), pages


class NumberedPages:
    """Pages of a crawl as a training source, numbered from the oldest."""

    def __init__(self, pages: Mapping[int, _Page]) -> None:
        self._pages = list(pages.values())
        self._numbers = {url: number for number, url in enumerate(pages)}

    @property
    def targets(self) -> list[int]:
        return [number for number, page in enumerate(self._pages) if page.target]

    @cached_property
    def graph(self) -> LinkGraph:
        ends = [(page, target) for page in range(len(self._pages)) for target, _ in self.links(page)]
        return LinkGraph.from_edges(len(self._pages), np.array(ends, dtype=np.int64).reshape(-1, 2))

    def text(self, page: int) -> str:
        return self._pages[page].text

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        return ((self._numbers.get(url, ELSEWHERE), "") for url in self._pages[page].links)


logger = logging.getLogger(__name__)

STATE_KIND = "layers"


class Relearner:
    """Remembers the pages of a crawl, and retrains the layers on them after a number of new targets.

    The latest pages are saved now and then, and a restart trains on them again. Workers read each other's pages, and
    train on all of them.

    Args:
        every: New targets between two trainings; 0 for never.
    """

    def __init__(self, every: int) -> None:
        if every < 0:
            raise ValueError(f"retrain_every must be a number of targets, or 0 for never; got {every}")
        self._every = every
        self._pages = CrawledPages()
        self._own_targets = self._learned_targets = 0
        self._seen = 0
        self._refit_schedule = RefitSchedule()
        self._worker = uuid4().hex
        self._state_store: StateStore | None = None

    def add_page(self, page: ParsedPage, model: LayerModel, *, target: bool) -> LayerModel:
        """Remember a page; return the current model."""
        if not self._every:
            return model
        self._pages.add(page, target=target)
        self._seen += 1
        self._own_targets += target
        if self._refit_schedule.is_read_due(self._seen):
            self._read_others()
        is_due = target and self._targets() >= self._learned_targets + self._every
        if is_due or self._refit_schedule.is_write_due(self._seen):
            self._write()
        return self._learn(model) if is_due else model

    def load_state(self, state_store: StateStore, model: LayerModel) -> LayerModel:
        """Load the pages of an earlier run, and those of other workers; return the model trained on them."""
        self._state_store = state_store
        if not self._every:
            return model
        if content := state_store.read(STATE_KIND):
            self._worker = self._pages.restore(content)
        self._read_others()
        return self._learn(model) if content or self._pages.others_targets() else model

    def _targets(self) -> int:
        return self._own_targets + self._pages.others_targets()

    def _write(self) -> None:
        if self._state_store:
            self._state_store.write(STATE_KIND, self._pages.to_bytes(self._worker))
        self._refit_schedule.written(self._seen)

    def _read_others(self) -> None:
        self._refit_schedule.read(self._seen)
        entries = self._state_store.read_others(STATE_KIND) if self._state_store else ()
        for worker in readable(entries, self._pages.merge, "pages"):
            if worker == self._worker:
                self._pages.forget(worker)

    def _learn(self, model: LayerModel) -> LayerModel:
        pages, self._learned_targets = self._pages.numbered(), self._targets()
        try:
            require_scikit_learn("learning again")
            from thresher_papers.strategies.layers.learn import learn_layers

            return learn_layers(pages, pages.targets, N=model.N).model
        except ConfigError as error:
            logger.info("layers stay as they are: %s", error)
            return model
