"""What the shared store costs: cycles as it grows, bytes per URL, several clients, long scripts, its log, a cluster.

    python -m bench.stores.store [--only cycle,memory,…] [--kinds redis,valkey] [--sizes
    100000,1000000,5000000,10000000]
    python -m bench.stores.store --print              what was measured so far, as tables
    python -m bench.stores.store --write-constants    what `thresher plan` computes with, from the rows

A cycle is what one page asks of the store: settle its lease together with 60 links (36 new, 24 known; 22 to its own
host, 38 over 19 others), then lease the next URL. Every figure becomes a row of `bench/results/store.jsonl` as soon as
it is there; what is there already is not measured again, unless `--again`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.stores.cycle import curves, measure_cycles, measure_log
from bench.stores.full_host import measure_full_host
from bench.stores.load import measure_cluster, measure_load, measure_order
from bench.stores.memory import measure_done, measure_memory, measure_seen
from bench.stores.rows import ROWS, Rows, print_tables, write_constants
from bench.stores.snapshots import Snapshots
from bench.stores.worker import measure_worker
from bench.stores.world import Shape


@dataclass
class Bench:
    """The parts of the measurement, each of which yields its rows as they come."""

    rows: Rows
    snapshots: Snapshots
    kinds: Sequence[str]
    sizes: Sequence[int]
    hosts: int = 100_000
    cycles: int = 400
    seconds: float = 15.0
    clients: Sequence[int] = (1, 2, 8)
    order_hosts: int = 3_000

    def run(self, names: Sequence[str]) -> None:
        """Measure what is not there yet."""
        for name in names:
            for row in PARTS[name](self):
                self.rows.add(row)

    def cycle(self) -> Iterator[dict[str, Any]]:
        """One cycle, at all sizes, both ways to grow."""
        shapes = {shape for curve in curves(self.sizes, self.hosts).values() for shape in curve}
        ordered = sorted(shapes, key=lambda shape: (shape.size, shape.hosts))
        wanted = [{"part": "cycle", "kind": kind, "shape": shape.name} for kind in self.kinds for shape in ordered]
        if all(map(self.rows.has, wanted)):
            return
        for kind, shape, row in measure_cycles(self.snapshots, self.kinds, ordered, self.cycles):
            yield {"part": "cycle", "kind": kind, "shape": shape.name} | row

    def memory(self) -> Iterator[dict[str, Any]]:
        """Bytes per waiting URL, with 100, 10 and 2 of them per host."""
        size = min(10**6, self.sizes[-1])
        shapes = [Shape(size // per_host, per_host) for per_host in (100, 10)] + [Shape(size // 10, 2)]
        for kind in self.kinds:
            for shape in (*shapes, self._usual_shape):
                measure = lambda k=kind, s=shape: measure_memory(k, s, self._folder)  # noqa: E731
                yield from self._unless_there("memory", kind, shape.name, measure)

    def done(self) -> Iterator[dict[str, Any]]:
        """Bytes per URL that is done."""
        urls = min(300_000, self.sizes[-1])
        for kind in self.kinds:
            yield from self._unless_there("done", kind, str(urls), lambda k=kind: measure_done(k, urls, self._folder))

    def seen(self) -> Iterator[dict[str, Any]]:
        """Bytes per URL that need not be let in again."""
        urls = min(5_000_000, self.sizes[-1])
        for kind in self.kinds:
            yield from self._unless_there("seen", kind, str(urls), lambda k=kind: measure_seen(k, urls, self._folder))

    def load(self) -> Iterator[dict[str, Any]]:
        """Cycles per second of one server with several clients."""
        shape = self._usual_shape
        for kind in self.kinds:
            for clients in self.clients:
                yield from self._unless_there(
                    "load", kind, f"{shape.name} by {clients}", self._loaded(kind, shape, clients)
                )

    def full_host(self) -> Iterator[dict[str, Any]]:
        """The longest scripts, on a host at its bound."""
        waiting = min(10_000, self.sizes[-1])
        for kind in self.kinds:
            measure = lambda k=kind: measure_full_host(k, waiting, self._folder)  # noqa: E731
            yield from self._unless_there("full_host", kind, str(waiting), measure)

    def log(self) -> Iterator[dict[str, Any]]:
        """Rewriting the log, and starting again from it."""
        shape = self._usual_shape
        for kind in self.kinds:
            measure = lambda k=kind: measure_log(self.snapshots, k, shape)  # noqa: E731
            yield from self._unless_there("log", kind, shape.name, measure)

    def cluster(self) -> Iterator[dict[str, Any]]:
        """Three nodes: cycles per second, and how far from the global order."""
        size = min(500_000, self.sizes[-1])
        shape, clients = Shape(size // 100, 100), self.clients[-1]
        for kind in self.kinds:
            measure = lambda k=kind: measure_cluster(k, 3, shape, clients, self.seconds, self._folder)  # noqa: E731
            yield from self._unless_there("cluster", kind, f"{shape.name} by {clients}", measure)
            for at_once in (1, 16):
                order = lambda k=kind, n=at_once: measure_order(k, 3, self.order_hosts, n, self._folder)  # noqa: E731
                yield from self._unless_there("order", kind, f"{at_once} at once", order)

    def worker(self) -> Iterator[dict[str, Any]]:
        """One worker of the real command, on a file and on the store."""
        pages = min(2000, self.sizes[-1])
        for kind in self.kinds[:1]:
            measure = lambda k=kind: measure_worker(k, pages, self._folder)  # noqa: E731
            yield from self._unless_there("worker", kind, f"{pages} pages", measure)

    @property
    def _folder(self) -> Path:
        return self.snapshots.folder

    @property
    def _usual_shape(self) -> Shape:
        size = min(5 * 10**6, self.sizes[-1])
        return Shape(size // 100, 100)

    def _loaded(self, kind: str, shape: Shape, clients: int) -> Callable[[], dict[str, Any]]:
        def measure() -> dict[str, Any]:
            with self.snapshots.server(kind, shape) as server:
                return measure_load(server.url, [server], shape, clients, self.seconds)

        return measure

    def _unless_there(
        self, part: str, kind: str, shape: str, measure: Callable[[], dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        name = {"part": part, "kind": kind, "shape": shape}
        if not self.rows.has(name):
            yield name | measure()


PARTS: dict[str, Callable[[Bench], Iterator[dict[str, Any]]]] = {
    "full_host": Bench.full_host,
    "memory": Bench.memory,
    "done": Bench.done,
    "seen": Bench.seen,
    "cycle": Bench.cycle,
    "load": Bench.load,
    "log": Bench.log,
    "cluster": Bench.cluster,
    "worker": Bench.worker,
}


def arguments() -> argparse.ArgumentParser:
    """Return the options of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.stores.store", description="What the shared store costs.")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, separated by commas: {', '.join(PARTS)}")
    parser.add_argument("--kinds", default="redis,valkey")
    parser.add_argument("--sizes", default="100000,1000000,5000000,10000000", help="waiting URLs, separated by commas")
    parser.add_argument("--hosts", type=int, default=100_000, help="how many, where only their URLs grow")
    parser.add_argument("--cycles", type=int, default=400, help="cycles per size and server")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long several clients work")
    parser.add_argument("--rows", type=Path, default=ROWS)
    parser.add_argument("--again", action="store_true", help="forget the rows of these parts and measure them anew")
    parser.add_argument("--folder", type=Path, help="keep the filled stores here for the next time")
    parser.add_argument("--print", action="store_true", help="print the rows as tables, measure nothing")
    parser.add_argument("--write-constants", action="store_true", help="write what `thresher plan` computes with")
    return parser


def main() -> None:
    """Measure, print, or write the constants."""
    options = arguments().parse_args()
    rows = Rows(options.rows)
    if options.print or options.write_constants:
        if options.write_constants:
            write_constants(rows)
        print_tables(rows)
        return
    names = options.only.split(",")
    if unknown := set(names) - set(PARTS):
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    if options.again:
        rows.forget(names)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="bench-store-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        sizes = sorted(int(size) for size in options.sizes.split(","))
        bench = Bench(rows, Snapshots(folder), options.kinds.split(","), sizes)
        bench.hosts, bench.cycles, bench.seconds = options.hosts, options.cycles, options.seconds
        bench.run(names)
        print_tables(rows)
    finally:
        if options.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
