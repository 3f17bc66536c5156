"""Second thoughts: when a judge that learns changes its mind, the page store and the queue follow.

Other pages may be under way when the judge thinks again. What it now thinks of those is held back until their own
records are settled, so that no old verdict overwrites a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from thresher.archive.pages import Archive
from thresher.classify.base import Judge, Learner
from thresher.frontier.base import Frontier
from thresher.outlook import Outlook
from thresher.recollect import recollect
from thresher.records import TOLD, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import Batcher, Recaller, Rememberer, Rescorer, Strategy

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

    async def settled(self, url: str) -> None:
        """Pass on what was held back for a page, now that it is settled, and what the strategy thinks of its own."""
        self._under_way.discard(url)
        await self._pass_on(self._take_ready())
        await self._outlook.page_done()

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
        if revisions:
            await self._archive.revise(revisions)
        changes = self._rescorer.revise(revisions) if self._rescorer else {}
        if changes:
            scores = {url: change.now for url, change in changes.items()}
            await self.frontier.rescore(scores, was={url: change.was for url, change in changes.items()})


def _as_told(url: str, yes: bool) -> Revision:
    """Say of a page what a person said, for a judge that has nothing to add."""
    certain = float(yes)
    judgement = Judgement(relevance=certain, relevant=yes, probability=certain, parts={TOLD: certain})
    return Revision(url=url, judgement=judgement)
