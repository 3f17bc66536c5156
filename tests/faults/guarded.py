"""Crawls that may dial the hosts of a script and nobody else, with our own name server and listeners that count."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from testing.recording_server import Recorder, recorder
from tests.faults.live import Result, crawl
from tests.faults.nameserver import NameServer, Says, name_server
from tests.faults.recorder import Record, recorded
from thresher.crawl import CrawlSetup
from thresher.frontier.base import UrlEntry


class Listeners:
    """Sockets that count who connects."""

    def __init__(self, places: Iterable[tuple[str, int]]) -> None:
        self.accepts = 0
        self.places: list[tuple[str, int]] = []
        self._sockets: list[socket.socket] = []
        for place in places:
            with suppress(OSError):  # a low port where we may not listen, or no IPv6 on this machine
                self._listen(place)

    def _listen(self, place: tuple[str, int]) -> None:
        kind = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        listener = socket.create_server(place, family=kind)
        self._sockets.append(listener)
        self.places.append(listener.getsockname()[:2])
        threading.Thread(target=self._count, args=(listener,), daemon=True).start()

    def _count(self, listener: socket.socket) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = listener.accept()
                self.accepts += 1
                connection.close()

    def close(self) -> None:
        """Listen no more."""
        for listener in self._sockets:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


@contextmanager
def listening(places: Iterable[tuple[str, int]]) -> Iterator[Listeners]:
    """Count who connects to places of this machine while the block lasts."""
    listeners = Listeners(places)
    try:
        yield listeners
    finally:
        listeners.close()


@dataclass
class Crawled:
    """A crawl that may dial the hosts of a script by their addresses, and nobody else."""

    result: Result
    recorder: Recorder
    record: Record
    names: NameServer

    def strangers(self) -> list[tuple[str, int]]:
        """Return the connections to anybody but the script's hosts."""
        own = {*self.recorder.places.values()}
        asked = ("127.0.0.1", self.names.port)  # for answers that do not fit into a datagram
        return [place for place in self.record.connects() if place[0] not in own and place != asked]

    def entries(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        """Return where URLs stand in the queue."""

        async def look() -> list[UrlEntry | None]:
            frontier = CrawlSetup.open(self.result.folder).backend.frontier()
            try:
                return [await frontier.find(url) for url in urls]
            finally:
                await frontier.close()

        return asyncio.run(look())


@contextmanager
def guarded(
    script: Mapping[str, Any],
    seeds: Sequence[str],
    names: Mapping[str, Any],
    *,
    seconds: float = 60.0,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[Crawled]:
    """Crawl a script whose hosts alone may be dialled, with a name server of our own.

    Args:
        names: What the name server says; ``{good.test}`` in an address stands for the address of a host of the script.
        seeds: URLs; ``{port}`` stands for the port of the recording server.
    """
    with ExitStack() as stack:
        w = stack.enter_context(recorder(script))
        server = stack.enter_context(name_server(_placed(names, w.places)))
        record = stack.enter_context(recorded())
        mapped = {place: to for place, to in w.connect_to.items() if not place.startswith("*")}
        network = {
            "allow": [f"{address}/32" for address in w.places.values()],
            "connect_to": {f"{host}:80": f"{w.places[host]}:{w.port}" for host in script if f"{host}:80" in mapped},
            "name_servers": [server.place],
        }
        # No host here is slow: with a short timeout, a stall of this machine would make one unreachable.
        more = {"engine": {"timeout_seconds": 15.0, "lease_seconds": 40.0}, **(settings or {}), "network": network}
        w_seeds = [seed.replace("{port}", str(w.port)) for seed in seeds]
        result = crawl(_Unmapped(w), w_seeds, more, seconds=seconds)  # type: ignore[arg-type]
        assert record.connects(), f"the recorder heard nothing of a crawl: {result.stderr}"
        yield Crawled(result, w, record, server)


class _Unmapped:
    """A recording server that does not ask for every name to be led to it."""

    def __init__(self, w: Recorder) -> None:
        self._recorder = w
        self.connect_to: dict[str, str] = {}


def _placed(names: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    def place(says: Says) -> Says:
        return Says(
            **{**says.__dict__, "addresses": [places.get(address.strip("{}"), address) for address in says.addresses]}
        )

    return {
        name: place(printed) if isinstance(printed, Says) else list(map(place, printed))
        for name, printed in names.items()
    }
