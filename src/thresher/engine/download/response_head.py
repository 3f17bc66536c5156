"""The head of a response, line by line, with limits.

libcurl refuses a line of more than 100 KiB. The limits here are for all lines together, and count the heads of interim
responses too. A head that is too long ends the fetch, and nothing of it is kept.
"""

from __future__ import annotations

import re

from thresher.engine.download.errors import HeadTooLong, NotHttp

MAX_HEAD_BYTES = 256 << 10
MAX_HEAD_LINES = 2000

_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([1-9][0-9]{2})(?![0-9])")
_SWITCHING_PROTOCOLS = 101


class ResponseHead:
    """Collects the lines of a head; those of interim responses are counted and dropped.

    Attributes:
        status: 0 until the status line of the response has come.
        lines: Name and value of each header, in the order of the response.
        is_complete: Whether the empty line at the end has come.
    """

    def __init__(self) -> None:
        self.status = 0
        self.lines: list[tuple[str, str]] = []
        self.is_complete = False
        self._bytes = 0
        self._count = 0

    def take(self, line: bytes) -> None:
        """Add a line, with its line break.

        Raises:
            HeadTooLong: There are too many lines or bytes.
            NotHttp: The status line is malformed, or announces a protocol that was not requested.
        """
        self._count += 1
        self._bytes += len(line)
        if self._bytes > MAX_HEAD_BYTES or self._count > MAX_HEAD_LINES:
            raise HeadTooLong
        text = line.rstrip(b"\r\n")
        if self.is_complete:  # trailers, which HTTP/2 sends in this way
            return
        if not self.status:
            self.status = _status(text)
        elif text:
            self._add(text)
        elif self.status < 200:  # interim: another head follows
            self.status, self.lines = 0, []
        else:
            self.is_complete = True

    def _add(self, text: bytes) -> None:
        name, colon, value = text.partition(b":")
        if colon and name.strip():
            self.lines.append((name.strip().decode("latin-1"), value.strip().decode("latin-1")))

    def values(self, wanted: str) -> list[str]:
        """Return the values of all headers of a name in lower case."""
        return [value for name, value in self.lines if name.lower() == wanted]


def _status(line: bytes) -> int:
    status = _STATUS.match(line)
    if not status or int(status[1]) == _SWITCHING_PROTOCOLS:
        raise NotHttp
    return int(status[1])
