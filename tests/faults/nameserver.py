"""A name server of our own on loopback, that lies as a script says.

::

    script = {
        "good.test": Says(["127.0.0.2"], ttl=60),
        "rebind.test": [Says(["203.0.113.9"], ttl=0), Says(["127.0.0.1"])],   # the k-th question, the last for good
        "broken.test": Says(code=SERVFAIL),
    }
    with name_server(script) as server:
        settings = {"network": {"name_servers": [server.place]}}
        server.asked("good.test")

Names that are not in the script do not exist. ``*`` stands for all others.
"""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from twisted.names import dns

OK, SERVFAIL, NXDOMAIN, REFUSED = 0, 2, 3, 5
MAX_UDP_BYTES = 60_000


@dataclass(frozen=True)
class Says:
    """What is answered for a name.

    Args:
        addresses: Of both kinds; a question gets those of its kind.
        alias: The name that this one is declared an alias of.
        cut: Over UDP only the head is sent, so that the client comes again over TCP.
        always_cut: Over TCP too.
        silent: Nothing is answered.
    """

    addresses: Sequence[str] = ()
    ttl: int = 60
    alias: str = ""
    code: int = OK
    wait_seconds: float = 0.0
    cut: bool = False
    always_cut: bool = False
    silent: bool = False


Script = Mapping[str, Says | Sequence[Says]]


@dataclass
class NameServer:
    """A running name server."""

    script: Script
    port: int = 0
    _asked: Counter[tuple[str, int]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def place(self) -> str:
        """Where it is, as topic.yaml wants it."""
        return f"127.0.0.1:{self.port}"

    def asked(self, name: str | None = None) -> int:
        """Return how many questions came, for IPv4 addresses, about one name or all."""
        with self._lock:
            return sum(count for (asked, kind), count in self._asked.items() if kind == dns.A and name in (None, asked))

    def answer(self, packet: bytes, *, udp: bool) -> bytes | None:
        """Answer one question."""
        message = dns.Message()
        message.fromStr(packet)
        [query] = message.queries
        says = self._says(query.name.name.decode().lower(), query.type)
        time.sleep(says.wait_seconds)
        message.answer, message.recAv, message.rCode = 1, 1, says.code
        message.maxSize = 0
        message.trunc = int((udp and says.cut) or says.always_cut)
        if says.silent:
            return None
        if not message.trunc:
            message.answers = list(_records(query, says))
        return message.toStr()

    def _says(self, name: str, kind: int) -> Says:
        printed = self.script.get(name) or self.script.get("*") or Says(code=NXDOMAIN)
        with self._lock:
            self._asked[name, kind] += 1
            number = self._asked[name, kind]
        return printed if isinstance(printed, Says) else printed[min(number, len(printed)) - 1]


def _records(query: dns.Query, says: Says) -> Iterator[dns.RRHeader]:
    name = query.name.name
    if says.alias:
        yield dns.RRHeader(name, dns.CNAME, ttl=says.ttl, payload=dns.Record_CNAME(says.alias.encode(), says.ttl))
        name = says.alias.encode()
    kinds = {dns.A: (dns.Record_A, "."), dns.AAAA: (dns.Record_AAAA, ":")}
    make, mark = kinds.get(query.type, (None, ""))
    for address in says.addresses:
        if make and mark in address:
            yield dns.RRHeader(name, query.type, ttl=says.ttl, payload=make(address, says.ttl))


@contextmanager
def name_server(script: Script) -> Iterator[NameServer]:
    """Answer on a free port of 127.0.0.1, over UDP and TCP, for as long as the block lasts."""
    server = NameServer(script)

    class Datagram(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            packet, sock = self.request
            if answer := server.answer(packet, udp=True):
                sock.sendto(answer[:MAX_UDP_BYTES], self.client_address)

    class Stream(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while head := self.rfile.read(2):
                answer = server.answer(self.rfile.read(struct.unpack("!H", head)[0]), udp=False)
                if answer is None:
                    return
                self.wfile.write(struct.pack("!H", len(answer)) + answer)

    with (
        _Tcp(("127.0.0.1", 0), Stream) as tcp,  # of TCP's ports many are taken, of UDP's hardly any
        _Udp(("127.0.0.1", tcp.server_address[1]), Datagram) as udp,
    ):
        server.port = udp.server_address[1]
        threads = [threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True) for one in (udp, tcp)]
        for thread in threads:
            thread.start()
        try:
            yield server
        finally:
            udp.shutdown()
            tcp.shutdown()


class _Udp(socketserver.ThreadingUDPServer):
    daemon_threads = True
    block_on_close = False
    max_packet_size = 65_536


class _Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    address_family = socket.AF_INET
