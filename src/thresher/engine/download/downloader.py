"""Downloads for the leases of a worker: resolves, fetches and makes page records, with limits.

Bodies are decompressed while they arrive, so a worker never holds more than the largest page of any of them, and of all
of them together not much more. A timer checks time, pace and slow hosts ten times a second.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from thresher.config.access import AccessTable, HostAccess
from thresher.config.secrets import REDACTED, Secret
from thresher.engine.dns.resolver import GuardedResolver, host_and_port
from thresher.engine.download.client import CurlClient
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
from thresher.engine.download.transfer import BodyMemoryLimit, Transfer, TransferRequest
from thresher.reasons.reason import ReasonKind
from thresher.records import FetchedPage, Lease
from thresher.urls.canonical import host_key

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
        records_certificates: bool = False,
        client: CurlClient | None = None,
        on_send: Callable[[Lease], None] = lambda lease: None,
    ) -> None:
        self._resolver = resolver
        self._slow_hosts = slow_hosts
        self._headers = dict(headers)
        self._max_bytes = max_bytes
        self._access = access or AccessTable()
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
