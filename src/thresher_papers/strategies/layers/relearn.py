"""Retraining of layers while crawling: SURVEY requires that context graphs be updated by what the crawl finds."""

from __future__ import annotations

import logging
from uuid import uuid4

from thresher.errors import ConfigError
from thresher.judges.base import StateStore
from thresher.modelstate.codec import readable
from thresher.modelstate.schedule import RefitSchedule
from thresher.records import ParsedPage
from thresher_papers.judges.trained.learner import require_scikit_learn
from thresher_papers.strategies.layers.crawled import CrawledPages
from thresher_papers.strategies.layers.model import LayerModel

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
