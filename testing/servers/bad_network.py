"""The bad network itself: connections on loopback that are passed on late, in part, or not at all.

A cut holds bytes back; it does not lose them, for TCP would send them again. When the cut is over they arrive, even if
the client has gone meanwhile: a command that was given up may so be carried out late.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from testing.servers.owners import owner

ADDRESS = "127.0.0.1"
CHUNK_BYTES = 65_536
TO, FROM = "to", "from"
CUTS = {"": (), TO: (TO,), FROM: (FROM,), "both": (TO, FROM)}


@dataclass(frozen=True, kw_only=True)
class Weather:
    """How bad the network is.

    Args:
        latency_seconds: Added to each round trip, half of it on either way.
        reset_share: The share of requests at which the connection is reset: for half of them before the store gets the
            request, for the others after, so that only the answer is lost.
        cut: "both", or the way on which nothing passes: "to" the store or "from" it; "" for none.
        flap_seconds: The cut comes and goes: so long there, so long not; 0 for a cut that stays.
        pids: Only the connections of these processes are cut; those of all when there is none.
    """

    latency_seconds: float = 0.0
    reset_share: float = 0.0
    cut: str = ""
    flap_seconds: float = 0.0
    pids: Sequence[int] = ()


@dataclass
class Counts:
    """What has come through since the start."""

    connections: int = 0
    requests: int = 0
    resets: int = 0
    late_bytes: int = 0
    open: int = 0


class BadNetwork:
    """Passes connections on to a port, as well as the weather allows."""

    def __init__(self, port: int, *, random_seed: int = 0) -> None:
        self.weather = Weather()
        self.counts = Counts()
        self._port = port
        self._random = random.Random(random_seed)
        self._flapping: asyncio.Task[None] | None = None
        self._serving: set[asyncio.Task[Any]] = set()
        self._cut = ""
        self._changed = asyncio.Event()

    def set(self, weather: Weather) -> None:
        """Change the weather, for connections that are open too."""
        self.weather = weather
        if self._flapping is not None:
            self._flapping.cancel()
            self._flapping = None
        self._set_cut(weather.cut)
        if weather.cut and weather.flap_seconds:
            self._flapping = asyncio.create_task(self._flap(weather))

    def draw_reset(self) -> str:
        """Decide over one request: "" lets it pass, TO loses it, FROM loses its answer."""
        self.counts.requests += 1
        if not self.weather.reset_share or self._random.random() >= self.weather.reset_share:
            return ""
        self.counts.resets += 1
        return self._random.choice([TO, FROM])

    async def pass_way(self, way: str, connection: _Connection) -> bool:
        """Wait until a way is open for a connection; return whether it had to wait."""
        had_to_wait = False
        while way in CUTS[self._cut] and (not self.weather.pids or connection.pid in self.weather.pids):
            had_to_wait = True
            await self._changed.wait()
        return had_to_wait

    async def serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """Pass one connection on, until either side ends it."""
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)  # the loop itself would forget a task whose client has gone
        self.counts.connections += 1
        self.counts.open += 1
        try:
            await self._serve(client, back)
        finally:
            self.counts.open -= 1
            self._serving.discard(task)

    async def _serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            answers, store = await asyncio.open_connection(ADDRESS, self._port)
        except OSError:  # a store that is down refuses, and so do we
            _abort(back)
            return
        connection = _Connection(self, back, store)
        await asyncio.gather(connection.pump(client, store, TO), connection.pump(answers, back, FROM))
        for writer in (store, back):
            writer.close()

    def _set_cut(self, cut: str) -> None:
        self._cut = cut
        self._changed.set()
        self._changed = asyncio.Event()

    async def _flap(self, weather: Weather) -> None:
        while True:
            self._set_cut(weather.cut)
            await asyncio.sleep(weather.flap_seconds)
            self._set_cut("")
            await asyncio.sleep(weather.flap_seconds)


class _Connection:
    """Two ways between a client and the store."""

    def __init__(self, network: BadNetwork, back: asyncio.StreamWriter, store: asyncio.StreamWriter) -> None:
        self._network = network
        self._back = back
        self._store = store
        self._client_port: int = back.get_extra_info("peername")[1]
        self._own_port: int = back.get_extra_info("sockname")[1]
        self._deaf = False

    @cached_property
    def pid(self) -> int | None:
        """The client's process; looked up when it matters, for that takes a while."""
        return owner(self._client_port, dialled=self._own_port)

    async def pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, way: str) -> None:
        """StrategyData what comes on one way, in order, each piece when it is due."""
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        delivery = asyncio.create_task(self._deliver(queue, target, way))
        with suppress(ConnectionError):
            while piece := await source.read(CHUNK_BYTES):
                queue.put_nowait((time.monotonic() + self._network.weather.latency_seconds / 2, piece))
        queue.put_nowait((0.0, b""))
        await delivery

    async def _deliver(self, queue: asyncio.Queue[tuple[float, bytes]], target: asyncio.StreamWriter, way: str) -> None:
        with suppress(ConnectionError):
            while True:
                due, piece = await queue.get()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                if await self._network.pass_way(way, self):
                    self._network.counts.late_bytes += len(piece)
                if not piece:
                    break
                if way == TO and self._reset():
                    break
                if not (way == FROM and self._deaf):
                    target.write(piece)
                    await target.drain()
        with suppress(OSError, RuntimeError):
            target.write_eof()

    def _reset(self) -> bool:
        """Perhaps reset the connection; return whether the request is lost with it."""
        lost = self._network.draw_reset()
        if lost:
            self._deaf = True
            _abort(self._back)
        return lost == TO


def _abort(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a reset, as a network does that has lost its state."""
    raw = writer.get_extra_info("socket")
    with suppress(OSError, ValueError):  # it may be closed already
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
