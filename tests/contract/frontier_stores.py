"""The frontiers that the contract runs against. A new backend adds its store here and nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from thresher.frontier.base import Frontier
from thresher.frontier.memory import MemoryFrontier
from thresher.frontier.sqlite import SqliteFrontier


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class MemoryStore:
    """A memory frontier cannot be opened a second time, so it is handed back as it was left."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.clock = clock
        self.frontier: Frontier | None = None

    def open(self, **settings) -> Frontier:
        self.frontier = self.frontier or MemoryFrontier(clock=self.clock, **settings)
        return self.frontier


class SqliteStore:
    """Without waiting for the disk: only the loss of power would tell the difference."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path = folder / "frontier.db"
        self.clock = clock

    def open(self, **settings) -> Frontier:
        return SqliteFrontier(self.path, clock=self.clock, synchronous="OFF", **settings)


STORES: dict[str, Callable[[Path, Clock], MemoryStore | SqliteStore]] = {
    "memory": MemoryStore,
    "sqlite": SqliteStore,
}
