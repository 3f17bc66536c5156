"""The address guard, where it cannot be passed by: every name and every literal address that Twisted dials.

Twisted's endpoint sends literals and names alike through the reactor's name resolver and dials exactly what comes
back, so a name is looked up once and the answer that was checked is the one that is used. If any of a name's
addresses is refused, the name is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from scrapy.crawler import Crawler
from twisted.internet.address import IPv4Address
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from thresher.urls.addresses import BAD_PORTS, Network, networks, refusal, refused_name

CACHE_SECONDS = 300.0
CACHE_NAMES = 10_000


class NameGuard:
    """Decides about names, ports and addresses; remembers why it refused."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed
        self.refused: dict[str, str] = {}

    def before(self, name: str, port: int) -> str:
        """Say why a name is not even looked up; empty when it is."""
        why = f"port {port}" if port in BAD_PORTS else ""
        if not why and not self._allowed:
            why = refused_name(name)
        return self._remember(name, why)

    def after(self, name: str, addresses: Sequence[str]) -> str:
        """Say why the addresses of a name are not dialled; empty when they are."""
        whys = [why for address in addresses if (why := refusal(address, self._allowed))]
        if not whys and refused_name(name) and any(not refusal(address) for address in addresses):
            whys = [refused_name(name)]  # a private name with a public address is nobody's own site
        return self._remember(name, whys[0] if whys else "")

    def _remember(self, name: str, why: str) -> str:
        if why:
            self.refused[name] = why
        return why


class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Nothing is under way."""


@implementer(IResolutionReceiver)
class _Collector:
    """Gathers all addresses of a name before any is passed on."""

    def __init__(self, resolver: GuardedResolver, receiver: Any, name: str) -> None:
        self._resolver = resolver
        self._receiver = receiver
        self._name = name
        self._addresses: list[IAddress] = []

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802 - Twisted's name
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802 - Twisted's name
        self._addresses.append(address)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        self._resolver.deliver(self._receiver, self._name, self._addresses)


@implementer(IHostnameResolver)
class GuardedResolver:
    """The reactor's name resolver, with a guard before and after it and a cache that forgets."""

    def __init__(
        self, reactor: Any, allowed: Sequence[Network], *, connect_to: Mapping[str, str] | None = None
    ) -> None:
        self._reactor = reactor
        self._original = reactor.nameResolver
        self._connect_to = connect_to or {}
        self.guard = NameGuard(allowed)
        self._cache: dict[tuple[str, int], tuple[float, list[IAddress]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> GuardedResolver:
        """Build it as Scrapy asks."""
        allowed = networks(crawler.settings.getlist("THRESHER_NETWORK_ALLOW"))
        return cls(reactor, allowed, connect_to=crawler.settings.getdict("THRESHER_CONNECT_TO"))

    def install_on_reactor(self) -> None:
        """Take the place of the reactor's own resolver."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        """Look a name up, unless it is refused or known."""
        known = self._cache.get((hostName, portNumber))
        if known and known[0] > time.monotonic():
            return self._answer(resolutionReceiver, hostName, known[1])
        if self.guard.before(hostName, portNumber):
            return self._answer(resolutionReceiver, hostName, [])
        if place := self._elsewhere(hostName, portNumber):
            refused = self.guard.after(hostName, [place.host])
            return self._answer(resolutionReceiver, hostName, [] if refused else [place])
        collector = _Collector(self, resolutionReceiver, hostName)
        return self._original.resolveHostName(collector, hostName, portNumber, addressTypes, transportSemantics)

    def _elsewhere(self, name: str, port: int) -> Any:
        """Return the place that the user put in the place of this one; the guard looks at it like at any other."""
        place = self._connect_to.get(f"{name}:{port}") or self._connect_to.get(f"*:{port}")
        host, _, number = place.rpartition(":") if place else ("", "", "")
        return IPv4Address("TCP", host, int(number)) if place else None

    def deliver(self, receiver: Any, name: str, addresses: list[Any]) -> None:
        """Pass the addresses of a name on, all or none."""
        if self.guard.after(name, [address.host for address in addresses]):
            addresses = []
        if addresses:
            if len(self._cache) >= CACHE_NAMES:
                self._cache.clear()
            self._cache[name, addresses[0].port] = (time.monotonic() + CACHE_SECONDS, addresses)
        for address in addresses:
            receiver.addressResolved(address)
        receiver.resolutionComplete()

    @staticmethod
    def _answer(receiver: Any, name: str, addresses: Sequence[IAddress]) -> _Resolution:
        resolution = _Resolution(name)
        receiver.resolutionBegan(resolution)
        for address in addresses:
            receiver.addressResolved(address)
        receiver.resolutionComplete()
        return resolution
