"""Learning layers again while crawling: SURVEY asks that context graphs be updated by what the crawl finds."""

from __future__ import annotations

import logging
from uuid import uuid4

from thresher.classify.base import Notebook
from thresher.classify.entries import readable
from thresher.classify.example_learner import need_learning
from thresher.classify.rhythm import Rhythm
from thresher.errors import ConfigError
from thresher.records import ParsedPage
from thresher.strategies.layer_model import LayerModel
from thresher.strategies.layering.crawled import CrawledPages

logger = logging.getLogger(__name__)

NOTES = "layers"


class Relearner:
    """Remembers the pages of a crawl, and after so many new targets learns the layers from them.

    The latest pages are written down every now and then, and a restart learns from them again. Workers read each
    other's pages, and learn from all of them.

    Args:
        every: New targets after which layers are learned again; 0 for never.
    """

    def __init__(self, every: int) -> None:
        if every < 0:
            raise ValueError(f"retrain_every must be a number of targets, or 0 for never; got {every}")
        self._every = every
        self._pages = CrawledPages()
        self._own_targets = self._learned_targets = 0
        self._seen = 0
        self._rhythm = Rhythm()
        self._worker = uuid4().hex
        self._notebook: Notebook | None = None

    def take_in(self, page: ParsedPage, model: LayerModel, *, target: bool) -> LayerModel:
        """Remember a page; return what is now known of layers."""
        if not self._every:
            return model
        self._pages.add(page, target=target)
        self._seen += 1
        self._own_targets += target
        if self._rhythm.is_read_due(self._seen):
            self._read_others()
        is_due = target and self._targets() >= self._learned_targets + self._every
        if is_due or self._rhythm.is_write_due(self._seen):
            self._write()
        return self._learn(model) if is_due else model

    def keep_in(self, notebook: Notebook, model: LayerModel) -> LayerModel:
        """Take up the pages of an earlier run, and those of other workers; return what is known of layers by them."""
        self._notebook = notebook
        if not self._every:
            return model
        if content := notebook.read(NOTES):
            self._worker = self._pages.go_on_from(content)
        self._read_others()
        return self._learn(model) if content or self._pages.others_targets() else model

    def _targets(self) -> int:
        return self._own_targets + self._pages.others_targets()

    def _write(self) -> None:
        if self._notebook:
            self._notebook.write(NOTES, self._pages.to_bytes(self._worker))
        self._rhythm.written(self._seen)

    def _read_others(self) -> None:
        self._rhythm.read(self._seen)
        entries = self._notebook.read_others(NOTES) if self._notebook else ()
        for worker in readable(entries, self._pages.take_over, "pages"):
            if worker == self._worker:
                self._pages.forget(worker)

    def _learn(self, model: LayerModel) -> LayerModel:
        pages, self._learned_targets = self._pages.numbered(), self._targets()
        try:
            need_learning("learning again")
            from thresher.strategies.layering.learn import learn_layers

            return learn_layers(pages, pages.targets, N=model.N).model
        except ConfigError as error:
            logger.info("layers stay as they are: %s", error)
            return model
