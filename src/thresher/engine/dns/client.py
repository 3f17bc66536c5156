"""Resolve names to addresses: by name servers, whose answers have a TTL, or by the system resolver.

The system resolver knows the hosts file and search domains, and blocks a thread for each name; queries to name servers
do not. Which addresses may be connected to is not decided here.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dns.asyncbackend import get_backend
from dns.asyncquery import tcp, udp
from dns.exception import DNSException, Timeout
from dns.flags import Flag
from dns.message import Message, Truncated, make_query
from dns.rcode import Rcode
from dns.rdatatype import RdataType

from thresher.urls.address_policy import refused_name

MAX_TTL_SECONDS = 300.0
MIN_TTL_SECONDS = 1.0
"""Bounds of the TTL for which an answer is cached."""
MISSING_SECONDS = 5.0
"""How long it is cached that a name has no address."""
SYSTEM_SECONDS = 60.0
"""TTL for answers of the system resolver, which reports none."""
TRY_SECONDS = (2, 3, 5)
"""Timeout for each name server, in each round."""
TCP_SECONDS = 10.0
MAX_ANSWER_BYTES = 32 << 10
"""A longer answer over TCP is not used."""
LOOK_UP_SECONDS = 15.0
"""Timeout of a lookup; after it a name counts as having no address."""

RESOLV_CONF = Path("/etc/resolv.conf")
HOSTS = Path("/etc/hosts")
READ_AGAIN_SECONDS = 60.0
_DNS_PORT = 53
_LOCAL_SERVER = ("127.0.0.1", _DNS_PORT)

Endpoint = tuple[str, int]
SystemLookup = Callable[[str], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class ResolvedAddresses:
    """The addresses of a name, if it has any, and their TTL."""

    addresses: tuple[str, ...]
    seconds: float


class NameServers:
    """Queries name servers for IPv4 and IPv6 addresses at once; the next server when one does not answer.

    Args:
        servers: Addresses and ports; none to use those in /etc/resolv.conf, which is read again after a minute.
    """

    def __init__(self, servers: Sequence[Endpoint] = (), *, clock: Callable[[], float] = time.monotonic) -> None:
        self._servers = list(servers)
        self._from_file = not servers
        self._clock = clock
        self._read_again_at = 0.0

    async def look_up(self, name: str) -> ResolvedAddresses | None:
        """Return the answer of the servers; None when they give no usable one.

        Raises:
            TimeoutError: It took too long.
            DNSException: It is not a name of the DNS.
        """
        async with asyncio.timeout(LOOK_UP_SECONDS):
            answers = await asyncio.gather(*(self.query(name, kind) for kind in (RdataType.A, RdataType.AAAA)))
        return _both(answers)

    async def query(self, name: str, kind: RdataType) -> Message | None:
        """Return the answer for one type of record; None when no server gives one."""
        asked = make_query(name, kind, use_edns=False)
        for seconds in TRY_SECONDS:
            for server in self._current_servers():
                with suppress(OSError, Timeout):
                    return await _answer(asked, server, seconds)
        return None

    def _current_servers(self) -> list[Endpoint]:
        if self._from_file and self._clock() >= self._read_again_at:
            self._servers = listed_servers(RESOLV_CONF)
            self._read_again_at = self._clock() + READ_AGAIN_SECONDS
        return self._servers


async def _answer(asked: Message, server: Endpoint, seconds: float) -> Message | None:
    """Return the answer of one server; None when it is cut off over TCP too, or cannot be read.

    Datagrams that do not answer the query are ignored.

    Raises:
        OSError, Timeout: There is no answer.
    """
    address, port = server
    with_loop = get_backend("asyncio")
    try:
        return await udp(
            asked,
            address,
            timeout=seconds,
            port=port,
            ignore_unexpected=True,
            ignore_errors=True,
            raise_on_truncation=True,
            backend=with_loop,
        )
    except Truncated:
        with suppress(OSError, DNSException):
            answer = await tcp(asked, address, timeout=TCP_SECONDS, port=port, backend=with_loop)
            return None if answer.flags & Flag.TC or len(answer.wire or b"") > MAX_ANSWER_BYTES else answer
    return None


def _addresses(answer: Message) -> Iterator[str]:
    """Return the addresses of the kind that was asked for, of any name: aliases included."""
    kind = answer.question[0].rdtype
    return (record.address for group in answer.answer if group.rdtype == kind for record in group)


def _both(answers: Sequence[Message | None]) -> ResolvedAddresses | None:
    good = [answer for answer in answers if answer and answer.rcode() is Rcode.NOERROR]
    addresses = tuple(address for answer in good for address in _addresses(answer))
    if addresses:
        seconds = min(group.ttl for answer in good for group in answer.answer)  # of alias records too
        return ResolvedAddresses(addresses, min(max(float(seconds), MIN_TTL_SECONDS), MAX_TTL_SECONDS))
    is_missing = all(answer and answer.rcode() in (Rcode.NOERROR, Rcode.NXDOMAIN) for answer in answers)
    return ResolvedAddresses((), MISSING_SECONDS) if is_missing else None


async def system_lookup(name: str) -> list[str]:
    """Return the addresses that the system resolver finds."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


class DnsClient:
    """Resolves names: public ones by the name servers, those that are local to this machine by the system.

    Args:
        servers: None to use the system for every name.
        only_servers: The user chose the servers, so the system is never used.
    """

    def __init__(
        self,
        servers: NameServers | None = None,
        *,
        only_servers: bool = False,
        system: SystemLookup = system_lookup,
    ) -> None:
        self._system = system
        self._servers = servers
        self._only_servers = only_servers
        self._own = frozenset() if only_servers or not servers else hosts_file_names(HOSTS)

    @classmethod
    def of(cls, servers: Sequence[Endpoint]) -> DnsClient:
        """Use these servers, or those in /etc/resolv.conf; without that file, the system."""
        if servers or RESOLV_CONF.is_file():
            return cls(NameServers(servers), only_servers=bool(servers))
        return cls()

    async def look_up(self, name: str) -> ResolvedAddresses:
        """Return the addresses of a name; none for an unknown name."""
        if self._servers is None or (not self._only_servers and (name in self._own or refused_name(name))):
            return await self._by_system(name)
        found = await self._servers.look_up(name)
        if found is not None:
            return found
        return ResolvedAddresses((), MISSING_SECONDS) if self._only_servers else await self._by_system(name)

    async def _by_system(self, name: str) -> ResolvedAddresses:
        addresses = await self._system(name)
        return ResolvedAddresses(tuple(addresses), SYSTEM_SECONDS if addresses else MISSING_SECONDS)


def listed_servers(file: Path) -> list[Endpoint]:
    """Return the name servers in a resolv.conf; the one of this machine when it lists none."""
    servers = [(words[1], _DNS_PORT) for words in _lines_of(file) if words[0] == "nameserver" and len(words) > 1]
    return servers or [_LOCAL_SERVER]


def hosts_file_names(file: Path) -> frozenset[str]:
    """Return the names in a hosts file."""
    return frozenset(name.lower() for words in _lines_of(file) for name in words[1:])


def _lines_of(file: Path) -> list[list[str]]:
    """Return the words of each line that is not empty or a comment; none when the file cannot be read."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [words for line in lines if (words := line.partition("#")[0].split())]
