"""A proxy on loopback that all connections of Chromium go through.

A browser resolves names itself, without the address guard. With a proxy it passes names on, and the proxy uses the same
guard as the engine's own fetches, then connects to exactly the address that was checked. Requests need the secret of a
page that is being rendered, so no other program of the machine can use the proxy, and no connection outlives its page.
One connection carries one request, or one tunnel.

`HostLocks` allows one open request per host at a time over all rendered pages of a worker.

`Head` is that of a message that passes the proxy: parsed strictly, and written again without hop-by-hop headers.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from urllib.parse import urlsplit

from thresher.config.upstream_proxy import UpstreamProxy
from thresher.engine.browser.quota import NetworkQuota

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
        return _http_written((method, path, "HTTP/1.1"), self.lines, without=_NOT_SENT)

    def for_proxy(self, authorization: str) -> bytes:
        """Return a request for another proxy: with the whole URL, and for one response only."""
        method, target, _ = self.first
        kept = [(name, value) for name, value in self.lines if name.lower() not in _NOT_SENT]
        own = [("Proxy-Authorization", authorization)] if authorization else []
        return _http_written((method, target, "HTTP/1.1"), [*kept, *own], without=frozenset())

    def for_browser(self) -> bytes:
        """Return a response after which the browser sends no other request over its connection."""
        return _http_written(self.first, self.lines, without=_NOT_RETURNED)


def _http_written(first: tuple[str, str, str], lines: Iterable[tuple[str, str]], *, without: frozenset[str]) -> bytes:
    kept = [f"{name}: {value}\r\n" for name, value in lines if name.lower() not in without]
    return f"{' '.join(first).rstrip()}\r\n{''.join(kept)}Connection: close\r\n\r\n".encode("latin-1")


class HostLocks:
    """One lock per host that is in use."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[None]:
        """Hold the lock of a host for the duration of the block."""
        lock, waiting = self._locks.get(host, (asyncio.Lock(), 0))
        self._locks[host] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks.pop(host)
            if waiting > 1:
                self._locks[host] = lock, waiting - 1


logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 256 << 10
MAX_OPEN = 256
"""Open connections of all pages."""
READ_SECONDS = 10.0
DIAL_SECONDS = 10.0
CHUNK_BYTES = 64 << 10
MAX_INTERIM_RESPONSES = 5

_PHRASES = {400: "Bad Request", 407: "Proxy Authentication Required"}

ResolveEndpoints = Callable[[str, int], Awaitable[tuple[Sequence[tuple[str, int]], str]]]
"""From a name and a port to the addresses and ports that may be connected to, or to why none may."""
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[str, int], Awaitable[Streams]]


async def dial(address: str, port: int) -> Streams:
    """Connect to an address; no name is resolved."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        return await asyncio.open_connection(sock=sock, limit=MAX_HEAD_BYTES)
    except BaseException:
        sock.close()
        raise


class _Refusal(Exception):
    """Ends an exchange with a status."""

    def __init__(self, status: int) -> None:
        self.status = status


class _Drop(Exception):
    """Ends an exchange without a response: a refusal must not resemble one, nor reveal why."""


class GuardedProxy:
    """The proxy; it serves pages with an admitted quota.

    Args:
        endpoints: The address guard.
        upstream: The proxy of the crawl, whose addresses the guard returns; None to connect to servers.
        dial: Connects; tests replace it by one that only records.
    """

    def __init__(
        self, endpoints: ResolveEndpoints, *, upstream: UpstreamProxy | None = None, dial: Dial = dial
    ) -> None:
        self.port = 0
        self._upstream = upstream
        self._resolve_endpoints = endpoints
        self._dial = dial
        self._quotas: dict[str, NetworkQuota] = {}
        self._server: asyncio.Server | None = None
        self._numbers = count()
        self._open = 0

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}"

    async def start(self) -> None:
        """Start to serve, on any free port."""
        self._server = await asyncio.start_server(self._serve, ADDRESS, 0, limit=MAX_HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    def admit(self, quota: NetworkQuota) -> None:
        self._quotas[quota.authorization] = quota

    def dismiss(self, quota: NetworkQuota) -> None:
        """Stop serving the page of a quota; its open connections are closed."""
        self._quotas.pop(quota.authorization, None)
        quota.end()

    def close(self) -> None:
        if self._server:
            self._server.close()
        for quota in list(self._quotas.values()):
            self.dismiss(quota)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MAX_OPEN:
                await self._exchange(reader, writer)
        except _Refusal as refusal:
            with suppress(OSError):
                writer.write(_written(refusal.status))
                await writer.drain()
        except (_Drop, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # dropped; or one side is gone, or sends nothing that can be read
        finally:
            self._open -= 1
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(READ_SECONDS):
            data = await reader.readuntil(b"\r\n\r\n")
        try:
            head = Head.read(data)
            quota = self._quotas.get(head.get("proxy-authorization"))
            if quota is None:
                raise _Refusal(407)
            name, port = head.place()
            body_bytes = 0 if head.first[0] == "CONNECT" else head.body_bytes()
        except BadHead as error:
            raise _Refusal(400) from error
        number = next(self._numbers)
        if not quota.enter(number, writer.transport.abort):
            raise _Drop
        try:
            server = await self._connect(quota, name, port)
            try:
                request = await self._request(head, server)
                await _Relay(quota, (reader, writer), server).carry(request, body_bytes)
            finally:
                server[1].transport.abort()
        finally:
            quota.leave(number)

    async def _request(self, head: Head, server: Streams) -> bytes:
        """Return what is sent for a request to the server, or to the next proxy; empty when a tunnel is open."""
        is_tunnel = head.first[0] == "CONNECT"
        if self._upstream is None:
            return b"" if is_tunnel else head.for_server()
        if not is_tunnel:
            return head.for_proxy(self._upstream.authorization())
        server[1].write(self._upstream.connect_request(*head.place()))
        async with asyncio.timeout(READ_SECONDS):
            answer = await server[0].readuntil(b"\r\n\r\n")
        if not answer.split(b" ", 2)[1:2] or not answer.split(b" ", 2)[1].startswith(b"2"):
            raise _Drop
        return b""

    async def _connect(self, quota: NetworkQuota, name: str, port: int) -> Streams:
        """Connect to a host and port that the guard allows."""
        endpoints, why = (
            await self._resolve_endpoints(name, port)
            if quota.expects(name, port)
            else ((), "not requested by the page")
        )
        if why:
            quota.refuse(f"{name}:{port}: {why}")
            logger.info("refused to connect a page to %s:%s: %s", name, port, why)
            raise _Drop
        for address, number in endpoints:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(DIAL_SECONDS):
                    return await self._dial(address, number)
        raise _Drop


class _Relay:
    """One request and its response, or one tunnel, between a browser and a server."""

    def __init__(self, quota: NetworkQuota, browser: Streams, server: Streams) -> None:
        self._quota = quota
        self._from_browser, self._to_browser = browser
        self._from_server, self._to_server = server

    async def carry(self, request: bytes, body_bytes: int) -> None:
        """Pass bytes on until either side closes, or the quota of the page is used up; without a request, a tunnel."""
        if not request:
            self._to_browser.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _either(
                self._pump(self._from_browser, self._to_server), self._pump(self._from_server, self._to_browser)
            )
            return
        self._to_server.write(request)
        await self._send(body_bytes)
        await _either(self._return_response(), _end_of(self._from_browser))

    async def _send(self, left: int) -> None:
        """Pass on the body of a request, and not a byte more: what follows was not checked."""
        while left and (data := await self._from_browser.read(min(left, CHUNK_BYTES))):
            if not self._quota.spend(len(data)):
                return
            left -= len(data)
            self._to_server.write(data)
            await self._to_server.drain()

    async def _return_response(self) -> None:
        for _ in range(MAX_INTERIM_RESPONSES):
            try:
                head = Head.read(await self._from_server.readuntil(b"\r\n\r\n"))
            except BadHead as error:
                raise _Drop from error
            if not head.first[1].startswith("1"):
                break
        if self._quota.spend(sum(map(len, head.first))):
            self._to_browser.write(head.for_browser())
            await self._pump(self._from_server, self._to_browser)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK_BYTES):
            if not self._quota.spend(len(data)):
                return
            writer.write(data)
            await writer.drain()


async def _end_of(reader: asyncio.StreamReader) -> None:
    while await reader.read(CHUNK_BYTES):
        pass


async def _either(*ways: Awaitable[None]) -> None:
    """Wait until one of the directions ends; cancel the other."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _written(status: int) -> bytes:
    challenge = 'Proxy-Authenticate: Basic realm="thresher"\r\n' if status == 407 else ""
    head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\n{challenge}Content-Length: 0\r\nConnection: close\r\n\r\n"
    return head.encode("ascii")
