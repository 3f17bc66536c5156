"""The collection against its manifest and the frontier: all objects are there, and every settled URL has a row.

A row is in the collection, or on a running machine.

URLs that are settled and not in the collection yet are listed in the shared store. Those of a machine that no longer
runs, and whose rows are not here either, are lost with its disk, or wait on it: they are queued again. Fetching a page
twice does no harm, since the latest row of a URL counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from thresher.backend import CrawlResources
from thresher.collection.audit import CollectionAudit, audit
from thresher.collection.manifest import MANIFEST_CACHE, ManifestReader
from thresher.coordination.pending_uploads import PageOwner, PendingUploads
from thresher.crawl import CrawlSetup
from thresher.frontier.base import Frontier
from thresher.storage.page_store import COLLECTED
from thresher.verify.findings import MAX_EXAMPLES, FindingState, FindingTally, VerifyFinding
from thresher.verify.page_rows import VerifiedRows


@dataclass
class CollectionCheck:
    """What the check of a collection found.

    Args:
        audit: The objects and entries that are missing or damaged.
        is_repaired: Whether these were repaired.
        waiting: URLs that wait for their upload on a machine that runs.
        lost: URLs whose rows are neither in the collection nor here, and whose machine does not run.
    """

    audit: CollectionAudit
    is_repaired: bool = False
    waiting: FindingTally = field(default_factory=FindingTally)
    lost: FindingTally = field(default_factory=FindingTally)

    async def run(self, crawl: CrawlSetup, connected: CrawlResources, frontier: Frontier, *, repair: bool) -> None:
        """Compare the list of pending uploads with the rows, and with `repair` queue lost URLs again."""
        if not (pending := connected.pending_uploads):
            return
        workers = await connected.run.registered_workers() or ()
        running = {PageOwner(each.name, each.heartbeat.mark) for each in workers if not each.is_silent}
        uploaded = await asyncio.to_thread(_uploaded, crawl)
        with VerifiedRows(crawl.folder.pages) as rows:
            for owner in await pending.owners():
                await self._check(owner, pending, frontier, _Known(uploaded, rows, owner in running), repair=repair)

    async def _check(
        self, owner: PageOwner, pending: PendingUploads, frontier: Frontier, known: _Known, *, repair: bool
    ) -> None:
        listed = await pending.read(owner)
        lost = {number: candidate for number, candidate in listed.items() if not known.has(number)}
        tally = self.waiting if known.is_running else self.lost
        for candidate in lost.values():
            tally.add(candidate.url)
        if repair and not known.is_running:
            await frontier.reopen(list(lost.values()))
            await pending.remove(owner, sorted(lost))
        if repair:
            await pending.remove(owner, sorted(number for number in listed if number in known.uploaded))

    def findings(self, *, repair: bool) -> list[VerifyFinding]:
        repaired = FindingState.REPAIRED if repair else FindingState.WRONG
        return [
            *self._damage(),
            *self.waiting.found(
                "collection",
                FindingState.NOTE,
                "page|pages waits|wait for upload on machines that ran a few seconds ago",
            ),
            *self.lost.found(
                "collection",
                repaired,
                "URL|URLs was|were settled, and the pages lost with a machine; now queued again"
                if repair
                else "settled URL|URLs without a page in the collection or on a running machine",
            ),
        ]

    def _damage(self) -> Iterator[VerifyFinding]:
        """Report what the audit found; repaired is what was uploaded again or given up."""
        audit = self.audit
        state, done = FindingState.WRONG, ""
        if self.is_repaired:
            state, done = FindingState.REPAIRED, "; what this machine has of it was uploaded again"
        for keys, words in (
            ([each.key for each in audit.damaged], "object|objects of the collection is|are damaged"),
            ([each.key for each in audit.missing], "object|objects of the collection is|are missing"),
            (audit.damaged_entries, "entry|entries of the manifest is|are damaged"),
            (audit.missing_entries, "entry|entries of the manifest is|are missing"),
            (audit.damaged_merged, "object|objects with merged entries is|are damaged"),
            (
                [path.name for path in audit.not_uploaded],
                "segment|segments of this machine has|have rows that were not uploaded",
            ),
        ):
            yield from FindingTally(len(keys), keys[:MAX_EXAMPLES]).found("collection", state, words + done)
        lost = sorted(audit.lost_files)
        words = "file|files is|are lost, unless the next run of another machine uploads it|them"
        yield from FindingTally(len(lost), lost[:MAX_EXAMPLES]).found("collection", FindingState.LOST, words)
        if audit.waiting and not self.is_repaired:
            words = "row|rows of this machine waits|wait for upload, by the next run or by --repair"
            yield from FindingTally(audit.waiting).found("collection", FindingState.NOTE, words)
        words = "entry|entries of the manifest was|were given up by an earlier repair"
        yield from FindingTally(audit.given_up).found("collection", FindingState.NOTE, words)


@dataclass(frozen=True)
class _Known:
    uploaded: Collection[int]
    rows: VerifiedRows
    is_running: bool

    def has(self, fingerprint: int) -> bool:
        return fingerprint in self.uploaded or fingerprint in self.rows


def audited(crawl: CrawlSetup) -> CollectionAudit:
    """Read the whole collection of a crawl, and compare it with its manifest."""
    return audit(crawl.backend.objects(), crawl.folder.pages / COLLECTED / MANIFEST_CACHE, crawl.folder.segments())


def _uploaded(crawl: CrawlSetup) -> set[int]:
    """Return the fingerprints of the URLs in the collection, as of the last update."""
    with closing(ManifestReader(crawl.folder.pages / COLLECTED / MANIFEST_CACHE)) as manifest:
        return manifest.fingerprints()
