"""Apply revised judgements of a learning judge to the page store, and re-score the frontier.

Other pages may be in progress when the judge is refitted. Their revisions are held back until their own records are
settled, so that no old verdict overwrites a new one.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

from thresher.feedback.forecast import ForecastPublisher
from thresher.feedback.warm_start import warm_start
from thresher.frontier.base import CrawlStore
from thresher.judges.base import Judge, Learner
from thresher.records import LABEL_PART, Judgement, Lease, ParsedPage, Revision
from thresher.storage.page_store import Archive, PageStoreWriter, StoredPage, unpacked_text
from thresher.strategies.base import Batched, Rescorer, Stateful, Strategy, WarmStartable

logger = logging.getLogger(__name__)

REJUDGE_BATCH = 200
"""Pages that are rejudged at once; between two batches other work goes on."""
LEAST_CHANGE = 0.01
"""A stored judgement is replaced when its relevance changes by more than this, or its verdict changes."""
MOST_LEARNED_AGAIN = 20
"""Labelled pages that are not in the judge's sample are added again, the latest this many: each costs a refit."""


class JudgementUpdater:
    """Trains the judge, and applies its revised judgements of earlier pages."""

    def __init__(self, *, judge: Judge, strategy: Strategy, frontier: CrawlStore, archive: Archive) -> None:
        self._learner = judge if isinstance(judge, Learner) else None
        self._rescorer = strategy if isinstance(strategy, Rescorer) else None
        self._stateful = strategy if isinstance(strategy, Stateful) else None
        self._warm_startable = strategy if isinstance(strategy, WarmStartable) else None
        self._batch_size = strategy.batch_size if isinstance(strategy, Batched) else 0
        self._forecast_publisher = ForecastPublisher(strategy, frontier)
        self.frontier = frontier
        self._archive = archive
        self._in_progress: set[str] = set()
        self._held_back: dict[str, Revision] = {}
        self._labels: dict[str, bool | None] = {}

    async def learn(self, page: ParsedPage, *, seed: bool) -> None:
        """Train the judge on a page that is about to be judged, and apply its revisions of other pages.

        This happens before the page is settled, so that the next lease sees the frontier in its new order.
        """
        if self._learner:
            self._in_progress.add(page.url)
            revisions = self._learner.learn(page, seed=seed)
            self._held_back.update((revision.url, revision) for revision in revisions)
            if ready := self._take_ready():
                await self._apply_revisions(ready)

    def vector(self, page: ParsedPage) -> bytes:
        """Return the term vector that a learning judge needs to rejudge a page; empty for judges that never change."""
        return self._learner.vector(page) if self._learner else b""

    async def rejudge(self) -> None:
        """Rejudge every page of the worker's segment with the current model.

        A learning judge revises the pages of its own sample; this covers all others.
        """
        if self._learner:
            async for revisions in _rejudged(self._learner, self._archive):
                await self._apply_revisions(revisions)

    async def warm_start(self, pages: Path) -> int:
        """Give the strategy the stored pages that link to the best waiting URLs; return how many pages."""
        return await warm_start(self._warm_startable, self.frontier, pages) if self._warm_startable else 0

    async def teach(
        self, labels: Mapping[str, bool | None], page_of: Callable[[str], ParsedPage | None] = lambda url: None
    ) -> None:
        """Train the judge on labels, and update the page store and the frontier.

        Args:
            labels: By URL whether a page is about the topic; None withdraws an earlier label.
            page_of: Returns a page that was fetched before, for a judge that no longer has it in its sample.
        """
        revisions = self._learn_labels(labels, page_of) if self._learner else []
        if not self._learner:
            self._labels.update(labels)  # for pages that are not fetched yet
        revised = {revision.url for revision in revisions}
        revisions += [_labelled(url, yes) for url, yes in labels.items() if yes is not None and url not in revised]
        self._held_back.update((revision.url, revision) for revision in revisions)
        await self._apply_revisions(self._take_ready())

    def _learn_labels(
        self, labels: Mapping[str, bool | None], page_of: Callable[[str], ParsedPage | None]
    ) -> list[Revision]:
        assert self._learner is not None
        revisions = list(self._learner.teach(labels))
        missing = [url for url, yes in labels.items() if yes is not None and not self._learner.remembers(url)]
        for url in missing[-MOST_LEARNED_AGAIN:]:
            if page := page_of(url):
                revisions += self._learner.learn(page)
        return revisions

    async def refill_batch(self, lease: Lease) -> None:
        """Raise the scores of the next batch when the current one is empty: when the best URL has a score below 0.

        The leased URL is the first of the batch.
        """
        if self._batch_size and lease.score < 0:
            rest = await self.frontier.peek(self._batch_size - 1)
            if all(entry.score < 0 for entry in rest):
                await self.frontier.rescore({entry.url: entry.score + 1 for entry in rest})

    async def settled(self, url: str, relevance: float | None = None) -> None:
        """Apply the revisions held back for a page, now that it is settled, and the strategy's own new scores.

        Args:
            relevance: Of the page, 0 when there was none; None for a settlement that is not the fetch of a new URL.
        """
        self._in_progress.discard(url)
        if (yes := self._labels.get(url)) is not None:
            self._held_back[url] = _labelled(url, yes)
        await self._apply_revisions(self._take_ready())
        if relevance is not None:
            await self._forecast_publisher.fetched(relevance)

    def close(self) -> None:
        """Save the state of judge and strategy."""
        if self._learner:
            self._learner.save_state()
        if self._stateful:
            self._stateful.save_state()

    async def aclose(self) -> None:
        """Save the state, and close the frontier and the page store, where no pipeline does so."""
        self.close()
        await self.frontier.close()
        self._archive.close()

    def _take_ready(self) -> list[Revision]:
        """Remove and return the revisions of pages that are not in progress."""
        ready = [revision for revision in self._held_back.values() if revision.url not in self._in_progress]
        for revision in ready:
            del self._held_back[revision.url]
        return ready

    async def _apply_revisions(self, revisions: Sequence[Revision]) -> None:
        if revisions and (verdicts := await self._archive.revise(revisions)):
            await self.frontier.adjust_relevant(verdicts)
        changes = self._rescorer.revise(revisions) if self._rescorer else {}
        if changes:
            scores = {url: change.now for url, change in changes.items()}
            await self.frontier.rescore(scores, was={url: change.was for url, change in changes.items()})


async def rejudge_segments(judge: Judge, paths: Sequence[Path], frontier: CrawlStore) -> None:
    """Rejudge all pages of segments with one model, and adjust the frontier's counts; no worker may write to them."""
    if not isinstance(judge, Learner):
        return
    for path in paths:
        segment = PageStoreWriter(path)
        try:
            async for revisions in _rejudged(judge, segment):
                await frontier.adjust_relevant(await segment.revise(revisions))
        finally:
            segment.close()


async def _rejudged(learner: Learner, archive: Archive) -> AsyncIterator[list[Revision]]:
    """Yield the changed judgements of an archive, batch by batch."""
    last = 0
    while batch := await archive.stored(last, REJUDGE_BATCH):
        last = batch[-1].row_id
        yield [revision for page in batch if (revision := _rejudgement(learner, page))]


def _rejudgement(learner: Learner, page: StoredPage) -> Revision | None:
    """Rejudge a stored page; None when nothing changed, or when too little of it was stored."""
    try:
        vector = page.terms or learner.vector(_parsed(page)) if page.terms or page.text else b""
        judgement = learner.judge_vector(page.url, page.language, vector) if vector else None
    except ValueError:
        logger.warning("terms of a page cannot be read: %s", page.url)
        return None
    if judgement is None:
        return None
    same = judgement.relevant == page.relevant and abs(judgement.relevance - page.relevance) <= LEAST_CHANGE
    return None if same else Revision(url=page.url, judgement=judgement)


def _parsed(page: StoredPage) -> ParsedPage:
    return ParsedPage(url=page.url, title=page.title, text=unpacked_text(page.text), language=page.language)


def _labelled(url: str, yes: bool) -> Revision:
    """Return a revision that has the label as its verdict, for a page that the judge did not revise."""
    certain = float(yes)
    judgement = Judgement(relevance=certain, relevant=yes, parts={LABEL_PART: certain})
    return Revision(url=url, judgement=judgement)
