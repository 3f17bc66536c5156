"""Scrapy and Twisted on one side, the engine's records on the other: names, responses and errors.

Twisted's endpoint sends literals and names alike through the reactor's name resolver and connects to exactly what comes
back, so the address guard cannot be bypassed there either.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IAddress, IHostnameResolver
from twisted.web._newclient import ParseError
from zope.interface import implementer

from thresher.config.schema import NetworkConfig
from thresher.engine.dns.resolver import GuardedResolver, host_and_port, plain_name
from thresher.engine.download.downloader import headers_of
from thresher.engine.download.errors import AddressRefused, FetchFailed
from thresher.reasons.reason import ReasonKind
from thresher.records import FetchedPage

_MAX_REFUSED = 10_000


class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        pass


@implementer(IHostnameResolver)
class ReactorResolver:
    """The engine's resolver as the name resolver of a reactor on asyncio."""

    def __init__(self, reactor: Any, resolver: GuardedResolver) -> None:
        self.resolver = resolver
        self._reactor = reactor
        self._refused: dict[tuple[str, int], str] = {}
        self._lookups: set[asyncio.Future[None]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> ReactorResolver:
        settings = crawler.settings
        network = NetworkConfig(
            allow=settings.getlist("THRESHER_NETWORK_ALLOW"),
            name_servers=settings.getlist("THRESHER_NAME_SERVERS"),
            connect_to=settings.getdict("THRESHER_CONNECT_TO"),
        )
        return cls(reactor, GuardedResolver.of(network))

    def install_on_reactor(self) -> None:
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        lookup = asyncio.ensure_future(self._resolve(resolutionReceiver, hostName, portNumber))
        self._lookups.add(lookup)
        lookup.add_done_callback(self._lookups.discard)
        return resolution

    async def _resolve(self, receiver: Any, name: str, port: int) -> None:
        """Pass the addresses of a name to Twisted, all or none."""
        try:
            places, why = await self.resolver.resolve_endpoints(name, port)
            self._remember((plain_name(name), port), why)
            for address, number in places:
                kind = IPv6Address if ":" in address else IPv4Address
                receiver.addressResolved(kind("TCP", address, number))
        finally:
            receiver.resolutionComplete()

    def _remember(self, place: tuple[str, int], why: str) -> None:
        self._refused.pop(place, None)
        if why:
            self._refused[place] = why
        if len(self._refused) > _MAX_REFUSED:
            del self._refused[next(iter(self._refused))]

    def why(self, url: str) -> str:
        """Return why the last connection for a canonical URL was refused; empty when it was not."""
        return self._refused.get(host_and_port(url), "")


def installed_resolver() -> ReactorResolver | None:
    """Return the guarded resolver of this process; None when it is not installed."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    return resolver if isinstance(resolver, ReactorResolver) else None


def fetched_page(response: Response, url: str) -> FetchedPage:
    """Convert a Scrapy response."""
    lines = _lines(response.headers)
    return FetchedPage(
        url=url,
        status=response.status,
        headers=headers_of(lines),
        body=response.body,
        fetched_at=time.time(),
        elapsed_seconds=float(response.meta.get("download_latency", 0.0)),
        header_lines=lines,
        request_lines=_lines(response.request.headers) if response.request else (),
    )


def _lines(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name in headers for value in headers.getlist(name)]


_REASONS: dict[type[Exception], tuple[ReasonKind, bool]] = {  # the reason, and whether a retry may help
    ParseError: (ReasonKind.NOT_HTTP, False),
    DownloadTimeoutError: (ReasonKind.TIMEOUT, True),
    DownloadConnectionRefusedError: (ReasonKind.CONNECTION_REFUSED, True),
    CannotResolveHostError: (ReasonKind.DNS, True),
    UnsupportedURLSchemeError: (ReasonKind.UNSUPPORTED_URL, False),
    DownloadFailedError: (ReasonKind.CONNECTION, True),
}


def failure_of(error: BaseException | None, url: str) -> FetchFailed:
    """Convert an error of Scrapy or Twisted for a request to a URL."""
    if isinstance(error, FetchFailed):
        return error
    resolver = installed_resolver()
    if why := resolver.why(url) if resolver else "":
        return AddressRefused(why)
    for kind, (reason, retry) in _REASONS.items():
        if any(isinstance(cause, kind) for cause in _causes(error)):
            return FetchFailed(reason, retry=retry)
    return FetchFailed(ReasonKind.EXCEPTION, type(error).__name__)


def _causes(error: BaseException | None) -> list[BaseException | None]:
    """Return an error and the parse errors that Twisted wrapped into it."""
    wrapped = getattr(error, "__cause__", None)
    return [error, *(failure.value for failure in getattr(wrapped, "reasons", ()))]
