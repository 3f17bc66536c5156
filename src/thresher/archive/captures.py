"""What an archive of answers promises to the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thresher.archive.pages import PageRecord
from thresher.records import FetchedPage


class Captures(Protocol):
    """Keeps answers as they came; what `keep` has returned for survives the process."""

    async def keep(self, answers: Sequence[tuple[PageRecord, FetchedPage]]) -> None:
        """Archive answers; those that do not belong into the archive are passed over."""
        ...

    def close(self) -> None:
        """Complete the last file."""
        ...
