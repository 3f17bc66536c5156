"""Second thoughts: when a judge that learns changes its mind, the page store and the queue follow.

Other pages may be under way when the judge thinks again. What it now thinks of those is held back until their own
records are settled, so that no old verdict overwrites a new one.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

from thresher.archive.pages import Archive, PageWriter, StoredPage, unpacked_text
from thresher.classify.base import Judge, Learner
from thresher.frontier.base import Frontier
from thresher.outlook import Outlook
from thresher.recollect import recollect
from thresher.records import TOLD, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import Batcher, Recaller, Rememberer, Rescorer, Strategy

logger = logging.getLogger(__name__)

REJUDGE_BATCH = 200
"""Pages that are judged again at once; between two batches other work goes on."""
LEAST_CHANGE = 0.01
"""A judgement of a stored page is replaced when its relevance changes by more, or its verdict."""
MOST_LEARNED_AGAIN = 20
"""Of the labelled pages that a judge has no longer at hand it learns so many, the latest: each is a second thought."""


class Rethink:
    """Lets the judge learn, and passes on what it thinks of earlier pages."""

    def __init__(self, *, judge: Judge, strategy: Strategy, frontier: Frontier, archive: Archive) -> None:
        self._learner = judge if isinstance(judge, Learner) else None
        self._rescorer = strategy if isinstance(strategy, Rescorer) else None
        self._rememberer = strategy if isinstance(strategy, Rememberer) else None
        self._recaller = strategy if isinstance(strategy, Recaller) else None
        self._batch_size = strategy.batch_size if isinstance(strategy, Batcher) else 0
        self._outlook = Outlook(strategy, frontier)
        self.frontier = frontier
        self._archive = archive
        self._under_way: set[str] = set()
        self._held_back: dict[str, Revision] = {}
        self._told: dict[str, bool | None] = {}

    async def take_in(self, page: ParsedPage, *, seed: bool) -> None:
        """Let the judge learn from a page that is about to be judged, and pass on what it now thinks of others.

        Before the page is settled: whoever asks for the next URL then finds the queue in its new order.
        """
        if self._learner:
            self._under_way.add(page.url)
            revisions = self._learner.learn(page, seed=seed)
            self._held_back.update((revision.url, revision) for revision in revisions)
            if ready := self._take_ready():
                await self._pass_on(ready)

    def vector(self, page: ParsedPage) -> bytes:
        """Give what a learning judge needs to judge a page again; empty for other judges, which never change."""
        return self._learner.vector(page) if self._learner else b""

    async def rejudge(self) -> None:
        """Judge every page of the worker's segment again with the model of now.

        A learning judge revises the pages of its sample by itself; this reaches all others.
        """
        if self._learner:
            async for revisions in _rejudged(self._learner, self._archive):
                await self._pass_on(revisions)

    async def take_up(self, pages: Path) -> int:
        """Let the strategy have at hand what the best waiting URLs were found on; return how many pages."""
        return await recollect(self._recaller, self.frontier, pages) if self._recaller else 0

    async def teach(
        self, told: Mapping[str, bool | None], page_of: Callable[[str], ParsedPage | None] = lambda url: None
    ) -> None:
        """Let the judge hear what people said of pages, and let the page store and the queue follow.

        Args:
            told: By URL whether a page is about the topic; None where an earlier word is taken back.
            page_of: Gives a page that was fetched before, for a judge that has it no longer at hand.
        """
        revisions = self._taught(told, page_of) if self._learner else []
        if not self._learner:
            self._told.update(told)  # for pages that are not fetched yet
        said = {revision.url for revision in revisions}
        revisions += [_as_told(url, yes) for url, yes in told.items() if yes is not None and url not in said]
        self._held_back.update((revision.url, revision) for revision in revisions)
        await self._pass_on(self._take_ready())

    def _taught(self, told: Mapping[str, bool | None], page_of: Callable[[str], ParsedPage | None]) -> list[Revision]:
        assert self._learner is not None
        revisions = list(self._learner.teach(told))
        lacking = [url for url, yes in told.items() if yes is not None and not self._learner.remembers(url)]
        for url in lacking[-MOST_LEARNED_AGAIN:]:
            if page := page_of(url):
                revisions += self._learner.learn(page)
        return revisions

    async def ready(self, lease: Lease) -> None:
        """Move the next batch into the ready queue when that is empty: when a URL that waits below 0 was the best.

        The leased URL is the first of the batch.
        """
        if self._batch_size and lease.score < 0:
            rest = await self.frontier.peek(self._batch_size - 1)
            if all(entry.score < 0 for entry in rest):
                await self.frontier.rescore({entry.url: entry.score + 1 for entry in rest})

    async def settled(self, url: str, relevance: float | None = None) -> None:
        """Pass on what was held back for a page, now that it is settled, and what the strategy thinks of its own.

        Args:
            url: Of the page.
            relevance: Of the page, 0 when there was none; None for a settlement that is no fetch of a new URL.
        """
        self._under_way.discard(url)
        if (yes := self._told.get(url)) is not None:
            self._held_back[url] = _as_told(url, yes)
        await self._pass_on(self._take_ready())
        if relevance is not None:
            await self._outlook.fetched(relevance)

    def close(self) -> None:
        """Write down what was learned."""
        if self._learner:
            self._learner.write_down()
        if self._rememberer:
            self._rememberer.write_down()

    async def let_go(self) -> None:
        """Write down what was learned, and close the stores, where no line does so."""
        self.close()
        await self.frontier.close()
        self._archive.close()

    def _take_ready(self) -> list[Revision]:
        """Take what need not be held back any longer."""
        ready = [revision for revision in self._held_back.values() if revision.url not in self._under_way]
        for revision in ready:
            del self._held_back[revision.url]
        return ready

    async def _pass_on(self, revisions: Sequence[Revision]) -> None:
        if revisions and (verdicts := await self._archive.revise(revisions)):
            await self.frontier.adjust_relevant(verdicts)
        changes = self._rescorer.revise(revisions) if self._rescorer else {}
        if changes:
            scores = {url: change.now for url, change in changes.items()}
            await self.frontier.rescore(scores, was={url: change.was for url, change in changes.items()})


async def rejudge_segments(judge: Judge, paths: Sequence[Path], frontier: Frontier) -> None:
    """Judge all pages of segments again with one model; no worker may write to them. The frontier's counts follow."""
    if not isinstance(judge, Learner):
        return
    for path in paths:
        segment = PageWriter(path)
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
    """Judge a stored page again; None when nothing changed, or when too little of it was kept."""
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


def _as_told(url: str, yes: bool) -> Revision:
    """Say of a page what a person said, for a judge that has nothing to add."""
    certain = float(yes)
    judgement = Judgement(relevance=certain, relevant=yes, parts={TOLD: certain})
    return Revision(url=url, judgement=judgement)
