"""Downloads for the leases of a worker: resolves, fetches and makes page records, with limits.

Bodies are decompressed while they arrive, so a worker never holds more than the largest page of any of them, and of all
of them together not much more. A timer checks time, pace and slow hosts ten times a second.

`CurlClient` is libcurl's multi interface on the running asyncio loop.

Each event loop has one client. libcurl reports through callbacks which sockets and which timer to wait for. An
exception in a callback would leave a transfer without end, so none leaves them, and results are read in any case.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any

import pycurl

from thresher.config.access import AccessTable, HostAccess
from thresher.config.identity import Identity
from thresher.config.secrets import REDACTED, Secret
from thresher.engine.dns.resolver import GuardedResolver, host_and_port
from thresher.engine.download.errors import (
    AddressRefused,
    CertificateInvalid,
    FetchFailed,
    LeaseExpired,
    ProxyRefused,
    TooSlow,
    WorkerStopped,
    timed_out,
)
from thresher.engine.download.request import FetchRequest, checked_lines
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.engine.download.transfer import (
    BodyMemoryLimit,
    CouldNotConnect,
    StaleConnection,
    Transfer,
    TransferRequest,
)
from thresher.reasons.reason import ReasonKind
from thresher.records import FetchedPage, Lease
from thresher.urls.canonical import host_key

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


logger = logging.getLogger(__name__)

POLL_SECONDS = 0.1
CERTIFICATE_SECONDS = 600.0
"""How long a certificate that is not valid is not verified again."""
MAX_CERTIFICATES = 1_000

_PROXY_AUTHENTICATION = 407
ALL_LINES = frozenset({"x-robots-tag", "content-signal", "content-usage", "link"})
"""The headers of which every line counts, not only the first; their values are joined by newlines."""


class Downloader:
    """Fetches the requests of one worker.

    Args:
        headers: Sent with every request.
        max_bytes: Limit for the body of a page.
        access: Hosts that get secrets; none by default.
        identity: Signs the requests; none by default.
        records_certificates: Whether a page is fetched though the certificate of its server is not valid, and the
            problem recorded; never where a secret is sent.
        client: Connects; tests replace it by one that only records.
        on_send: Called with the lease of each page right before its server is connected to.
    """

    def __init__(
        self,
        resolver: GuardedResolver,
        slow_hosts: SlowHostLimiter,
        *,
        headers: Mapping[str, str],
        max_bytes: int,
        access: AccessTable | None = None,
        identity: Identity | None = None,
        records_certificates: bool = False,
        client: CurlClient | None = None,
        on_send: Callable[[Lease], None] = lambda lease: None,
    ) -> None:
        self._resolver = resolver
        self._slow_hosts = slow_hosts
        self._headers = dict(headers)
        self._max_bytes = max_bytes
        self._access = access or AccessTable()
        self._identity = identity
        self._records_certificates = records_certificates
        self._certificates: dict[str, tuple[str, float]] = {}
        self._client = client or CurlClient()
        self._on_send = on_send
        self._body_memory = BodyMemoryLimit()
        self._open: dict[Transfer, None] = {}
        self._checked_at, self._lost_seconds = time.monotonic(), 0.0
        self._checks = asyncio.create_task(self._check_often())

    @asynccontextmanager
    async def fetch(self, request: FetchRequest) -> AsyncIterator[FetchedPage]:
        """Fetch a page; its body counts as held until the block ends.

        Raises:
            LeaseExpired: There is no time left for it; nothing was sent.
            AddressRefused: The address guard refused it.
            WorkerStopped: Its time ran out while this worker did not run.
            FetchFailed: No response came.
        """
        if time.monotonic() > request.start_by:
            raise LeaseExpired
        start = time.monotonic()
        access = self._access.find(request.url)
        problem = self._known_problem(request.url) if access is None else ""
        endpoints = await self._resolve_endpoints(request)
        transfer = self._transfer(request, access, endpoints, start, is_verified=not problem)
        if not request.is_robots:
            self._on_send(request.lease)
        try:
            try:
                is_complete = await self._run(transfer)
            except CertificateInvalid as error:
                if access:
                    raise CertificateInvalid(error.problem, is_secret=True) from error
                if not self._records_certificates:
                    raise
                problem = self._remember_problem(request.url, error.problem)
                transfer = self._transfer(request, None, endpoints, start, is_verified=False)
                is_complete = await self._run(transfer)
            if self._resolver.proxy and transfer.head.status == _PROXY_AUTHENTICATION:
                raise ProxyRefused(_PROXY_AUTHENTICATION)
            page = replace(_page(transfer, request.url, is_complete=is_complete), certificate=problem)
            yield access.redacted(page) if access else page
        finally:
            transfer.release()

    def _known_problem(self, url: str) -> str:
        """Return the problem of a host's certificate, found a short time ago, so that no connection is wasted."""
        problem, until = self._certificates.get(host_key(url), ("", 0.0))
        return problem if url.startswith("https:") and time.monotonic() < until else ""

    def _remember_problem(self, url: str, problem: str) -> str:
        self._certificates.pop(host_key(url), None)
        self._certificates[host_key(url)] = problem, time.monotonic() + CERTIFICATE_SECONDS
        if len(self._certificates) > MAX_CERTIFICATES:
            del self._certificates[next(iter(self._certificates))]
        return problem

    async def _resolve_endpoints(self, request: FetchRequest) -> list[tuple[str, int]]:
        try:
            with self._excusing_host():
                async with asyncio.timeout(request.timeout_seconds):
                    endpoints, why = await self._resolver.resolve_endpoints(*host_and_port(request.url))
        except TimeoutError as error:
            raise timed_out() from error
        if why:
            raise AddressRefused(why)
        if not endpoints:
            raise FetchFailed(ReasonKind.DNS_OR_PROXY if self._resolver.proxy else ReasonKind.DNS)
        return endpoints

    def _transfer(
        self,
        request: FetchRequest,
        access: HostAccess | None,
        endpoints: list[tuple[str, int]],
        start: float,
        *,
        is_verified: bool,
    ) -> Transfer:
        secret_lines = _with_cookies(access.lines(request.url) if access else [], request.cookies)
        replaced = {name.lower() for name, _ in secret_lines}
        usual = {**self._headers, **request.headers}
        if self._identity and is_verified and request.url.startswith("https:"):
            usual |= self._identity.sign(request.url)
            secret_lines = [*secret_lines, ("Signature", Secret(usual.pop("Signature")))]
        lines = checked_lines({name: value for name, value in usual.items() if name.lower() not in replaced})
        wanted = TransferRequest(
            url=request.url,
            lines=lines,
            secret_lines=secret_lines,
            is_verified=is_verified,
            endpoints=endpoints,
            refusal=self._resolver.refusal,
            proxy=self._resolver.proxy,
            allows_http2=not request.lease.tries,  # for servers whose HTTP/2 fails
            max_bytes=request.max_bytes or self._max_bytes,
            timeout_seconds=request.timeout_seconds,
            end_by=request.start_by + request.timeout_seconds,
        )
        return Transfer(wanted, self._body_memory, start=start)

    async def _run(self, transfer: Transfer) -> bool:
        self._open[transfer] = None
        self._slow_hosts.begins(transfer, host_key(transfer.request.url))
        is_answered = False
        try:
            with self._excusing_host():
                is_complete = await self._client.run(transfer)
            is_answered = True
        finally:
            del self._open[transfer]
            self._slow_hosts.ends(transfer, answered=is_answered)
        return is_complete

    @contextmanager
    def _excusing_host(self) -> Iterator[None]:
        """Raise `WorkerStopped` for a timeout if this worker did not run for most of the time."""
        start, lost_seconds = time.monotonic(), self._lost_seconds
        try:
            yield
        except (FetchFailed, TimeoutError) as error:
            now = time.monotonic()
            lost_seconds = self._lost_seconds + self._late_seconds(now) - lost_seconds
            is_timeout = isinstance(error, TimeoutError) or error.reason.kind is ReasonKind.TIMEOUT
            if is_timeout and lost_seconds > (now - start) / 2:
                raise WorkerStopped from error
            raise

    def _late_seconds(self, now: float) -> float:
        """Return for how long this worker has not run since its last check; 0 for the usual delays."""
        late_seconds = now - self._checked_at - POLL_SECONDS
        return late_seconds if late_seconds > POLL_SECONDS else 0.0

    async def _check_often(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            now = time.monotonic()
            late_seconds, self._checked_at = self._late_seconds(now), now
            self._lost_seconds += late_seconds
            self._slow_hosts.exclude_seconds(late_seconds)
            for transfer in list(self._open):
                transfer.exclude_seconds(late_seconds)
                transfer.check(now)
            for slow in self._slow_hosts.too_many():
                slow.abort(TooSlow())  # type: ignore[attr-defined]

    def close(self) -> None:
        """End every fetch at once."""
        self._checks.cancel()
        self._client.close()


def _page(transfer: Transfer, url: str, *, is_complete: bool) -> FetchedPage:
    return FetchedPage(
        url=url,
        status=transfer.head.status,
        headers=headers_of(transfer.head.lines),
        body=transfer.body(),
        fetched_at=time.time(),
        elapsed_seconds=transfer.latency,
        truncated=not is_complete,
        header_lines=transfer.head.lines,
        request_lines=[*transfer.request.lines, *((name, REDACTED) for name, _ in transfer.request.secret_lines)],
    )


def _with_cookies(lines: list[tuple[str, Secret]], cookies: Secret | None) -> list[tuple[str, Secret]]:
    """Add cookies to the secret header lines of a request; a request has one Cookie header."""
    if cookies is None:
        return lines
    configured = [secret.reveal() for name, secret in lines if name == "Cookie"]
    others = [(name, secret) for name, secret in lines if name != "Cookie"]
    return [*others, ("Cookie", Secret("; ".join([*configured, cookies.reveal()])))]


def headers_of(lines: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the first value of each header, by its name in lower case; all values of `ALL_LINES`."""
    headers: dict[str, str] = {}
    for name, value in lines:
        lower = name.lower()
        if lower not in headers:
            headers[lower] = value
        elif lower in ALL_LINES:
            headers[lower] += f"\n{value}"
    return headers
