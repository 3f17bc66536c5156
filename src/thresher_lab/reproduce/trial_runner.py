"""Runs trials over processes; rows are added to a file per experiment as they come, and none is run twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from thresher import registry
from thresher.errors import ThresherError
from thresher_lab.reproduce.experiment_runner import ExperimentRunner
from thresher_lab.reproduce.trials import Trial, trial_key
from thresher_lab.simulation.processes import run_groups
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows

Progress = Callable[[int, int], None]

FAILED = "failed"
"""The field of a row that only has the reason of a failure."""


def rows_file(folder: Path, experiment: str) -> Path:
    """Return the path of the rows of an experiment."""
    return folder / f"{experiment}.jsonl"


def run_trials(
    trials: Sequence[Trial], folder: Path, experiment: str, *, processes: int, progress: Progress
) -> list[str]:
    """Run what no experiment of the folder has run yet; return what could not be run and why.

    A crawl that two experiments require is run once, and its row is in both files.
    """
    able = [trial for trial in trials if trial.strategy in registry.known("strategy")]
    absent = sorted({trial.strategy for trial in trials} - {trial.strategy for trial in able})
    trouble = [f"not available: strategy {name}" for name in absent]
    known = {trial_key(row): row for path in sorted(folder.glob("E*.jsonl")) for row in _trial_rows(path)}
    path = rows_file(folder, experiment)
    own = {trial_key(row) for row in _trial_rows(path)}
    missing = [trial for trial in able if trial.key not in known]
    add_rows(path, [known[trial.key] for trial in able if trial.key in known and trial.key not in own])
    done = len(able) - len(missing)
    progress(done, len(able))
    for row in run_groups(missing, _run_group, place=lambda trial: trial.group, processes=processes):
        done += 1
        progress(done, len(able))
        if FAILED in row:
            trouble.append(f"not available: {row['strategy']} on {row['web']}, {row['topic']}: {row[FAILED]}")
        else:
            add_rows(path, [row])
    return trouble


def _trial_rows(path: Path) -> list[Row]:
    return [row for row in read_rows(path) if "measure" in row]


_stages: dict[str, ExperimentRunner] = {}
"""The webs that this process has open."""


def _run_group(trials: Sequence[Trial]) -> Iterator[Row]:
    """Run trials that share a web, a topic and seeds, and so parsed pages and models."""
    stage = _stages.get(trials[0].web) or _stages.setdefault(trials[0].web, ExperimentRunner.open(trials[0].web))
    for trial in trials:
        try:
            yield stage.run(trial)
        except ThresherError as error:
            yield {"web": trial.web, "topic": trial.topic, "strategy": trial.strategy, FAILED: str(error)}
    stage.flush()
