"""libcurl's multi interface on the running asyncio loop.

Each event loop has one client. libcurl reports through callbacks which sockets and which timer to wait for. An
exception in a callback would leave a transfer without end, so none leaves them, and results are read in any case.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from time import monotonic
from typing import Any

import pycurl

from thresher.engine.download.errors import FetchFailed
from thresher.engine.download.transfer import CouldNotConnect, StaleConnection, Transfer
from thresher.reasons.reason import ReasonKind

logger = logging.getLogger(__name__)

MAX_KEPT_CONNECTIONS = 256
_READ, _WRITE = pycurl.POLL_IN, pycurl.POLL_OUT


class ClientClosed(FetchFailed):
    """The worker ends."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.WORKER_STOPPED)


class KeptConnections:
    """The idle connections of a client, to look for input that no request asked for.

    libcurl looks for it too, but not within a second after its last look; what came then would be taken for the
    response to the next request. In HTTP/2 a response names its request, and servers send frames at any time, so
    its connections are not looked at.
    """

    def __init__(self) -> None:
        self._descriptors: dict[tuple[str, int], int] = {}

    def keep(self, local: tuple[str, int] | None, descriptor: int) -> None:
        """Remember the descriptor of a connection that may be used again."""
        if local is None or descriptor < 0:
            return
        self._descriptors.pop(local, None)
        self._descriptors[local] = descriptor
        if len(self._descriptors) > 4 * MAX_KEPT_CONNECTIONS:
            del self._descriptors[next(iter(self._descriptors))]

    def has_input(self, address: str, port: int) -> bool:
        """Return whether a kept connection has input, or was closed by the server; it is no longer kept."""
        descriptor = self._descriptors.pop((address, port), -1)
        if descriptor < 0:
            return False
        try:
            connection = socket.socket(fileno=descriptor)
        except OSError:
            return False  # closed since: this is another connection
        try:
            return connection.getsockname()[:2] == (address, port) and _is_readable(connection)
        finally:
            connection.detach()


def _is_readable(connection: socket.socket) -> bool:
    try:
        connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


class CurlClient:
    """Runs transfers on the loop in which it was created."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running: dict[Any, Transfer] = {}
        self._unused: list[Any] = []
        self._events: dict[int, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._kept_connections = KeptConnections()
        self._is_closed = False
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        self._multi.setopt(pycurl.M_MAXCONNECTS, MAX_KEPT_CONNECTIONS)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    async def run(self, transfer: Transfer) -> bool:
        """Fetch from the first address that accepts a connection; return whether the body is complete.

        Raises:
            FetchFailed: No response came.
        """
        endpoints = transfer.request.endpoints
        for number, place in enumerate(endpoints):
            connect_seconds = (transfer.end - monotonic()) / (len(endpoints) - number)
            try:
                return await self._attempt_twice(transfer, place, connect_seconds)
            except CouldNotConnect:
                if number == len(endpoints) - 1 or transfer.end <= monotonic():
                    raise
        raise FetchFailed(ReasonKind.DNS)

    async def _attempt_twice(self, transfer: Transfer, place: tuple[str, int], connect_seconds: float) -> bool:
        try:
            return await self._attempt(transfer, place, connect_seconds, fresh=False)
        except StaleConnection:  # closed by libcurl, and nothing was sent
            return await self._attempt(transfer, place, connect_seconds, fresh=True)

    async def _attempt(
        self, transfer: Transfer, place: tuple[str, int], connect_seconds: float, *, fresh: bool
    ) -> bool:
        if self._is_closed:
            raise ClientClosed
        curl = self._unused.pop() if self._unused else pycurl.Curl()
        transfer.has_unsolicited_input = self._kept_connections.has_input
        ended = transfer.begin()
        try:
            transfer.set_up(curl, place, connect_seconds=connect_seconds, fresh=fresh)
            self._multi.add_handle(curl)
            self._running[curl] = transfer
            return await ended
        finally:
            self._abort(curl, transfer)

    def _abort(self, curl: Any, transfer: Transfer) -> None:
        """Close the connection of a transfer that libcurl has not finished."""
        if self._running.get(curl) is transfer:  # a handle that is done may be in use by another one already
            del self._running[curl]
            self._multi.remove_handle(curl)
            curl.close()

    def close(self) -> None:
        """End every transfer at once."""
        self._is_closed = True
        for curl, transfer in list(self._running.items()):
            self._abort(curl, transfer)
            transfer.abort(ClientClosed())
        for curl in self._unused:
            curl.close()
        self._unused.clear()
        self._multi.close()
        if self._timer:
            self._timer.cancel()
        for descriptor in list(self._events):
            self._watch(descriptor, 0)

    def _watch_socket(self, what: int, descriptor: int, multi: Any, data: Any) -> None:
        try:
            self._watch(descriptor, 0 if what == pycurl.POLL_REMOVE else what)
        except Exception:
            logger.exception("cannot watch a socket")

    def _watch(self, descriptor: int, wanted: int) -> None:
        watched = self._events.pop(descriptor, 0)
        if wanted:
            self._events[descriptor] = wanted
        if wanted & ~watched & _READ:
            self._loop.add_reader(descriptor, self._act, descriptor, pycurl.CSELECT_IN)
        elif watched & ~wanted & _READ:
            self._loop.remove_reader(descriptor)
        if wanted & ~watched & _WRITE:
            self._loop.add_writer(descriptor, self._act, descriptor, pycurl.CSELECT_OUT)
        elif watched & ~wanted & _WRITE:
            self._loop.remove_writer(descriptor)

    def _set_timer(self, milliseconds: int) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if milliseconds >= 0 and not self._is_closed:
            self._timer = self._loop.call_later(milliseconds / 1000, self._act, pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, descriptor: int, events: int) -> None:
        """Let libcurl work on a socket, or on its timeouts."""
        if self._is_closed:
            return
        if descriptor == pycurl.SOCKET_TIMEOUT:
            self._timer = None
        try:
            self._multi.socket_action(descriptor, events)
        except Exception:
            logger.exception("libcurl failed")
        finally:
            self._read_results()

    def _read_results(self) -> None:
        left = 1
        while left:
            left, done, failed = self._multi.info_read()
            for curl in done:
                self._finish(curl, 0, "")
            for curl, code, message in failed:
                self._finish(curl, code, message)

    def _finish(self, curl: Any, code: int, message: str) -> None:
        transfer = self._running.pop(curl, None)
        if transfer is None:
            return
        kept = not code and curl.getinfo(pycurl.INFO_HTTP_VERSION) != pycurl.CURL_HTTP_VERSION_2_0
        descriptor = curl.getinfo(pycurl.ACTIVESOCKET) if kept else -1  # gone when the handle is removed
        os_error = curl.getinfo(pycurl.OS_ERRNO) if code else 0
        self._multi.remove_handle(curl)
        self._kept_connections.keep(transfer.local, descriptor)
        curl.reset()
        self._unused.append(curl)
        transfer.finished(code, os_error, message)
