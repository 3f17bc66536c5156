"""Remove the framing of a chunked body (RFC 9112, section 7.1), with limits on what is not body.

libcurl checks the framing too, and finds the end; but it passes the bytes on as they came.
"""

from __future__ import annotations

import re

from thresher.engine.download.errors import HeadTooLong

MAX_LINE_BYTES = 16 << 10
MAX_TRAILER_BYTES = 64 << 10

_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}")


class MalformedChunks(Exception):
    """The framing of a chunked body is wrong.

    Args:
        body: The part of the body before the error, in the data that contain it.
    """

    def __init__(self, body: bytes = b"") -> None:
        super().__init__("malformed chunks")
        self.body = body


class ChunkedDecoder:
    """Decodes one body."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._left = 0
        self._after_data = False
        self._in_trailers = False
        self._trailer_bytes = 0

    def take(self, data: bytes) -> bytes:
        """Return the body in received data.

        Raises:
            MalformedChunks: A size is not a number, or a chunk is longer than its size.
            HeadTooLong: A line, or all trailers, are too long.
        """
        pieces: list[bytes] = []
        start = 0
        while start < len(data):
            if self._in_trailers:
                self._count_trailers(len(data) - start)
                break
            if self._left:
                pieces.append(data[start : start + self._left])
                self._left -= len(pieces[-1])
                start += len(pieces[-1])
                self._after_data = not self._left
            else:
                try:
                    start = self._take_line(data, start)
                except MalformedChunks:
                    raise MalformedChunks(b"".join(pieces)) from None
        return b"".join(pieces)

    def _take_line(self, data: bytes, start: int) -> int:
        """Read up to the end of a line; return where to go on."""
        end = data.find(b"\n", start) + 1
        self._line += data[start : end or len(data)]
        if len(self._line) > MAX_LINE_BYTES:
            raise HeadTooLong
        if not end:
            return len(data)
        line, self._line = bytes(self._line).strip(), bytearray()
        if self._after_data:
            if line:
                raise MalformedChunks
            self._after_data = False
        else:
            self._left = _size(line)
            self._in_trailers = not self._left
        return end

    def _count_trailers(self, more_bytes: int) -> None:
        self._trailer_bytes += more_bytes
        if self._trailer_bytes > MAX_TRAILER_BYTES:
            raise HeadTooLong


def _size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not _SIZE.fullmatch(digits):
        raise MalformedChunks
    return int(digits, 16)
