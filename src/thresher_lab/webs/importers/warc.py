"""Webs from WARC files: as written by Heritrix, Browsertrix, wget and Thresher."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from thresher.errors import ConfigError
from thresher.parsing.markup import decode
from thresher_lab.webs.importers.pagefile import SourcePage

MAX_PAGE_BYTES = 10 << 20
"""Longer responses are truncated."""


def from_warc(paths: Iterable[Path]) -> Iterator[SourcePage]:
    """Yield the HTML pages of WARC files; topics are unknown.

    Args:
        paths: The files, compressed or not; for an address in several of them the first counts.

    Raises:
        ConfigError: warcio is not installed.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise ConfigError('reading WARC files needs warcio: pip install "thresher-crawler[lab]"') from error
    for path in paths:
        with path.open("rb") as file:
            yield from filter(None, map(read_record, ArchiveIterator(file)))


def read_record(record: Any) -> SourcePage | None:
    """Convert a warcio record to a page; None when it is not the response of a page."""
    if record.rec_type != "response" or record.http_headers is None:
        return None
    content_type = record.http_headers.get_header("Content-Type") or ""
    if record.http_headers.get_statuscode() != "200" or "html" not in content_type.lower():
        return None
    html = decode(record.content_stream().read(MAX_PAGE_BYTES), content_type)
    return SourcePage(url=record.rec_headers.get_header("WARC-Target-URI"), html=html)
