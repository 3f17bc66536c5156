"""Reading a WARC file record by record, also one with a truncated end or damage in the middle.

Every record is a gzip member of its own and ends with a checksum, so each is either complete or detectably damaged. A
killed writer leaves a truncated record at the end of its file.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from thresher.errors import StoreError

SUFFIX = ".warc.gz"
_MAGIC = b"\x1f\x8b\x08"
_START = b"WARC/1."
_BLOCK = 1 << 16
_MAX_HEAD = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One complete record.

    Args:
        headers: Of the record; names in lower case.
        http: The HTTP headers inside it; names in lower case, the status line under ``""``.
    """

    offset: int
    length: int
    headers: dict[str, str]
    http: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The record type: response, revisit, request, metadata, warcinfo."""
        return self.headers.get("warc-type", "")

    @property
    def status(self) -> str:
        """The status code of the response inside it; empty when there is none."""
        return status_code(self.http)


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A range of bytes without a readable record; when `at_end`, everything after the last complete one."""

    offset: int
    length: int
    at_end: bool


class _Broken(Exception):
    """There is no complete record at this offset."""


def status_code(http: Mapping[str, str]) -> str:
    """Return the status code of a response by its HTTP headers, as in `Member`; empty when there is none."""
    return [*http.get("", "").split(" "), "", ""][1]


def warc_paths(folder: Path) -> list[Path]:
    """Return the WARC files of a folder."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def walk(path: Path) -> Iterator[Member | Damage]:
    """Yield every record of a file, and the damaged ranges between them or after the last one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        offset = 0
        while offset < size:
            try:
                member = _member(file, offset)
            except _Broken:
                end = _next_start(file, offset + 1, size)
                yield Damage(offset=offset, length=end - offset, at_end=end == size)
                offset = end
            else:
                yield member
                offset += member.length


def read_block(path: Path, offset: int) -> bytes:
    """Return the content block of a record, without the WARC headers.

    Raises:
        StoreError: There is no complete record at that offset.
    """
    out = bytearray()
    with path.open("rb") as file:
        try:
            for piece in _pieces(file, offset):
                out += piece
        except _Broken as error:
            raise StoreError(
                f"{path.name} has no whole record at {offset}; check the crawl: thresher verify DIR"
            ) from error
    head, _, block = bytes(out).partition(b"\r\n\r\n")
    return block[: int(_headers(head).get("content-length", "0"))]


def cut_out(path: Path, damages: list[Damage]) -> None:
    """Remove damaged ranges from a file; damage at the end is truncated in place."""
    if len(damages) == 1 and damages[0].at_end:
        with path.open("r+b") as file:
            file.truncate(damages[0].offset)
        return
    temporary = path.with_name(path.name + ".part")
    with path.open("rb") as old, temporary.open("wb") as new:
        place = 0
        for damage in [*damages, Damage(offset=path.stat().st_size, length=0, at_end=True)]:
            old.seek(place)
            _copy(old, new, damage.offset - place)
            place = damage.offset + damage.length
    temporary.replace(path)


def _copy(old: BinaryIO, new: BinaryIO, length: int) -> None:
    while length > 0 and (block := old.read(min(_BLOCK, length))):
        new.write(block)
        length -= len(block)


def _member(file: BinaryIO, offset: int) -> Member:
    head, size = bytearray(), 0
    pieces = _pieces(file, offset)
    try:
        while True:
            piece = next(pieces)
            size += len(piece)
            head += piece[: max(0, _MAX_HEAD - len(head))]
    except StopIteration as stop:
        length = int(stop.value)
    top, _, rest = bytes(head).partition(b"\r\n\r\n")
    headers = _headers(top)
    if not top.startswith(_START) or size != len(top) + 8 + int(headers.get("content-length", "-1")):
        raise _Broken
    http = _headers(rest.partition(b"\r\n\r\n")[0]) if "http" in headers.get("content-type", "") else {}
    return Member(offset=offset, length=length, headers=headers, http=http)


def _pieces(file: BinaryIO, offset: int) -> Generator[bytes, None, int]:
    """Yield the decompressed member at an offset in pieces; return its compressed length."""
    file.seek(offset)
    unpacker, consumed = zlib.decompressobj(zlib.MAX_WBITS + 16), 0
    while not unpacker.eof:
        packed = unpacker.unconsumed_tail
        if not packed:
            packed = file.read(_BLOCK)
            consumed += len(packed)
        if not packed:
            raise _Broken
        try:
            yield unpacker.decompress(packed, _BLOCK)
        except zlib.error as error:
            raise _Broken from error
    return consumed - len(unpacker.unused_data)


def _next_start(file: BinaryIO, offset: int, size: int) -> int:
    """Return the offset of the next readable record, or the end of the file."""
    while offset < size:
        file.seek(offset)
        block = file.read(_BLOCK)
        found = block.find(_MAGIC)
        if found < 0:
            offset += max(1, len(block) - len(_MAGIC) + 1)
            continue
        try:
            _member(file, offset + found)
        except _Broken:
            offset += found + 1
        else:
            return offset + found
    return size


def _headers(text: bytes) -> dict[str, str]:
    """Parse header lines; of equal names the first counts. The first line is stored under an empty name."""
    first, *lines = text.decode("utf-8", "replace").split("\r\n")
    headers = {"": first}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers
