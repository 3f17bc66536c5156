"""Learning layers again while crawling: SURVEY asks that context graphs be updated by what the crawl finds."""

from __future__ import annotations

import logging

from thresher.classify.base import Notebook
from thresher.errors import ConfigError
from thresher.records import ParsedPage
from thresher.strategies.layer_model import LayerModel
from thresher.strategies.layering.crawled import CrawledPages

logger = logging.getLogger(__name__)

NOTES = "layers"


class Relearner:
    """Remembers the pages of a crawl, and after so many new targets learns the layers from them.

    The pages of the last learning are written down, and a restart learns from them again: the same model. Pages that
    came after it are forgotten. Each worker learns from its own pages.

    Args:
        every: New targets after which layers are learned again; 0 for never.
    """

    def __init__(self, every: int) -> None:
        if every < 0:
            raise ValueError(f"retrain_every must be a number of targets, or 0 for never; got {every}")
        self._every = every
        self._pages = CrawledPages()
        self._new_targets = 0
        self._notebook: Notebook | None = None

    def take_in(self, page: ParsedPage, model: LayerModel, *, target: bool) -> LayerModel:
        """Remember a page; return what is now known of layers."""
        if not self._every:
            return model
        self._pages.add(page, target=target)
        self._new_targets += target
        if self._new_targets < self._every:
            return model
        self._new_targets = 0
        if self._notebook:
            self._notebook.write(NOTES, self._pages.to_bytes())
        return self._learn(model)

    def keep_in(self, notebook: Notebook, model: LayerModel) -> LayerModel:
        """Take up the pages of an earlier run; return what was known of layers then."""
        content = notebook.read(NOTES) if self._every else None
        self._notebook = notebook
        if not content:
            return model
        self._pages.go_on_from(content)
        return self._learn(model)

    def _learn(self, model: LayerModel) -> LayerModel:
        from thresher.strategies.layering.learn import learn_layers

        pages = self._pages.numbered()
        try:
            return learn_layers(pages, pages.targets, N=model.N).model
        except ConfigError as error:
            logger.info("layers stay as they are: %s", error)
            return model
