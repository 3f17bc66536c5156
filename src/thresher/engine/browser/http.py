"""Heads of HTTP messages that pass the proxy: parsed strictly, and written again without hop-by-hop headers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-authenticate", "proxy-connection", "te", "upgrade"}
)
_NOT_SENT = frozenset({*_HOP_BY_HOP, "referer"})
_NOT_RETURNED = frozenset({*_HOP_BY_HOP, "www-authenticate"})  # there is no user to type a password


class BadHead(Exception):
    """A malformed head, or a request that this proxy does not support."""


@dataclass(frozen=True)
class Head:
    """The three parts of a message's first line, and its header lines."""

    first: tuple[str, str, str]
    lines: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, data: bytes) -> Head:
        """Parse a head, with the empty line at its end.

        Raises:
            BadHead: It is malformed.
        """
        first, *rest = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        words = (*first.split(" ", 2), "", "")[:3]
        lines = [line.partition(":") for line in rest]
        if not words[1] or any(not colon or name != name.strip() or not name for name, colon, _ in lines):
            raise BadHead("not a head")
        return cls(words, tuple((name, value.strip()) for name, _, value in lines))  # type: ignore[arg-type]

    def get(self, wanted: str) -> str:
        """Return the value of the first header of a name; empty when there is none."""
        return next((value for name, value in self.lines if name.lower() == wanted), "")

    def place(self) -> tuple[str, int]:
        """Return the host name, or address, and the port that a request to a proxy is for.

        Raises:
            BadHead: It has none.
        """
        method, target, _ = self.first
        try:
            parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
            port = parts.port if parts.port is not None or method == "CONNECT" else 80
        except ValueError as error:
            raise BadHead("not a place") from error
        if not parts.hostname or port is None or (method != "CONNECT" and parts.scheme != "http"):
            raise BadHead("not a place")
        return parts.hostname, port

    def body_bytes(self) -> int:
        """Return the length of a request's body.

        Raises:
            BadHead: It is not given by exactly one valid Content-Length, the only form without ambiguity.
        """
        lengths = [value for name, value in self.lines if name.lower() == "content-length"]
        digits = lengths[0] if lengths else "0"
        if self.get("transfer-encoding") or len(lengths) > 1 or not (digits.isascii() and digits.isdigit()):
            raise BadHead("a body of unknown length")
        return int(digits)

    def for_server(self) -> bytes:
        """Return a request for the origin server: with a path, and for one response only."""
        method, target, _ = self.first
        parts = urlsplit(target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return _written((method, path, "HTTP/1.1"), self.lines, without=_NOT_SENT)

    def for_proxy(self, authorization: str) -> bytes:
        """Return a request for another proxy: with the whole URL, and for one response only."""
        method, target, _ = self.first
        kept = [(name, value) for name, value in self.lines if name.lower() not in _NOT_SENT]
        own = [("Proxy-Authorization", authorization)] if authorization else []
        return _written((method, target, "HTTP/1.1"), [*kept, *own], without=frozenset())

    def for_browser(self) -> bytes:
        """Return a response after which the browser sends no other request over its connection."""
        return _written(self.first, self.lines, without=_NOT_RETURNED)


def _written(first: tuple[str, str, str], lines: Iterable[tuple[str, str]], *, without: frozenset[str]) -> bytes:
    kept = [f"{name}: {value}\r\n" for name, value in lines if name.lower() not in without]
    return f"{' '.join(first).rstrip()}\r\n{''.join(kept)}Connection: close\r\n\r\n".encode("latin-1")
