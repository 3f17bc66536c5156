"""The files of a cold storage: each must be there as it was written.

A file that is missing or damaged takes its waiting URLs with it. The next run that reads it leaves it out and notes how
many were lost. A repair does the same at once; then these URLs are unknown links of stored pages, and are queued again
as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from thresher.frontier.base import Frontier
from thresher.verify.findings import MOST_EXAMPLES, FindingState, VerifyFinding

if TYPE_CHECKING:
    from thresher.frontier.tiered.frontier import ColdCheck


@runtime_checkable
class HasColdRuns(Protocol):
    """A frontier with a cold storage."""

    async def check_runs(self, *, repair: bool) -> ColdCheck: ...

    def without_filters(self) -> AbstractContextManager[None]: ...

    async def forget_loss(self, check: ColdCheck) -> None: ...


class ColdStorageCheck:
    """Checks the cold storage of a frontier, before links are compared; a frontier without one has no findings."""

    def __init__(self, frontier: Frontier, *, repair: bool) -> None:
        self._frontier = frontier if isinstance(frontier, HasColdRuns) else None
        self._repair = repair
        self._check: ColdCheck | None = None

    async def run(self) -> None:
        if self._frontier:
            self._check = await self._frontier.check_runs(repair=self._repair)

    def exact(self) -> AbstractContextManager[None]:
        """Let links be added that were looked up and not found, though a filter may take them for known ones."""
        return self._frontier.without_filters() if self._frontier else nullcontext()

    async def finish(self) -> None:
        """Forget the loss after a repair has queued what it could find."""
        if self._frontier and self._check and self._repair:
            await self._frontier.forget_loss(self._check)

    @property
    def looked_at(self) -> dict[str, int]:
        return {"files of the cold storage": self._check.runs} if self._check and self._check.runs else {}

    def findings(self) -> Iterator[VerifyFinding]:
        if self._check is None:
            return
        check, state = self._check, FindingState.REPAIRED if self._repair else FindingState.WRONG
        if check.damaged:
            yield VerifyFinding(
                part="frontier",
                state=FindingState.WRONG if check.damaged_left else state,
                words=self._damage(check),
                number=len(check.damaged),
                examples=tuple(check.damaged[:MOST_EXAMPLES]),
            )
        if check.lost:
            again = "; those that pages in this folder link to are queued again" if self._repair else ""
            words = f"waiting URLs were lost with missing or damaged files of the cold storage{again}"
            yield VerifyFinding(part="frontier", state=state, words=words, number=sum(check.lost.values()))
        if check.restored:
            words = (
                "waiting URLs were lost with files of the cold storage that can be read again; they are queued again"
            )
            yield VerifyFinding(part="frontier", state=state, words=words, number=check.restored)
        if check.unlisted:
            words = "files of the cold storage belong to no list; a later run deletes them"
            yield VerifyFinding(part="frontier", state=FindingState.NOTE, words=words, number=check.unlisted)

    def _damage(self, check: ColdCheck) -> str:
        words = f"files of the cold storage are missing or damaged, with {check.damaged_urls:,} waiting URLs"
        if check.damaged_left and self._repair:
            return f"{words}; another worker moves URLs, so {check.damaged_left:,} could not be left out: try again"
        return f"{words}; they are left out from now on" if self._repair else words
