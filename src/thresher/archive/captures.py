"""What an archive of answers promises to the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from thresher.archive.pages import PageRecord
from thresher.errors import ConfigError
from thresher.records import FetchedPage

if TYPE_CHECKING:
    from thresher.archive.warc import WarcWriter


class Captures(Protocol):
    """Keeps answers as they came; what `keep` has returned for survives the process."""

    async def keep(self, answers: Sequence[tuple[PageRecord, FetchedPage]]) -> None:
        """Archive answers; those that do not belong into the archive are passed over."""
        ...

    def close(self) -> None:
        """Complete the last file."""
        ...


def warc_writer() -> type[WarcWriter]:
    """Return the class that archives answers as WARC files.

    Raises:
        ConfigError: What it needs is not installed.
    """
    try:
        from thresher.archive.warc import WarcWriter
    except ModuleNotFoundError as error:
        raise ConfigError(f'output.warc needs another package: pip install "thresher[warc]" ({error})') from error
    return WarcWriter
