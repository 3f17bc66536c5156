"""Webs from WARC files: what Heritrix, Browsertrix, wget and our own archive write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from thresher.errors import ConfigError
from thresher.lab.importers.pagefile import SourcePage
from thresher.parse.charset import decode

MAX_PAGE_BYTES = 10 << 20
"""Longer answers are cut off."""


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
        raise ConfigError('reading WARC files needs warcio: pip install "thresher[lab]"') from error
    for path in paths:
        with path.open("rb") as file:
            yield from filter(None, map(read_record, ArchiveIterator(file)))


def read_record(record: Any) -> SourcePage | None:
    """Turn a record, as warcio gives it, into a page; None when it is not the answer of a page."""
    if record.rec_type != "response" or record.http_headers is None:
        return None
    content_type = record.http_headers.get_header("Content-Type") or ""
    if record.http_headers.get_statuscode() != "200" or "html" not in content_type.lower():
        return None
    html = decode(record.content_stream().read(MAX_PAGE_BYTES), content_type)
    return SourcePage(url=record.rec_headers.get_header("WARC-Target-URI"), html=html)
