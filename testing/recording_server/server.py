"""The web server: HTTP/1.1 with keep-alive over asyncio, on loopback addresses only.

Every host of the site is a loopback address with a listener of its own; all share one port. 127.0.0.1 on the same
port answers control requests, which are not logged: ``/flush`` writes the log, ``/count`` tells how many requests
have ended and how many are open.

A script, when there is one, is asked first; what it leaves open the generated site answers, if there is one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from time import monotonic_ns
from typing import cast

from testing.recording_server import scripted
from testing.recording_server.log import Hit, HitLog
from testing.recording_server.script import Router
from testing.recording_server.site import Site

CONTROL_ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 64 * 1024
CACHE_BYTES = 256 << 20
ROBOTS = {"allow": (200, b"User-agent: *\nAllow: /\n"), "404": (404, b"no rules here\n")}
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}


@dataclass(kw_only=True)
class Answers:
    """What the site answers, and how long it takes to.

    Args:
        robots: ``allow`` (200, everything may be fetched) or ``404``.
        latency_seconds: Least time from request to response.
        jitter_seconds: At most so much is added to it, at random.
    """

    site: Site
    port: int
    robots: str = "allow"
    latency_seconds: float = 0.0
    jitter_seconds: float = 0.0
    random: Random = field(default_factory=lambda: Random(0))

    def __post_init__(self) -> None:
        self._page = lru_cache(maxsize=CACHE_BYTES // self.site.page_bytes)(self._render)

    def answer(self, host: str, method: str, path: str) -> tuple[int, bytes]:
        """Return the status and the whole response to one request."""
        if method not in {"GET", "HEAD"}:
            return 405, response(405, b"only GET and HEAD\n", "text/plain")
        if path == "/robots.txt":
            status, body = ROBOTS[self.robots]
            return status, response(status, body, "text/plain")
        page = self.site.page_numbers.get(host + path)
        if page is None:
            return 404, response(404, b"<!doctype html><title>Not found</title><p>No such page.", "text/html")
        return 200, self._page(page)

    def wait_seconds(self) -> float:
        """Return how long the next response is held back."""
        return self.latency_seconds + self.jitter_seconds * self.random.random()

    def _render(self, page: int) -> bytes:
        return response(200, self.site.render(page, self.port), "text/html; charset=utf-8")


def response(status: int, body: bytes, content_type: str) -> bytes:
    """Return a whole HTTP response."""
    head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode("ascii") + body


class Connection(asyncio.Protocol):
    """One connection: requests are answered one after the other, each with its line in the log."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = b""
        self._arrived_ns = 0
        self._request: tuple[int, str] | None = None  # start_ns and path of the request being answered
        self._answered: tuple[int, int] | None = None  # its status and sent_ns, while bytes are still to be taken
        self._timer: asyncio.TimerHandle | None = None
        self._sending: scripted.Sending | None = None  # a scripted answer on its way

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)  # resume_writing then means: the kernel has taken all
        self._host = self._transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        self._arrived_ns = monotonic_ns()
        self._buffer += data
        self._next_request()

    def _next_request(self) -> None:
        while self._request is None and self._sending is None and (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._begin(head)
        if len(self._buffer) > MAX_HEAD_BYTES:
            self._transport.abort()

    def _begin(self, head: bytes) -> None:
        method, _, rest = head.split(b"\r\n", 1)[0].decode("ascii", "backslashreplace").partition(" ")
        path = rest.rpartition(" ")[0]
        if self._host == CONTROL_ADDRESS:
            self._transport.write(response(200, self._server.control(path), "application/json"))
            return
        self._server.open += 1
        if self._server.router and self._begin_scripted(self._server.router, method, path, head):
            return
        self._request = self._arrived_ns, path
        assert self._server.answers is not None
        wait_seconds = self._server.answers.wait_seconds()
        if wait_seconds > 0:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(wait_seconds, self._answer_late, method)
        else:
            self._answer(method)

    def _begin_scripted(self, router: Router, method: str, path: str, head: bytes) -> bool:
        """Answer as the script says; False when it leaves the request to the site."""
        request = scripted.ask(router, method, path, head, self._transport)
        answer = scripted.find(router, request)
        if answer is None and self._server.answers:
            return False
        self._sending = scripted.Sending(self._transport, request, answer or scripted.NOT_FOUND, self._sent)
        self._sending.start(self._arrived_ns)
        return True

    def _sent(self, hit: Hit) -> None:
        self._server.log.add(hit)
        self._server.open -= 1
        self._sending = None
        if not self._transport.is_closing():
            self._next_request()

    def _answer_late(self, method: str) -> None:
        self._timer = None
        self._answer(method)
        self._next_request()

    def _answer(self, method: str) -> None:
        assert self._request is not None
        assert self._server.answers is not None
        status, whole = self._server.answers.answer(self._host, method, self._request[1])
        if method == "HEAD":
            whole = whole[: whole.find(b"\r\n\r\n") + 4]
        self._answered = status, monotonic_ns()
        self._transport.write(whole)
        if self._transport.get_write_buffer_size() == 0 and not self._transport.is_closing():
            self._log(status, sent_ns=self._answered[1])

    def resume_writing(self) -> None:
        """The kernel has taken what was left of a response that did not fit at once."""
        if self._sending:
            self._sending.taken()
        elif self._request and self._answered:
            self._log(self._answered[0], sent_ns=monotonic_ns())
            self._next_request()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._sending:
            self._sending.lost()
        if self._timer:
            self._timer.cancel()
        if self._request:
            self._log(0, sent_ns=monotonic_ns())

    def _log(self, status: int, *, sent_ns: int) -> None:
        assert self._request is not None
        start_ns, path = self._request
        end_ns = sent_ns if status == 0 else monotonic_ns()
        self._server.log.add(Hit(start_ns, sent_ns, end_ns, self._host, status, path))
        self._server.open -= 1
        self._request = self._answered = None


class Server:
    """All listeners of a site or a script, and the log they share."""

    def __init__(self, answers: Answers | None, log: HitLog, router: Router | None = None) -> None:
        if answers is None and router is None:
            raise ValueError("the recording server has neither a site nor a script to answer from")
        self.answers = answers
        self.log = log
        self.router = router
        self.open = 0
        self._listeners: list[asyncio.Server] = []

    async def listen(self, sockets: Sequence[socket.socket], certificate: ssl.SSLContext | None = None) -> None:
        """Accept connections on sockets that are bound already; with a certificate they speak TLS."""
        loop = asyncio.get_running_loop()
        for each in sockets:
            listener = await loop.create_server(lambda: Connection(self), sock=each, backlog=256, ssl=certificate)
            self._listeners.append(listener)

    def control(self, path: str) -> bytes:
        """Answer a control request."""
        if path == "/flush":
            self.log.flush()
        return json.dumps({"ended": self.log.count, "open": self.open}).encode("ascii")

    def close(self) -> None:
        """Stop listening and put the log on disk."""
        for listener in self._listeners:
            listener.close()
        self.log.flush()


def bind(addresses: Sequence[str], port: int) -> list[socket.socket]:
    """Bind one port on every address; port 0 looks for one that is free on all of them.

    Raises:
        ValueError: An address is not a loopback address.
        OSError: The port is taken, or no port was free on all addresses.
    """
    for address in addresses:
        if not ipaddress.ip_address(address).is_loopback:
            raise ValueError(f"the recording server listens on loopback only, got {address}")
    for attempt in range(20):
        try:
            return _bind_all(addresses, port)
        except OSError:
            if port or attempt == 19:
                raise
    raise AssertionError("unreachable")


def _bind_all(addresses: Sequence[str], port: int) -> list[socket.socket]:
    bound: list[socket.socket] = []
    try:
        for address in addresses:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            bound.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, port))
            port = listener.getsockname()[1]
    except OSError:
        for listener in bound:
            listener.close()
        raise
    return bound
