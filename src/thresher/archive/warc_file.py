"""A WARC file read record by record, also one whose end is torn or whose middle is damaged.

Every record is packed on its own, so each is whole or not: its last bytes are a checksum. What a killed writer leaves
is a record that ends too early, at the end of its file.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
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
    """One whole record.

    Args:
        headers: Of the record; names in lower case.
        http: The status line and headers inside of it; names in lower case, the status line under ``""``.
    """

    offset: int
    length: int
    headers: dict[str, str]
    http: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What it records: response, revisit, request, metadata, warcinfo."""
        return self.headers.get("warc-type", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes that are no record; when `at_end`, all that follows the last whole one."""

    offset: int
    length: int
    at_end: bool


class _Broken(Exception):
    """Here is no whole record."""


def warc_paths(folder: Path) -> list[Path]:
    """Return the WARC files of a folder."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def walk(path: Path) -> Iterator[Member | Damage]:
    """Yield every record of a file, and whatever lies between them or after the last one."""
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
    """Return what a record holds, without its own headers.

    Raises:
        StoreError: There is no record at that place.
    """
    out = bytearray()
    with path.open("rb") as file:
        try:
            for piece in _pieces(file, offset):
                out += piece
        except _Broken as error:
            raise StoreError(f"{path.name} has no whole record at {offset}") from error
    head, _, block = bytes(out).partition(b"\r\n\r\n")
    return block[: int(_headers(head).get("content-length", "0"))]


def cut_out(path: Path, damages: list[Damage]) -> None:
    """Take what is no record out of a file; when it lies at the end, the file is only made shorter."""
    if len(damages) == 1 and damages[0].at_end:
        with path.open("r+b") as file:
            file.truncate(damages[0].offset)
        return
    beside = path.with_name(path.name + ".part")
    with path.open("rb") as old, beside.open("wb") as new:
        place = 0
        for damage in [*damages, Damage(offset=path.stat().st_size, length=0, at_end=True)]:
            old.seek(place)
            _copy(old, new, damage.offset - place)
            place = damage.offset + damage.length
    beside.replace(path)


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
    """Yield what is packed at a place, piece by piece, and return how many bytes of the file that was."""
    file.seek(offset)
    unpacker, taken = zlib.decompressobj(zlib.MAX_WBITS + 16), 0
    while not unpacker.eof:
        packed = unpacker.unconsumed_tail
        if not packed:
            packed = file.read(_BLOCK)
            taken += len(packed)
        if not packed:
            raise _Broken
        try:
            yield unpacker.decompress(packed, _BLOCK)
        except zlib.error as error:
            raise _Broken from error
    return taken - len(unpacker.unused_data)


def _next_start(file: BinaryIO, offset: int, size: int) -> int:
    """Return where the next record begins that can be read; the end of the file when none does."""
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
    """Read header lines; of several of one name the first counts. The first line is kept under an empty name."""
    first, *lines = text.decode("utf-8", "replace").split("\r\n")
    headers = {"": first}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers
