"""Decompress bodies incrementally, up to a limit.

Every coding of a nested body has the same limit, so neither a decompression bomb nor one whose result is empty costs
more than a page of the largest size.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence

import brotli  # type: ignore[import-untyped]

from thresher.compression import zstd

ACCEPTED = "gzip, deflate, br, zstd"
"""The Accept-Encoding header of requests."""

MAX_CODINGS = 3
MAX_MEMBERS = 1_000
"""Members of one compressed stream; an empty one costs twenty bytes, and time."""

_PIECE_BYTES = 1 << 16
_ZSTD_WINDOW_LOG = 23  # 8 MiB, the largest window that RFC 9659 allows on the web

Coding = Callable[[bytes], Iterator[bytes]]
"""From the next compressed bytes to decompressed ones, in small pieces."""


class Undecodable(Exception):
    """A body that does not match its Content-Encoding, or has too many codings."""


class _Full(Exception):
    """The limit is reached."""


class Decompressor:
    """Decompresses one body.

    Args:
        codings: Content codings in the order in which they were applied; unknown ones are ignored.
        max_bytes: Limit for the body, and for the output of each coding.
    """

    def __init__(self, codings: Sequence[str], max_bytes: int) -> None:
        known = [name for name in codings if name in _CODINGS]
        if len(known) > MAX_CODINGS:
            raise Undecodable(f"packed {len(known)} times")
        self._codings = [_bounded(_CODINGS[name](), max_bytes) for name in reversed(known)]
        self._packed = bool(known)
        self._max_bytes = max_bytes
        self._came = 0
        self._body = bytearray()

    def __len__(self) -> int:
        return len(self._body)

    def take(self, data: bytes) -> bool:
        """Add received data; return whether more is wanted.

        Raises:
            Undecodable: It cannot be decompressed.
        """
        self._came += len(data)
        try:
            for piece in self._unpacked(data, 0) if self._packed else (data,):
                self._body += piece
                if len(self._body) > self._max_bytes:
                    raise _Full
        except _Full:
            del self._body[self._max_bytes :]
            return False
        except (zlib.error, brotli.error, zstd.ZstdError, EOFError) as error:
            raise Undecodable(str(error)) from error
        return self._came <= self._max_bytes

    def body(self) -> bytes:
        """Return the decompressed body, once."""
        body, self._body = self._body, bytearray()
        return bytes(body)

    def _unpacked(self, data: bytes, number: int) -> Iterator[bytes]:
        if number == len(self._codings):
            yield data
            return
        for piece in self._codings[number](data):
            yield from self._unpacked(piece, number + 1)


def _bounded(coding: Coding, max_bytes: int) -> Coding:
    unfolded = 0

    def take(data: bytes) -> Iterator[bytes]:
        nonlocal unfolded
        for piece in coding(data):
            yield piece
            unfolded += len(piece)
            if unfolded > max_bytes:
                raise _Full

    return take


class _Inflate:
    """gzip with all its members, or deflate with or without its zlib header."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._stream = zlib.decompressobj(31 if gzip else 15)
        self._members = 1
        self._began = False

    def __call__(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream.eof and not self._starts_again(data):
                return
            if piece := self._inflate(data):
                yield piece
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail

    def _inflate(self, data: bytes) -> bytes:
        try:
            piece = self._stream.decompress(data, _PIECE_BYTES)
        except zlib.error:
            if self._gzip or self._began:
                raise
            self._stream = zlib.decompressobj(-15)  # some servers omit the header
            piece = self._stream.decompress(data, _PIECE_BYTES)
        self._began = True
        return piece

    def _starts_again(self, data: bytes) -> bool:
        """Continue with another member; anything else after the end is padding."""
        if not self._gzip or data[:1] != b"\x1f":
            return False
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise _Full
        self._stream = zlib.decompressobj(31)
        return True


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def __call__(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            piece = self._stream.process(data, output_buffer_limit=_PIECE_BYTES)
            data = b""
            if piece:
                yield piece
            elif self._stream.can_accept_more_data():
                return


class _Zstd:
    def __init__(self) -> None:
        self._stream = self._new()
        self._frames = 1

    @staticmethod
    def _new() -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})

    def __call__(self, data: bytes) -> Iterator[bytes]:
        while data or not self._stream.needs_input:
            if self._stream.eof:
                self._frames += 1
                if self._frames > MAX_MEMBERS:
                    raise _Full
                self._stream = self._new()
            piece = self._stream.decompress(data, _PIECE_BYTES)
            data = self._stream.unused_data if self._stream.eof else b""
            if piece:
                yield piece
            if self._stream.eof and not data:
                return


_CODINGS: dict[str, Callable[[], Coding]] = {
    "gzip": lambda: _Inflate(gzip=True),
    "x-gzip": lambda: _Inflate(gzip=True),
    "deflate": lambda: _Inflate(gzip=False),
    "br": _Brotli,
    "zstd": _Zstd,
}


def codings(values: Sequence[str]) -> list[str]:
    """Parse Content-Encoding headers."""
    return [name.strip().lower() for value in values for name in value.split(",") if name.strip()]
