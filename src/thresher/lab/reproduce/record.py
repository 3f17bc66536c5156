"""The record of runs: when, where, how and how long an experiment was run; a line in ``runs.jsonl`` for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from thresher.lab.report import made_now
from thresher.lab.rows import add_rows, read_rows

FILE = "runs.jsonl"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of an experiment.

    Args:
        experiment: Its number.
        command: What was typed.
        date: When it ended.
        machine: Where it ran.
        crawls: How many crawls were run, those left out that were there before.
        seconds: How long it took.
    """

    experiment: str
    command: str
    date: str
    machine: str
    crawls: int
    seconds: float

    def words(self) -> str:
        """Say it in a sentence."""
        return f"{self.crawls:,} crawls in {self.seconds / 60:.1f} min, {self.date}, {self.machine}: `{self.command}`"


def record_run(folder: Path, experiment: str, command: str, *, crawls: int, seconds: float) -> None:
    """Write a run down; one that had nothing to do is not worth a line."""
    if not crawls:
        return
    made = made_now(command)
    run = Run(
        experiment=experiment,
        command=command,
        date=made.date,
        machine=made.machine,
        crawls=crawls,
        seconds=round(seconds, 1),
    )
    add_rows(folder / FILE, [asdict(run)])


def runs_of(folder: Path, experiment: str) -> Iterator[Run]:
    """Give the runs of an experiment, in their order."""
    return (Run(**row) for row in read_rows(folder / FILE) if row["experiment"] == experiment)
