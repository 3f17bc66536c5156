"""Resolve names to addresses: by name servers, whose answers have a TTL, or by the system resolver.

The system resolver knows the hosts file and search domains, and blocks a thread for each name; queries to name servers
do not. Which addresses may be connected to is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IAddress, IHostResolution, IResolutionReceiver
from twisted.names import dns
from twisted.names.client import Resolver
from twisted.names.error import DNSNameError, DNSServerError
from twisted.python.failure import Failure
from zope.interface import implementer

from thresher.urls.address_policy import refused_name

LONGEST_SECONDS = 300.0
SHORTEST_SECONDS = 1.0
"""Bounds of the TTL for which an answer is cached."""
MISSING_SECONDS = 5.0
"""How long it is cached that a name has no address."""
SYSTEM_SECONDS = 60.0
"""TTL for answers of the system resolver, which reports none."""
TRY_SECONDS = (2, 3, 5)
"""Timeout for each name server, in each round."""
LOOK_UP_SECONDS = 15.0
"""Timeout of a lookup; after it a name counts as having no address."""

RESOLV_CONF = Path("/etc/resolv.conf")
HOSTS = Path("/etc/hosts")


@dataclass(frozen=True, slots=True)
class ResolvedAddresses:
    """The addresses of a name, if it has any, and their TTL."""

    addresses: tuple[str, ...]
    seconds: float


class _Client(Resolver):
    """Twisted's client, which would retry without end when the answer over TCP is truncated too."""

    def filterAnswers(self, message: Any) -> Any:  # noqa: N802 - Twisted's name
        if message.trunc:
            return self.queryTCP(message.queries).addCallback(self._whole)  # type: ignore[no-untyped-call]
        return super().filterAnswers(message)  # type: ignore[no-untyped-call]

    def _whole(self, message: Any) -> Any:
        if message.trunc:
            raise DNSServerError(message)
        return self.filterAnswers(message)


_make_client: Any = _Client  # Twisted has no types for it


class NameServers:
    """Queries name servers for IPv4 and IPv6 addresses at once; the next server when one does not answer."""

    def __init__(self, reactor: Any, servers: Sequence[tuple[str, int]] = ()) -> None:
        file = None if servers else str(RESOLV_CONF)
        self._reactor = reactor
        self._client: Any = _make_client(
            resolv=file, servers=list(servers) or None, timeout=TRY_SECONDS, reactor=reactor
        )

    def look_up(self, name: str) -> Deferred[ResolvedAddresses | None]:
        """Return the answer of the servers; None when they give no usable one."""
        queries = [self._client.lookupAddress(name), self._client.lookupIPV6Address(name)]
        return DeferredList(queries, consumeErrors=True).addCallback(_both).addTimeout(LOOK_UP_SECONDS, self._reactor)


def _both(results: list[tuple[bool, Any]]) -> ResolvedAddresses | None:
    records = [record for answered, result in results if answered for record in result[0]]
    addresses = tuple(str(ip_address(record.payload.address)) for record in records if record.type in (dns.A, dns.AAAA))
    if addresses:
        seconds = min(record.ttl for record in records)  # CNAME records included
        return ResolvedAddresses(addresses, min(max(float(seconds), SHORTEST_SECONDS), LONGEST_SECONDS))
    missing = all(answered or _is_name_error(result) for answered, result in results)
    return ResolvedAddresses((), MISSING_SECONDS) if missing else None


def _is_name_error(failure: Failure) -> bool:
    return isinstance(failure.value, DNSNameError)


@implementer(IResolutionReceiver)
class _Collector:
    """Collects all addresses that the system resolver returns."""

    def __init__(self) -> None:
        self.found: Deferred[ResolvedAddresses] = Deferred()
        self._addresses: list[str] = []

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802 - Twisted's name
        pass

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802 - Twisted's name
        self._addresses.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        seconds = SYSTEM_SECONDS if self._addresses else MISSING_SECONDS
        self.found.callback(ResolvedAddresses(tuple(self._addresses), seconds))


class DnsClient:
    """Resolves names: public ones by the name servers, those that are local to this machine by the system.

    Args:
        system: The reactor's own resolver.
        servers: None to use the system for every name.
        only_servers: The user chose the servers, so the system is never used.
    """

    def __init__(self, system: Any, servers: NameServers | None = None, *, only_servers: bool = False) -> None:
        self._system = system
        self._servers = servers
        self._only_servers = only_servers
        self._own = frozenset() if only_servers or not servers else hosts_file_names(HOSTS)

    @classmethod
    def of(cls, reactor: Any, servers: Sequence[tuple[str, int]]) -> DnsClient:
        """Use these servers, or those in /etc/resolv.conf; without that file, the system."""
        system = reactor.nameResolver
        if servers or RESOLV_CONF.is_file():
            return cls(system, NameServers(reactor, servers), only_servers=bool(servers))
        return cls(system)

    def look_up(self, name: str) -> Deferred[ResolvedAddresses]:
        """Return the addresses of a name; none for an unknown name."""
        if self._servers is None or (not self._only_servers and (name in self._own or refused_name(name))):
            return self._by_system(name)
        return self._servers.look_up(name).addCallback(self._or_by_system, name)

    def _or_by_system(
        self, found: ResolvedAddresses | None, name: str
    ) -> ResolvedAddresses | Deferred[ResolvedAddresses]:
        if found is not None:
            return found
        return ResolvedAddresses((), MISSING_SECONDS) if self._only_servers else self._by_system(name)

    def _by_system(self, name: str) -> Deferred[ResolvedAddresses]:
        collector = _Collector()
        self._system.resolveHostName(collector, name, 0)
        return collector.found


def hosts_file_names(file: Path) -> frozenset[str]:
    """Return the names in a hosts file."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(name.lower() for line in lines for name in line.partition("#")[0].split()[1:])
