"""The address guard, which no connection can bypass: it checks every name and literal address that is connected to.

A connection gets its addresses from here and is opened to no other one, so a name is resolved once, and the answer that
was checked is the one that is used. If any address of a name is refused, the name is. An answer is cached for its TTL,
and checked again when it is renewed.

With an HTTP proxy, names are checked in the same way before the proxy gets them, and only the address of the proxy is
connected to. The proxy resolves a name again by itself: a name that gives it another answer is not noticed here.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from thresher.config.schema import NetworkConfig
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.engine.dns.client import MISSING_SECONDS, DnsClient, ResolvedAddresses
from thresher.urls.address_policy import BAD_PORTS, Network, is_address, networks, refusal, refused_name

logger = logging.getLogger(__name__)

CACHE_NAMES = 10_000
MAX_ADDRESSES = 4
"""Of IPv4 and IPv6 each: a name with many addresses must not make us try them all."""
_ANYWHERE = ("0.0.0.0/0", "::/0")  # the user names the proxy, which is often in a private network
MAX_PREFETCHED = 64
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
        whys = [why for address in addresses if (why := self.refusal(address))]
        if not whys and refused_name(name) and any(not refusal(address) for address in addresses):
            whys = [refused_name(name)]  # a private name must not have a public address
        return whys[0] if whys else ""

    def refusal(self, address: str) -> str:
        """Return why an address is refused; empty when it is allowed."""
        return refusal(address, self._allowed)


@dataclass(frozen=True, slots=True)
class _Known:
    """A cached answer: the allowed addresses of a name, or why none is."""

    addresses: Sequence[str]
    why: str
    until: float


class GuardedResolver:
    """Resolves names with a guard before and after, and caches each answer for its TTL."""

    def __init__(
        self,
        allowed: Sequence[Network],
        *,
        names: DnsClient | None = None,
        connect_to: Mapping[str, str] | None = None,
        proxy: UpstreamProxy | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.proxy = proxy
        self._proxy_resolver = GuardedResolver(networks(_ANYWHERE), names=names, clock=clock) if proxy else None
        self._names = names or DnsClient()
        self._connect_to = connect_to or {}
        self._clock = clock
        self.guard = NameGuard(allowed)
        self._known: dict[str, _Known] = {}
        self._pending: dict[str, asyncio.Task[_Known]] = {}

    @classmethod
    def of(cls, network: NetworkConfig) -> GuardedResolver:
        """Return the resolver of a crawl.

        Raises:
            ConfigError: The environment variable of its proxy is not usable.
        """
        servers = [_parse_host_and_port(text) for text in network.name_servers]
        return cls(
            networks(network.allow),
            names=DnsClient.of(servers),
            connect_to=dict(network.connect_to),
            proxy=UpstreamProxy.of(network.proxy) if network.proxy else None,
        )

    @property
    def uses_dns(self) -> bool:
        """Whether any name is resolved: not when the user redirects all connections, or when the proxy resolves."""
        return not self._proxy_resolves and not {"*:80", "*:443"} <= self._connect_to.keys()

    @property
    def _proxy_resolves(self) -> bool:
        return self.proxy is not None and self.proxy.resolves_names

    def prefetch(self, endpoints: Iterable[tuple[str, int]]) -> int:
        """Resolve names before they are needed; return how many lookups were started."""
        started = 0
        for name, port in endpoints:
            if len(self._pending) >= MAX_PREFETCHED:
                break
            if name in self._pending or self._cached(name) or is_address(name):
                continue
            if not self.guard.before(name, port) and not self._override(name, port):
                self._look_up(name)
                started += 1
        return started

    async def first_address(self, url: str) -> str:
        """Return the address that is tried first for a canonical URL; empty when none is allowed."""
        known = await self._find(*host_and_port(url))
        return known.addresses[0] if known.addresses and not known.why else ""

    async def resolve_endpoints(self, name: str, port: int) -> tuple[list[tuple[str, int]], str]:
        """Return the addresses and ports that may be connected to for a name and a port; or why none may.

        With a proxy, they are those of the proxy, if the name and its addresses are allowed.
        """
        name = plain_name(name)
        known = await self._find(name, port)
        if self.proxy and self._proxy_resolver and not known.why and (known.addresses or self._proxy_resolves):
            return await self._proxy_resolver.resolve_endpoints(self.proxy.host, self.proxy.port)
        number = (self._override(name, port) or ("", port))[1]
        return ([] if known.why else [(address, number) for address in known.addresses]), known.why

    def refusal(self, address: str) -> str:
        """Return why an address must not be connected to; empty for the proxy's own, which the user names."""
        return "" if self.proxy else self.guard.refusal(address)

    async def _find(self, name: str, port: int) -> _Known:
        if why := self.guard.before(name, port):
            return _Known((), why, 0.0)
        if place := self._override(name, port):
            return _Known([place[0]], self.guard.after(name, [place[0]]), 0.0)
        if is_address(name):
            return _Known([name], self.guard.after(name, [name]), 0.0)
        if self._proxy_resolves:
            return _Known((), refused_name(name), 0.0)
        known = self._cached(name)
        return known if known else await asyncio.shield(self._look_up(name))

    def _cached(self, name: str) -> _Known | None:
        known = self._known.get(name)
        return known if known and known.until > self._clock() else None

    def _look_up(self, name: str) -> asyncio.Task[_Known]:
        """Resolve a name, once for all callers that wait for it."""
        if name not in self._pending:
            self._pending[name] = asyncio.create_task(self._resolve(name))
        return self._pending[name]

    async def _resolve(self, name: str) -> _Known:
        """Resolve a name, check all its addresses, and cache the result."""
        try:
            found = await self._names.look_up(name)
        except Exception as error:  # after any error there is no address
            logger.info("cannot resolve %s: %s", name, error)
            found = ResolvedAddresses((), MISSING_SECONDS)
        finally:
            del self._pending[name]
        why = self.guard.after(name, found.addresses)
        addresses = [] if why else _first_of_each(found.addresses)
        known = _Known(addresses, why, self._clock() + found.seconds)
        _put(self._known, name, known)
        return known

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


def plain_name(name: str) -> str:
    """Return a name as in the canonical URL, without international characters; empty for an invalid name."""
    try:
        return (name if name.isascii() else name.encode("idna").decode("ascii")).rstrip(".").lower()
    except UnicodeError:
        return ""


def _first_of_each(addresses: Sequence[str]) -> list[str]:
    """Return some addresses of each kind; IPv4 first, because every machine has it."""
    old = [address for address in addresses if ":" not in address]
    new = [address for address in addresses if ":" in address]
    return old[:MAX_ADDRESSES] + new[:MAX_ADDRESSES]


def _put(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to a bounded cache, evicting the oldest one."""
    table.pop(key, None)
    table[key] = value
    if len(table) > CACHE_NAMES:
        del table[next(iter(table))]
