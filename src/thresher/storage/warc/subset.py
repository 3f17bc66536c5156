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
    for _, member in _members(files):
        original = _url(member, "warc-refers-to-target-uri")
        if original and _belongs(member, pages):
            pages.add(_number(original))
    responses = 0
    for path, member in _members(files):
        if _belongs(member, pages):
            out.write(_bytes(path, member))
            responses += member.kind in ("response", "revisit")
    return responses


def _members(files: Sequence[Path]) -> Iterator[tuple[Path, Member]]:
    for path in files:
        for found in walk(path):
            if isinstance(found, Member):
                yield path, found


def _belongs(member: Member, pages: PageSet) -> bool:
    url = _url(member, "warc-target-uri")
    return not url or _number(url) in pages


def _url(member: Member, header: str) -> str:
    return member.headers.get(header, "").strip("<>")


def _number(url: str) -> int:
    return fingerprint(canonicalize(url) or url)


def _bytes(path: Path, member: Member) -> bytes:
    with path.open("rb") as file:
        file.seek(member.offset)
        return file.read(member.length)
