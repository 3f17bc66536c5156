"""Heads of HTTP messages as they pass the proxy: read, and written anew without what was meant for the proxy only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

_OF_THE_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-authenticate", "proxy-connection", "te", "upgrade"}
)
_OF_THE_REQUEST = frozenset({*_OF_THE_HOP, "referer"})
_OF_THE_ANSWER = frozenset({*_OF_THE_HOP, "www-authenticate"})  # nobody is there to type a password
_USUAL_PORTS = {"http": 80, "https": 443}


class BadHead(Exception):
    """A head that does not follow the rules, or asks for what a proxy of ours does not do."""


@dataclass(frozen=True)
class Head:
    """The first line of a message, in its three words, and its header lines."""

    first: tuple[str, str, str]
    lines: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, data: bytes) -> Head:
        """Read a head, up to its empty line.

        Raises:
            BadHead: It is none.
        """
        first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        words = (*first.split(" ", 2), "", "")[:3]
        lines = [line.partition(":") for line in rest]
        if not words[1] or any(not colon or name != name.strip() or not name for name, colon, _ in lines):
            raise BadHead("not a head")
        return cls(words, tuple((name, value.strip()) for name, _, value in lines))  # type: ignore[arg-type]

    def get(self, wanted: str) -> str:
        """Return the value of a header; empty when it is missing."""
        return next((value for name, value in self.lines if name.lower() == wanted), "")

    def place(self) -> tuple[str, int]:
        """Return the name, or address, and the port that a request to a proxy asks for.

        Raises:
            BadHead: It names none.
        """
        method, target, _ = self.first
        try:
            parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
            usual = None if method == "CONNECT" else _USUAL_PORTS.get(parts.scheme if parts.scheme == "http" else "")
            port = usual if parts.port is None else parts.port
        except ValueError as error:
            raise BadHead("not a place") from error
        if not parts.hostname or port is None or (method != "CONNECT" and parts.scheme != "http"):
            raise BadHead("not a place")
        return parts.hostname, port

    def body_bytes(self) -> int:
        """Return how long the body of a request is.

        Raises:
            BadHead: It does not say so in the one way that leaves no doubt.
        """
        lengths = [value for name, value in self.lines if name.lower() == "content-length"]
        digits = lengths[0] if lengths else "0"
        if self.get("transfer-encoding") or len(lengths) > 1 or not (digits.isascii() and digits.isdigit()):
            raise BadHead("a body of unknown length")
        return int(digits)

    def for_server(self) -> bytes:
        """Write a request as the server wants it: with a path, for one answer."""
        method, target, _ = self.first
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return _written((method, path, "HTTP/1.1"), self.lines, without=_OF_THE_REQUEST)

    def for_browser(self) -> bytes:
        """Write an answer so that the browser sends nothing else over its connection."""
        return _written(self.first, self.lines, without=_OF_THE_ANSWER)


def _written(first: tuple[str, str, str], lines: Iterable[tuple[str, str]], *, without: frozenset[str]) -> bytes:
    kept = [f"{name}: {value}\r\n" for name, value in lines if name.lower() not in without]
    return f"{' '.join(first).rstrip()}\r\n{''.join(kept)}Connection: close\r\n\r\n".encode("latin-1")
