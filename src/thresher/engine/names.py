"""From names to addresses: by the name servers, which say how long an answer holds, or as the system does it.

The system's own way knows files of hosts and search domains, and blocks a thread for each name; name servers are asked
without one. What may be dialled of an answer is not decided here.
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

from thresher.urls.addresses import refused_name

LONGEST_SECONDS = 300.0
SHORTEST_SECONDS = 1.0
"""An answer is kept as long as its server says, within these bounds."""
MISSING_SECONDS = 5.0
"""How long it is believed that a name has no address."""
SYSTEM_SECONDS = 60.0
"""The system does not say how long its answers hold."""
TRY_SECONDS = (2, 3, 5)
"""How long each name server is waited for, in each round."""
LOOK_UP_SECONDS = 15.0
"""After this a name has no address, whatever its servers are doing."""

RESOLV_CONF = Path("/etc/resolv.conf")
HOSTS = Path("/etc/hosts")


@dataclass(frozen=True, slots=True)
class Found:
    """The addresses of a name, none when it has none, and how long they hold."""

    addresses: tuple[str, ...]
    seconds: float


class _Client(Resolver):
    """Twisted's client, which would ask again without end when what comes over TCP is cut off too."""

    def filterAnswers(self, message: Any) -> Any:  # noqa: N802 - Twisted's name
        if message.trunc:
            return self.queryTCP(message.queries).addCallback(self._whole)  # type: ignore[no-untyped-call]
        return super().filterAnswers(message)  # type: ignore[no-untyped-call]

    def _whole(self, message: Any) -> Any:
        if message.trunc:
            raise DNSServerError(message)
        return self.filterAnswers(message)


_make_client: Any = _Client  # Twisted gives it no types


class NameServers:
    """Asks name servers for both kinds of addresses at once; of several servers, the next when one is silent."""

    def __init__(self, reactor: Any, servers: Sequence[tuple[str, int]] = ()) -> None:
        file = None if servers else str(RESOLV_CONF)
        self._reactor = reactor
        self._client: Any = _make_client(
            resolv=file, servers=list(servers) or None, timeout=TRY_SECONDS, reactor=reactor
        )

    def look_up(self, name: str) -> Deferred[Found | None]:
        """Return what the servers say; None when they say nothing that helps."""
        asked = [self._client.lookupAddress(name), self._client.lookupIPV6Address(name)]
        return DeferredList(asked, consumeErrors=True).addCallback(_both).addTimeout(LOOK_UP_SECONDS, self._reactor)


def _both(results: list[tuple[bool, Any]]) -> Found | None:
    records = [record for answered, result in results if answered for record in result[0]]
    addresses = tuple(str(ip_address(record.payload.address)) for record in records if record.type in (dns.A, dns.AAAA))
    if addresses:
        seconds = min(record.ttl for record in records)  # of aliases too
        return Found(addresses, min(max(float(seconds), SHORTEST_SECONDS), LONGEST_SECONDS))
    missing = all(answered or _says_missing(result) for answered, result in results)
    return Found((), MISSING_SECONDS) if missing else None


def _says_missing(failure: Failure) -> bool:
    return isinstance(failure.value, DNSNameError)


@implementer(IResolutionReceiver)
class _Collector:
    """Gathers all addresses that the system gives to a name."""

    def __init__(self) -> None:
        self.found: Deferred[Found] = Deferred()
        self._addresses: list[str] = []

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802 - Twisted's name
        """Nothing is to be done."""

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802 - Twisted's name
        self._addresses.append(address.host)

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        seconds = SYSTEM_SECONDS if self._addresses else MISSING_SECONDS
        self.found.callback(Found(tuple(self._addresses), seconds))


class Names:
    """Looks names up: public ones at the name servers, those that only this machine can know by the system.

    Args:
        system: The reactor's own resolver.
        servers: None to leave every name to the system.
        only_servers: The user chose the servers, so nobody else is asked.
    """

    def __init__(self, system: Any, servers: NameServers | None = None, *, only_servers: bool = False) -> None:
        self._system = system
        self._servers = servers
        self._only_servers = only_servers
        self._own = frozenset() if only_servers or not servers else own_names(HOSTS)

    @classmethod
    def of(cls, reactor: Any, servers: Sequence[tuple[str, int]]) -> Names:
        """Ask these servers, or those of this machine; where it names none, the system."""
        system = reactor.nameResolver
        if servers or RESOLV_CONF.is_file():
            return cls(system, NameServers(reactor, servers), only_servers=bool(servers))
        return cls(system)

    def look_up(self, name: str) -> Deferred[Found]:
        """Return what is found; a name that nobody knows has no addresses."""
        if self._servers is None or (not self._only_servers and (name in self._own or refused_name(name))):
            return self._by_system(name)
        return self._servers.look_up(name).addCallback(self._or_by_system, name)

    def _or_by_system(self, found: Found | None, name: str) -> Found | Deferred[Found]:
        if found is not None:
            return found
        return Found((), MISSING_SECONDS) if self._only_servers else self._by_system(name)

    def _by_system(self, name: str) -> Deferred[Found]:
        collector = _Collector()
        self._system.resolveHostName(collector, name, 0)
        return collector.found


def own_names(file: Path) -> frozenset[str]:
    """Return the names that a file of hosts gives addresses to."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(name.lower() for line in lines for name in line.partition("#")[0].split()[1:])
