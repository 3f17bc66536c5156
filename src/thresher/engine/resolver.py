"""The address guard, where it cannot be passed by: every name and every literal address that Twisted dials.

Twisted's endpoint sends literals and names alike through the reactor's name resolver and dials exactly what comes
back, so a name is looked up once and the answer that was checked is the one that is used. If any of a name's
addresses is refused, the name is. An answer holds for its time to live, and is checked again when it is renewed.
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

from thresher.engine.names import MISSING_SECONDS, Found, Names
from thresher.urls.addresses import BAD_PORTS, Network, is_address, networks, refusal, refused_name

CACHE_NAMES = 10_000
MOST_ADDRESSES = 4
"""Of each kind: who names more must not make us knock at them all."""
MOST_AHEAD = 64
"""Names that are looked up at one time before somebody needs them."""


class NameGuard:
    """Decides about names, ports and addresses."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed

    def before(self, name: str, port: int) -> str:
        """Say why a name is not even looked up; empty when it is."""
        if not name:
            return "not a name"
        if port in BAD_PORTS:
            return f"port {port}"
        return "" if self._allowed or is_address(name) else refused_name(name)

    def after(self, name: str, addresses: Sequence[str]) -> str:
        """Say why the addresses of a name are not dialled; empty when they are."""
        whys = [why for address in addresses if (why := refusal(address, self._allowed))]
        if not whys and refused_name(name) and any(not refusal(address) for address in addresses):
            whys = [refused_name(name)]  # a private name with a public address is nobody's own site
        return whys[0] if whys else ""


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found out about a name: addresses that may be dialled, or why none may."""

    addresses: Sequence[str]
    why: str
    until: float


class _Resolution:
    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Nothing can be called back."""


@implementer(IHostnameResolver)
class GuardedResolver:
    """Looks names up with a guard before and after, and remembers each answer for its time."""

    def __init__(
        self,
        reactor: Any,
        allowed: Sequence[Network],
        *,
        names: Names | None = None,
        connect_to: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reactor = reactor
        self._names = names or Names(reactor.nameResolver)
        self._connect_to = connect_to or {}
        self._clock = clock
        self.guard = NameGuard(allowed)
        self._known: dict[str, _Known] = {}
        self._asked: dict[str, list[Deferred[_Known]]] = {}
        self._refused: dict[tuple[str, int], str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> GuardedResolver:
        """Build it as Scrapy asks."""
        settings = crawler.settings
        servers = [_place(text) for text in settings.getlist("THRESHER_NAME_SERVERS")]
        return cls(
            reactor,
            networks(settings.getlist("THRESHER_NETWORK_ALLOW")),
            names=Names.of(reactor, servers),
            connect_to=settings.getdict("THRESHER_CONNECT_TO"),
        )

    def install_on_reactor(self) -> None:
        """Take the place of the reactor's own resolver."""
        self._reactor.installNameResolver(self)

    @property
    def asks(self) -> bool:
        """Whether any page is looked for where its name leads, not where the user sends all."""
        return not {"*:80", "*:443"} <= self._connect_to.keys()

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        """Look a name up, unless it is refused or known."""
        resolution = _Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        name = _plain(hostName)
        self._find(name, portNumber).addCallback(self._deliver, resolutionReceiver, name, portNumber)
        return resolution

    def look_ahead(self, places: Iterable[tuple[str, int]]) -> int:
        """Look names up before they are needed; return how many were asked for."""
        asked = 0
        for name, port in places:
            if len(self._asked) >= MOST_AHEAD:
                break
            if name in self._asked or self._still_known(name) or is_address(name):
                continue
            if not self.guard.before(name, port) and not self._elsewhere(name, port):
                self._look_up(name)
                asked += 1
        return asked

    async def first_address(self, url: str) -> str:
        """Return the address that is dialled first for a canonical URL; empty when none is."""
        known = await deferred_to_future(self._find(*place_of(url)))
        return known.addresses[0] if known.addresses and not known.why else ""

    async def places(self, name: str, port: int) -> tuple[list[tuple[str, int]], str]:
        """Return the addresses and ports that may be dialled for a name and a port; or why none may."""
        name = _plain(name)
        known = await deferred_to_future(self._find(name, port))
        number = (self._elsewhere(name, port) or ("", port))[1]
        return ([] if known.why else [(address, number) for address in known.addresses]), known.why

    def why(self, url: str) -> str:
        """Say why the place of a canonical URL was not dialled when that was last wanted; empty when it was."""
        return self._refused.get(place_of(url), "")

    def _find(self, name: str, port: int) -> Deferred[_Known]:
        if why := self.guard.before(name, port):
            return succeed(_Known((), why, 0.0))
        if place := self._elsewhere(name, port):
            return succeed(_Known([place[0]], self.guard.after(name, [place[0]]), 0.0))
        if is_address(name):
            return succeed(_Known([name], self.guard.after(name, [name]), 0.0))
        known = self._still_known(name)
        return succeed(known) if known else self._look_up(name)

    def _still_known(self, name: str) -> _Known | None:
        known = self._known.get(name)
        return known if known and known.until > self._clock() else None

    def _look_up(self, name: str) -> Deferred[_Known]:
        """Ask for a name, once for all who wait for it."""
        answer: Deferred[_Known] = Deferred()
        waiting = self._asked.setdefault(name, [])
        waiting.append(answer)
        if len(waiting) == 1:
            finding = self._names.look_up(name)
            finding.addErrback(lambda _: Found((), MISSING_SECONDS))  # whatever broke, there is no address
            finding.addCallback(self._check, name)
        return answer

    def _check(self, found: Found, name: str) -> None:
        """Let the guard see an answer, all of it; then it holds for its time."""
        why = self.guard.after(name, found.addresses)
        addresses = [] if why else _first_of_each(found.addresses)
        known = _Known(addresses, why, self._clock() + found.seconds)
        _put(self._known, name, known)
        for answer in self._asked.pop(name):
            answer.callback(known)

    def _deliver(self, known: _Known, receiver: Any, name: str, port: int) -> None:
        """Pass the addresses of a name on, all or none."""
        if known.why:
            _put(self._refused, (name, port), known.why)
        else:
            self._refused.pop((name, port), None)
            number = (self._elsewhere(name, port) or ("", port))[1]
            for address in known.addresses:
                kind = IPv6Address if ":" in address else IPv4Address
                receiver.addressResolved(kind("TCP", address, number))
        receiver.resolutionComplete()

    def _elsewhere(self, name: str, port: int) -> tuple[str, int] | None:
        """Return the place that the user put in the place of this one; the guard looks at it like at any other."""
        text = self._connect_to.get(f"{name}:{port}") or self._connect_to.get(f"*:{port}")
        return _place(text) if text else None


def _place(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def place_of(url: str) -> tuple[str, int]:
    """Return the name, or address, and the port that a canonical URL asks."""
    parts = urlsplit(url)
    usual = 443 if parts.scheme == "https" else 80
    return parts.hostname or "", usual if parts.port is None else parts.port


def why_refused(url: str) -> str:
    """Say why the address guard of this process refused a URL's place; empty when it did not."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    return resolver.why(url) if isinstance(resolver, GuardedResolver) else ""


def _plain(name: str) -> str:
    """Return a name as it stands in the canonical URL: Twisted decodes what is international. Empty for no name."""
    try:
        return (name if name.isascii() else _idnaBytes(name).decode("ascii")).rstrip(".").lower()
    except UnicodeError:
        return ""


def _first_of_each(addresses: Sequence[str]) -> list[str]:
    """Return some addresses of each kind; IPv4 first, because it is there on every machine."""
    old = [address for address in addresses if ":" not in address]
    new = [address for address in addresses if ":" in address]
    return old[:MOST_ADDRESSES] + new[:MOST_ADDRESSES]


def _put(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Write into a table that forgets its oldest entry rather than grow without end."""
    table.pop(key, None)
    table[key] = value
    if len(table) > CACHE_NAMES:
        del table[next(iter(table))]
