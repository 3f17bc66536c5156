"""The files of a cold storage: each must be there as it was written.

A file that is missing or damaged takes its waiting URLs with it. The next run that reads it leaves it out and notes how
many were lost. A repair does the same at once; then these URLs are unknown links of stored pages, and are queued again
as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from thresher.verify.findings import MAX_EXAMPLES, FindingState, FindingTally, VerifyFinding

if TYPE_CHECKING:
    from thresher.frontier.tiered.frontier import ColdCheck


@runtime_checkable
class HasColdRuns(Protocol):
    """A frontier with a cold storage."""

    async def check_runs(self, *, repair: bool) -> ColdCheck: ...

    def without_filters(self) -> AbstractContextManager[None]:
        """Let links be added that were looked up and not found, though a filter may take them for known ones."""
        ...

    async def forget_loss(self, check: ColdCheck) -> None:
        """Forget the loss after a repair has queued what it could find."""
        ...


def cold_findings(check: ColdCheck, *, repair: bool) -> Iterator[VerifyFinding]:
    """Report what is wrong with the files."""
    state = FindingState.REPAIRED if repair else FindingState.WRONG
    damaged = FindingTally(len(check.damaged), check.damaged[:MAX_EXAMPLES])
    yield from damaged.found("frontier", FindingState.WRONG if check.damaged_left else state, _damage(check, repair))
    again = "; those that pages in this folder link to are queued again" if repair else ""
    words = f"waiting URL|URLs was|were lost with missing or damaged files of the cold storage{again}"
    yield from FindingTally(sum(check.lost.values())).found("frontier", state, words)
    words = "waiting URL|URLs lost with files of the cold storage that can be read again: queued again"
    yield from FindingTally(check.restored).found("frontier", state, words)
    words = "file|files of the cold storage belongs|belong to no list; a later run deletes such files"
    yield from FindingTally(check.unlisted).found("frontier", FindingState.NOTE, words)


def _damage(check: ColdCheck, repair: bool) -> str:
    words = f"file|files of the cold storage is|are missing or damaged, with {check.damaged_urls:,} waiting URLs"
    if check.damaged_left and repair:
        return f"{words}; another worker moves URLs, so {check.damaged_left:,} could not be left out: try again"
    return f"{words}, and left out from now on" if repair else words
