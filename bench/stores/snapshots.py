"""Stores that were filled once and can be started again and again: filling ten million URLs takes minutes."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.stores.clients import fill_by_copies
from bench.stores.server import await_background, empty, measured_server, patient, set_option
from bench.stores.world import Shape
from testing.servers import StoreServer
from thresher.frontier.redis import codec
from thresher.frontier.redis.shards import LAYOUT

LOG = "appendonlydir"


def layout_name() -> str:
    """Return a name for how a URL is kept: a store that was filled before that changed is of no use any more."""
    return f"{LAYOUT}-{hashlib.sha256(Path(codec.__file__).read_bytes()).hexdigest()[:12]}"


@dataclass
class Snapshots:
    """Filled stores in a folder, made when they are first asked for."""

    folder: Path
    copies: int = 0

    @contextmanager
    def server(self, kind: str, shape: Shape) -> Iterator[StoreServer]:
        """Run a server that is filled with this shape, with its log on."""
        kept = self.make(shape)
        self.copies += 1
        place = empty(self.folder / f"copy-{self.copies}-{kind}-{shape.name}")
        place.mkdir(parents=True)
        shutil.copytree(kept, place / LOG)
        try:
            with measured_server(kind, place) as server:
                yield server
        finally:
            shutil.rmtree(place)

    def make(self, shape: Shape) -> Path:
        """Fill a store with this shape unless that was done before; return the folder of its log."""
        kept = self.folder / f"{layout_name()}-{shape.name}"
        if not kept.exists():
            fill_and_keep("redis", shape, self.folder, kept)
        return kept


def fill_and_keep(kind: str, shape: Shape, folder: Path, kept: Path) -> None:
    """Fill a new server quickly, and keep what it writes; a Valkey reads what a Redis wrote."""
    place = empty(folder / f"filling-{kind}-{shape.name}")
    with measured_server(kind, place) as server:
        set_option(server, "appendonly", "no")
        seconds = fill_by_copies(server.url, shape)
        print(f"{kind}: filled {shape.name} in {seconds:.0f} s", file=sys.stderr)
        set_option(server, "appendonly", "yes")
        with patient(server) as client:
            await_background(client)
        server.kill()
        (place / LOG).rename(kept)
    shutil.rmtree(place)
