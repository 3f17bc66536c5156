"""The contract of an archive of responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from thresher.errors import ConfigError
from thresher.records import FetchedPage
from thresher.storage.page_store import PageRecord

if TYPE_CHECKING:
    from thresher.storage.warc.writer import WarcWriter


class Captures(Protocol):
    """An archive of raw responses; once `keep` has returned, they survive the process."""

    async def append(self, responses: Sequence[tuple[PageRecord, FetchedPage]]) -> None:
        """Archive responses; skip those that do not belong into the archive."""
        ...

    def close(self) -> None:
        """Finish the last file."""
        ...


def warc_writer() -> type[WarcWriter]:
    """Return the class that archives responses as WARC files.

    Raises:
        ConfigError: Its dependencies are not installed.
    """
    try:
        from thresher.storage.warc.writer import WarcWriter
    except ModuleNotFoundError as error:
        raise ConfigError(
            f'output.warc needs another package: pip install "thresher-crawler[warc]" ({error})'
        ) from error
    return WarcWriter
