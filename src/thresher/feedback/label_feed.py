"""Feeds labels to a worker: polls the label log, retrains the judge, rejudges stored pages, acknowledges the labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from thresher.config.event_log import log_event
from thresher.feedback.labels import Label, LabelStore, acknowledge_labels, acknowledged, latest_labels
from thresher.feedback.updates import JudgementUpdater
from thresher.records import ONE_TOPIC, ParsedPage
from thresher.storage.reader import PageStoreReader, kept_page
from thresher.urls.canonical import fingerprint

POLL_SECONDS = 1.0
REJUDGE_SHARE = 0.1
"""Largest share of a worker's time for rejudging all of its pages while labels keep arriving."""


class LabelFeed:
    """Feeds new labels to the judge of one worker.

    Args:
        pages: The page store, to look up labelled pages that are not in the judge's sample.
        topics: The names of all topics of the crawl.
    """

    def __init__(
        self,
        label_store: LabelStore,
        updater: JudgementUpdater,
        *,
        worker: str,
        pages: Path,
        topics: Iterable[str] = (ONE_TOPIC,),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label_store = label_store
        self._updater = updater
        self._worker = worker
        self._pages = pages
        self._topics = topics
        self._clock = clock
        self._read = 0
        self._log: list[Label] = []
        self._reported = -1
        self._stale = False
        self._next = self._next_rejudge = 0.0

    async def begin(self) -> None:
        """Warm-start the strategy from earlier runs, and apply all labels: some may be newer than the judge's state."""
        await self._updater.warm_start(self._pages)
        await self.poll()

    async def poll(self) -> None:
        """Apply new labels, at most once a second; acknowledge them once all pages were rejudged."""
        if self._clock() < self._next:
            return
        labels, self._read = await self._label_store.read(self._read)
        if labels:
            await self._teach(labels)
            log_event("labels applied", labels=len(labels))
            known = await acknowledged(self._updater.frontier, self._worker)  # by an earlier run
            self._stale = self._stale or known != self._read
        if self._stale and self._clock() >= self._next_rejudge:
            await self._rejudge()
        if not self._stale and self._reported != self._read:
            self._reported = self._read
            await acknowledge_labels(self._updater.frontier, self._worker, self._read)
        self._next = self._clock() + POLL_SECONDS

    async def _teach(self, labels: Sequence[Label]) -> None:
        self._log += labels
        new = {label.url for label in labels}
        log = [label for label in self._log if label.url in new]  # an earlier label of a person may overrule
        await self._updater.teach({topic: latest_labels(log, topic) for topic in self._topics}, self._page)

    async def _rejudge(self) -> None:
        began = self._clock()
        await self._updater.rejudge()
        self._stale = False
        self._next_rejudge = self._clock() + (self._clock() - began) / REJUDGE_SHARE

    async def close(self) -> None:
        await self._label_store.close()

    def _page(self, url: str) -> ParsedPage | None:
        with PageStoreReader(self._pages) as collection:
            found = kept_page(collection, fingerprint(url))
        return found[0] if found else None
