"""The bytes of a body, piece by piece, so that a bomb of ten gigabytes costs the recording server no memory."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import brotli
import zstandard

from testing.recording_server.script import Fill, Packed

PIECE_BYTES = 1 << 16
BLOCK_BYTES = 1 << 20
"""What is compressed at a time."""


def as_bytes(value: str | bytes) -> bytes:
    """Return text as UTF-8."""
    return value.encode("utf-8") if isinstance(value, str) else value


def size_of(body: str | bytes | Fill | Packed) -> int | None:
    """Return the length of a body; None when it is endless or not known before it is made."""
    if isinstance(body, Packed):
        return None
    return body.size if isinstance(body, Fill) else len(as_bytes(body))


def pieces(body: str | bytes | Fill | Packed) -> Iterator[bytes]:
    """Return a body in pieces, some of them empty."""
    if isinstance(body, Packed):
        made = _filled(body.body, BLOCK_BYTES) if isinstance(body.body, Fill) else pieces(body.body)
        for coding in body.codings:
            made = _compressed(made, coding)
        yield from made
    elif isinstance(body, Fill):
        yield from _filled(body, PIECE_BYTES)
    else:
        whole = as_bytes(body)
        yield from (whole[place : place + PIECE_BYTES] for place in range(0, len(whole), PIECE_BYTES))


def _filled(fill: Fill, size: int) -> Iterator[bytes]:
    left = float("inf") if fill.size is None else fill.size
    start, pattern = as_bytes(fill.start), as_bytes(fill.pattern)
    block = pattern * -(-size // len(pattern))
    piece = start or block
    while left > 0:
        yield piece if len(piece) <= left else piece[: int(left)]
        left -= len(piece)
        piece = block


def _compressed(made: Iterable[bytes], coding: str) -> Iterator[bytes]:
    compress, finish = _COMPRESSORS[coding]()
    for piece in made:
        yield compress(piece)  # often nothing: the sender can serve others meanwhile
    yield finish()


_Wrapping = tuple[bytes, Callable[[bytes, int], int], Callable[[int, int], bytes]]
"""What stands before deflate, its checksum, and what stands after it, from checksum and size."""


class _Deflate:
    """Deflate with the head and tail of gzip or zlib. A block that comes again is not compressed again.

    After a full flush the compressor has forgotten all, so the packed form of a block is the same wherever it stands.
    """

    def __init__(self, wrapping: _Wrapping) -> None:
        self._head, self._checksum, self._tail = wrapping
        self._sum = self._checksum(b"", 1 if self._checksum is zlib.adler32 else 0)
        self._compressor = zlib.compressobj(9, wbits=-15)
        self._size = 0
        self._block, self._packed = b"", b""

    def compress(self, piece: bytes) -> bytes:
        self._sum = self._checksum(piece, self._sum)
        self._size += len(piece)
        head, self._head = self._head, b""
        if len(piece) < PIECE_BYTES:
            return head + self._compressor.compress(piece)
        if piece is not self._block:
            head += self._compressor.flush(zlib.Z_FULL_FLUSH)
            self._block = piece
            self._packed = self._compressor.compress(piece) + self._compressor.flush(zlib.Z_FULL_FLUSH)
        return head + self._packed

    def finish(self) -> bytes:
        return self._head + self._compressor.flush() + self._tail(self._sum, self._size)


def _deflate(coding: str) -> Callable[[], tuple[Any, Any]]:
    def start() -> tuple[Any, Any]:
        compressor = _Deflate(_WRAPPINGS[coding])
        return compressor.compress, compressor.finish

    return start


def _brotli() -> tuple[Any, Any]:
    compressor = brotli.Compressor(quality=1)  # ten times as fast as the next ones
    return compressor.process, compressor.finish


def _zstd() -> tuple[Any, Any]:
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress, compressor.flush


_WRAPPINGS: dict[str, _Wrapping] = {
    "gzip": (
        b"\x1f\x8b\x08\0\0\0\0\0\2\xff",
        zlib.crc32,
        lambda checksum, size: struct.pack("<II", checksum, size % (1 << 32)),
    ),
    "deflate": (b"\x78\xda", zlib.adler32, lambda checksum, _: struct.pack(">I", checksum)),
    "raw-deflate": (b"", lambda *_: 0, lambda *_: b""),
}
_COMPRESSORS: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{coding: _deflate(coding) for coding in _WRAPPINGS},
    "br": _brotli,
    "zstd": _zstd,
}
