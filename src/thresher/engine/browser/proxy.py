"""The way out of a browser: a proxy on loopback through which everything goes that Chromium dials.

A browser looks names up by itself, past the address guard. Told to use a proxy, it hands names over, and the proxy asks
the same guard as the engine's own fetches, then dials exactly the address that was checked. Requests need the secret of
a page that is being rendered, so no other program of the machine goes this way, and nothing outlives its page. One
connection carries one request, or one tunnel.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import count

from thresher.engine.browser.heads import BadHead, Head
from thresher.engine.browser.passes import Pass

logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
MAX_HEAD_BYTES = 256 << 10
MAX_OPEN = 256
"""Connections open at once, over all pages."""
READ_SECONDS = 10.0
DIAL_SECONDS = 10.0
CHUNK_BYTES = 64 << 10
MOST_INTERIM_ANSWERS = 5

_PHRASES = {400: "Bad Request", 407: "Proxy Authentication Required"}

Places = Callable[[str, int], Awaitable[tuple[Sequence[tuple[str, int]], str]]]
"""From a name and a port to the addresses and ports that may be dialled, or to why none may."""
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[str, int], Awaitable[Streams]]


async def dial(address: str, port: int) -> Streams:
    """Connect to an address; no name is looked up."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
        return await asyncio.open_connection(sock=sock, limit=MAX_HEAD_BYTES)
    except BaseException:
        sock.close()
        raise


class _Answer(Exception):
    """Ends an exchange with a status."""

    def __init__(self, status: int) -> None:
        self.status = status


class _Silence(Exception):
    """Ends an exchange without a word: what was refused must not look like an answer, nor tell why."""


class GuardedProxy:
    """Serves the pages that were let in.

    Args:
        places: The address guard.
        dial: Connects; tests put one in that only writes down.
    """

    def __init__(self, places: Places, *, dial: Dial = dial) -> None:
        self.port = 0
        self._places = places
        self._dial = dial
        self._passes: dict[str, Pass] = {}
        self._server: asyncio.Server | None = None
        self._numbers = count()
        self._open = 0

    @property
    def url(self) -> str:
        """Where the browser finds it."""
        return f"http://{ADDRESS}:{self.port}"

    async def start(self) -> None:
        """Begin to serve, on any port that is free."""
        self._server = await asyncio.start_server(self._serve, ADDRESS, 0, limit=MAX_HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    def admit(self, one: Pass) -> None:
        """Let a page through."""
        self._passes[one.authorization] = one

    def dismiss(self, one: Pass) -> None:
        """Let a page through no more; what it has open is cut."""
        self._passes.pop(one.authorization, None)
        one.end()

    def close(self) -> None:
        """Stop serving."""
        if self._server:
            self._server.close()
        for one in list(self._passes.values()):
            self.dismiss(one)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= MAX_OPEN:
                await self._exchange(reader, writer)
        except _Answer as answer:
            with suppress(OSError):
                writer.write(_refusal(answer.status))
                await writer.drain()
        except (_Silence, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # nothing to say; or one side is gone, or says nothing that can be read
        finally:
            self._open -= 1
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(READ_SECONDS):
            data = await reader.readuntil(b"\r\n\r\n")
        try:
            head = Head.read(data)
            one = self._passes.get(head.get("proxy-authorization"))
            if one is None:
                raise _Answer(407)
            name, port = head.place()
            body_bytes = 0 if head.first[0] == "CONNECT" else head.body_bytes()
        except BadHead as error:
            raise _Answer(400) from error
        number = next(self._numbers)
        if not one.enter(number, writer.transport.abort):
            raise _Silence
        try:
            server = await self._reach(one, name, port)
            try:
                await _Passage(one, (reader, writer), server).carry(head, body_bytes)
            finally:
                server[1].transport.abort()
        finally:
            one.leave(number)

    async def _reach(self, one: Pass, name: str, port: int) -> Streams:
        """Connect to a place that the guard lets us dial."""
        places, why = await self._places(name, port) if one.expects(name, port) else ((), "not asked for by the page")
        if why:
            one.refuse(f"{name}:{port}: {why}")
            logger.info("a page was not let through to %s:%s: %s", name, port, why)
            raise _Silence
        for address, number in places:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(DIAL_SECONDS):
                    return await self._dial(address, number)
        raise _Silence


class _Passage:
    """One request and its answer, or one tunnel, between a browser and a server."""

    def __init__(self, one: Pass, browser: Streams, server: Streams) -> None:
        self._pass = one
        self._from_browser, self._to_browser = browser
        self._from_server, self._to_server = server

    async def carry(self, head: Head, body_bytes: int) -> None:
        """Carry bytes until either side has had enough, or the page has had its share."""
        if head.first[0] == "CONNECT":
            self._to_browser.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _either(
                self._pump(self._from_browser, self._to_server), self._pump(self._from_server, self._to_browser)
            )
            return
        self._to_server.write(head.for_server())
        await self._send(body_bytes)
        await _either(self._answer(), _end_of(self._from_browser))

    async def _send(self, left: int) -> None:
        """Pass on the body of a request, and not a byte more: what follows it was not checked."""
        while left and (data := await self._from_browser.read(min(left, CHUNK_BYTES))):
            if not self._pass.spend(len(data)):
                return
            left -= len(data)
            self._to_server.write(data)
            await self._to_server.drain()

    async def _answer(self) -> None:
        for _ in range(MOST_INTERIM_ANSWERS):
            try:
                answer = Head.read(await self._from_server.readuntil(b"\r\n\r\n"))
            except BadHead as error:
                raise _Silence from error
            if not answer.first[1].startswith("1"):
                break
        if self._pass.spend(sum(map(len, answer.first))):
            self._to_browser.write(answer.for_browser())
            await self._pump(self._from_server, self._to_browser)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK_BYTES):
            if not self._pass.spend(len(data)):
                return
            writer.write(data)
            await writer.drain()


async def _end_of(reader: asyncio.StreamReader) -> None:
    while await reader.read(CHUNK_BYTES):
        pass


async def _either(*ways: Awaitable[None]) -> None:
    """Wait until one of two ways is at its end; the other is broken off."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _refusal(status: int) -> bytes:
    challenge = 'Proxy-Authenticate: Basic realm="thresher"\r\n' if status == 407 else ""
    head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\n{challenge}Content-Length: 0\r\nConnection: close\r\n\r\n"
    return head.encode("ascii")
