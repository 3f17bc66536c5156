"""A part of a crawl's WARC files: the records of chosen pages, copied byte by byte.

Every record is a gzip member of its own, so the members of wanted pages are copied without recompression. The records
that a revisit refers to are included, so that it can be read; so are records without a URL, such as ``warcinfo``.
Damaged bytes are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from thresher.storage.page_set import PageSet
from thresher.storage.warc.reader import Member, walk
from thresher.urls.canonical import canonicalize, fingerprint


def copy_records(files: Sequence[Path], out: IO[bytes], pages: PageSet) -> int:
    """Copy the records of some pages from WARC files; return the number of responses and revisits among them."""
    return sum(member.kind in ("response", "revisit") for member in copied_records(files, out, pages))


def copied_records(files: Sequence[Path], out: IO[bytes], pages: PageSet) -> Iterator[Member]:
    """Copy the records of some pages, and yield each as it was; the set grows by what their revisits refer to."""
    for _, member in members(files):
        page, original = page_of(member), _url(member, "warc-refers-to-target-uri")
        if original and page is not None and page in pages:
            pages.add(_number(original))
    for path, member in members(files):
        page = page_of(member)
        if page is None or page in pages:
            out.write(_bytes(path, member))
            yield member


def members(files: Sequence[Path]) -> Iterator[tuple[Path, Member]]:
    """Yield the records of WARC files, each with its file."""
    for path in files:
        for found in walk(path):
            if isinstance(found, Member):
                yield path, found


def page_of(member: Member) -> int | None:
    """Return the fingerprint of the page that a record belongs to; None for a record without a URL."""
    url = _url(member, "warc-target-uri")
    return _number(url) if url else None


def _url(member: Member, header: str) -> str:
    return member.headers.get(header, "").strip("<>")


def _number(url: str) -> int:
    return fingerprint(canonicalize(url) or url)


def _bytes(path: Path, member: Member) -> bytes:
    with path.open("rb") as file:
        file.seek(member.offset)
        return file.read(member.length)
