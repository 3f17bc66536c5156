"""Second thoughts: when a judge that learns changes its mind, the page store and the queue follow.

Other pages may be under way when the judge thinks again. What it now thinks of those is held back until their own
records are settled, so that no old verdict overwrites a new one.
"""

from __future__ import annotations

from collections.abc import Sequence

from thresher.archive.pages import Archive
from thresher.classify.base import Judge, Learner
from thresher.frontier.base import Frontier
from thresher.outlook import Outlook
from thresher.records import Lease, ParsedPage, Revision
from thresher.strategies.base import Batcher, Rememberer, Rescorer, Strategy


class Rethink:
    """Lets the judge learn, and passes on what it thinks of earlier pages."""

    def __init__(self, *, judge: Judge, strategy: Strategy, frontier: Frontier, archive: Archive) -> None:
        self._learner = judge if isinstance(judge, Learner) else None
        self._rescorer = strategy if isinstance(strategy, Rescorer) else None
        self._rememberer = strategy if isinstance(strategy, Rememberer) else None
        self._batch_size = strategy.batch_size if isinstance(strategy, Batcher) else 0
        self._outlook = Outlook(strategy, frontier)
        self._frontier = frontier
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

    async def ready(self, lease: Lease) -> None:
        """Move the next batch into the ready queue when that is empty: when a URL that waits below 0 was the best.

        The leased URL is the first of the batch.
        """
        if self._batch_size and lease.score < 0:
            rest = await self._frontier.peek(self._batch_size - 1)
            if all(entry.score < 0 for entry in rest):
                await self._frontier.rescore({entry.url: entry.score + 1 for entry in rest})

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
            await self._frontier.rescore(scores, was={url: change.was for url, change in changes.items()})
