"""The address guard, which no connection can bypass: it checks every name and literal address that Twisted connects to.

Twisted's endpoint sends literals and names alike through the reactor's name resolver and connects to exactly what comes
back, so a name is resolved once, and the answer that was checked is the one that is used. If any address of a name is
refused, the name is. An answer is cached for its TTL, and checked again when it is renewed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_to_future
from twisted.internet._idna import _idnaBytes
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IAddress, IHostnameResolver
from zope.interface import implementer

from thresher.engine.dns.client import MISSING_SECONDS, DnsClient, ResolvedAddresses
from thresher.urls.address_policy import BAD_PORTS, Network, is_address, networks, refusal, refused_name

CACHE_NAMES = 10_000
MOST_ADDRESSES = 4
"""Of IPv4 and IPv6 each: a name with many addresses must not make us try them all."""
MOST_AHEAD = 64
"""Prefetched names that are resolved at one time."""


class NameGuard:
    """Decides which names, ports and addresses are allowed."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed

    def before(self, name: str, port: int) -> str:
        """Return why a name must not be resolved; empty when it may be."""
        if not name:
            return "not a name"
        if port in BAD_PORTS:
            return f"port {port}"
        return "" if self._allowed or is_address(name) else refused_name(name)

    def after(self, name: str, addresses: Sequence[str]) -> str:
        """Return why the addresses of a name are refused; empty when they are allowed."""
        whys = [why for address in addresses if (why := refusal(address, self._allowed))]
        if not whys and refused_name(name) and any(not refusal(address) for address in addresses):
            whys = [refused_name(name)]  # a private name must not have a public address
        return whys[0] if whys else ""


@dataclass(frozen=True, slots=True)
class _Known:
    """A cached answer: the allowed addresses of a name, or why none is."""

    addresses: Sequence[str]
    why: str
    until: float


class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        pass


@implementer(IHostnameResolver)
class GuardedResolver:
    """Resolves names with a guard before and after, and caches each answer for its TTL."""

    def __init__(
        self,
        reactor: Any,
        allowed: Sequence[Network],
        *,
        names: DnsClient | None = None,
        connect_to: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reactor = reactor
        self._names = names or DnsClient(reactor.nameResolver)
        self._connect_to = connect_to or {}
        self._clock = clock
        self.guard = NameGuard(allowed)
        self._known: dict[str, _Known] = {}
        self._pending: dict[str, list[Deferred[_Known]]] = {}
        self._refused: dict[tuple[str, int], str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> GuardedResolver:
        settings = crawler.settings
        servers = [_parse_host_and_port(text) for text in settings.getlist("THRESHER_NAME_SERVERS")]
        return cls(
            reactor,
            networks(settings.getlist("THRESHER_NETWORK_ALLOW")),
            names=DnsClient.of(reactor, servers),
            connect_to=settings.getdict("THRESHER_CONNECT_TO"),
        )

    def install_on_reactor(self) -> None:
        self._reactor.installNameResolver(self)

    @property
    def asks(self) -> bool:
        """Whether any name is resolved: not when the user redirects all connections."""
        return not {"*:80", "*:443"} <= self._connect_to.keys()

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
        name = _plain(hostName)
        self._find(name, portNumber).addCallback(self._deliver, resolutionReceiver, name, portNumber)
        return resolution

    def prefetch(self, places: Iterable[tuple[str, int]]) -> int:
        """Resolve names before they are needed; return how many lookups were started."""
        started = 0
        for name, port in places:
            if len(self._pending) >= MOST_AHEAD:
                break
            if name in self._pending or self._cached(name) or is_address(name):
                continue
            if not self.guard.before(name, port) and not self._override(name, port):
                self._look_up(name)
                started += 1
        return started

    async def first_address(self, url: str) -> str:
        """Return the address that is tried first for a canonical URL; empty when none is allowed."""
        known = await deferred_to_future(self._find(*host_and_port(url)))
        return known.addresses[0] if known.addresses and not known.why else ""

    async def places(self, name: str, port: int) -> tuple[list[tuple[str, int]], str]:
        """Return the addresses and ports that may be connected to for a name and a port; or why none may."""
        name = _plain(name)
        known = await deferred_to_future(self._find(name, port))
        number = (self._override(name, port) or ("", port))[1]
        return ([] if known.why else [(address, number) for address in known.addresses]), known.why

    def why(self, url: str) -> str:
        """Return why the last connection for a canonical URL was refused; empty when it was not."""
        return self._refused.get(host_and_port(url), "")

    def _find(self, name: str, port: int) -> Deferred[_Known]:
        if why := self.guard.before(name, port):
            return succeed(_Known((), why, 0.0))
        if place := self._override(name, port):
            return succeed(_Known([place[0]], self.guard.after(name, [place[0]]), 0.0))
        if is_address(name):
            return succeed(_Known([name], self.guard.after(name, [name]), 0.0))
        known = self._cached(name)
        return succeed(known) if known else self._look_up(name)

    def _cached(self, name: str) -> _Known | None:
        known = self._known.get(name)
        return known if known and known.until > self._clock() else None

    def _look_up(self, name: str) -> Deferred[_Known]:
        """Resolve a name, once for all callers that wait for it."""
        answer: Deferred[_Known] = Deferred()
        waiting = self._pending.setdefault(name, [])
        waiting.append(answer)
        if len(waiting) == 1:
            lookup = self._names.look_up(name)
            lookup.addErrback(lambda _: ResolvedAddresses((), MISSING_SECONDS))  # after any error there is no address
            lookup.addCallback(self._check, name)
        return answer

    def _check(self, found: ResolvedAddresses, name: str) -> None:
        """Check all addresses of an answer, and cache the result."""
        why = self.guard.after(name, found.addresses)
        addresses = [] if why else _first_of_each(found.addresses)
        known = _Known(addresses, why, self._clock() + found.seconds)
        _put(self._known, name, known)
        for answer in self._pending.pop(name):
            answer.callback(known)

    def _deliver(self, known: _Known, receiver: Any, name: str, port: int) -> None:
        """Pass the addresses of a name to Twisted, all or none."""
        if known.why:
            _put(self._refused, (name, port), known.why)
        else:
            self._refused.pop((name, port), None)
            number = (self._override(name, port) or ("", port))[1]
            for address in known.addresses:
                kind = IPv6Address if ":" in address else IPv4Address
                receiver.addressResolved(kind("TCP", address, number))
        receiver.resolutionComplete()

    def _override(self, name: str, port: int) -> tuple[str, int] | None:
        """Return address and port by which network.connect_to replaces a host; the guard checks them like any other."""
        text = self._connect_to.get(f"{name}:{port}") or self._connect_to.get(f"*:{port}")
        return _parse_host_and_port(text) if text else None


def _parse_host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def host_and_port(url: str) -> tuple[str, int]:
    """Return the name, or address, and the port of a canonical URL."""
    parts = urlsplit(url)
    usual = 443 if parts.scheme == "https" else 80
    return parts.hostname or "", usual if parts.port is None else parts.port


def installed_resolver() -> GuardedResolver | None:
    """Return the guarded resolver of this process; None when it is not installed."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    return resolver if isinstance(resolver, GuardedResolver) else None


def why_refused(url: str) -> str:
    """Return why the address guard of this process refused a URL; empty when it did not."""
    resolver = installed_resolver()
    return resolver.why(url) if resolver else ""


def _plain(name: str) -> str:
    """Return a name as in the canonical URL, since Twisted decodes international names; empty for an invalid name."""
    try:
        return (name if name.isascii() else _idnaBytes(name).decode("ascii")).rstrip(".").lower()
    except UnicodeError:
        return ""


def _first_of_each(addresses: Sequence[str]) -> list[str]:
    """Return some addresses of each kind; IPv4 first, because every machine has it."""
    old = [address for address in addresses if ":" not in address]
    new = [address for address in addresses if ":" in address]
    return old[:MOST_ADDRESSES] + new[:MOST_ADDRESSES]


def _put(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to a bounded cache, evicting the oldest one."""
    table.pop(key, None)
    table[key] = value
    if len(table) > CACHE_NAMES:
        del table[next(iter(table))]
