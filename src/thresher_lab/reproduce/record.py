"""The record of runs: when, where, how and how long an experiment was run; a line in ``runs.jsonl`` for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from thresher_lab.reports.html_report import current_provenance
from thresher_lab.statistics.result_rows import add_rows, read_rows

FILE = "runs.jsonl"


@dataclass(frozen=True, kw_only=True)
class ExperimentRun:
    """One run of an experiment.

    Args:
        experiment: Its number.
        command: The command line.
        date: When it ended.
        machine: Where it ran.
        crawls: Number of new crawls.
        seconds: How long it took.
    """

    experiment: str
    command: str
    date: str
    machine: str
    crawls: int
    seconds: float

    def words(self) -> str:
        """Return the run as a sentence."""
        return f"{self.crawls:,} crawls in {self.seconds / 60:.1f} min, {self.date}, {self.machine}: `{self.command}`"


def record_run(folder: Path, experiment: str, command: str, *, crawls: int, seconds: float) -> None:
    """Append a run; one without new crawls is not recorded."""
    if not crawls:
        return
    made = current_provenance(command)
    run = ExperimentRun(
        experiment=experiment,
        command=command,
        date=made.date,
        machine=made.machine,
        crawls=crawls,
        seconds=round(seconds, 1),
    )
    add_rows(folder / FILE, [asdict(run)])


def runs_of(folder: Path, experiment: str) -> Iterator[ExperimentRun]:
    """Return the runs of an experiment, in their order."""
    return (ExperimentRun(**row) for row in read_rows(folder / FILE) if row["experiment"] == experiment)
