"""Runs trials over processes; rows are added to a file per experiment as they come, and none is run twice."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from pathlib import Path

from thresher import registry
from thresher.errors import ThresherError
from thresher.lab.compare import read_rows
from thresher.lab.reproduce.stage import Stage
from thresher.lab.reproduce.trials import Trial, trial_key
from thresher.lab.tasks import Row

Progress = Callable[[int, int], None]

FAILED = "failed"
"""The field of a row that only says why there is none."""


def rows_file(folder: Path, experiment: str) -> Path:
    """Say where the rows of an experiment are."""
    return folder / f"{experiment}.jsonl"


def run_trials(
    trials: Sequence[Trial], folder: Path, experiment: str, *, processes: int, progress: Progress
) -> list[str]:
    """Run what no experiment of the folder has run yet, and say what could not be run and why.

    A crawl that two experiments ask for is run once, and its row is in both files.
    """
    able = [trial for trial in trials if trial.strategy in registry.known("strategy")]
    absent = sorted({trial.strategy for trial in trials} - {trial.strategy for trial in able})
    trouble = [f"not available: strategy {name}" for name in absent]
    known = {trial_key(row): row for path in sorted(folder.glob("E*.jsonl")) for row in _trial_rows(path)}
    own = {trial_key(row) for row in _trial_rows(rows_file(folder, experiment))}
    missing = [trial for trial in able if trial.key not in known]
    _add([known[trial.key] for trial in able if trial.key in known and trial.key not in own], folder, experiment)
    done = len(able) - len(missing)
    progress(done, len(able))
    for row in _run(missing, processes):
        done += 1
        progress(done, len(able))
        if FAILED in row:
            trouble.append(f"not available: {row['strategy']} on {row['web']}, {row['topic']}: {row[FAILED]}")
        else:
            _add([row], folder, experiment)
    return trouble


def _trial_rows(path: Path) -> list[Row]:
    return [row for row in read_rows(path) if "measure" in row]


def _add(rows: Sequence[Row], folder: Path, experiment: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = rows_file(folder, experiment)
    torn = _is_torn(path)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" if torn else "")  # a line that a crash cut short must not swallow the next one
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _run(trials: Sequence[Trial], processes: int) -> Iterator[Row]:
    """Run trials that share a web, a topic and seeds in one go, so that they share what is parsed and learned."""
    ordered = sorted(trials, key=lambda trial: trial.group)
    groups = [list(group) for _, group in groupby(ordered, key=lambda trial: trial.group)]
    if processes == 1 or len(groups) <= 1:
        for group in groups:
            yield from _run_group(group)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(_run_all, group) for group in groups]):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # or Ctrl-C would wait for all that is left
            raise


_stages: dict[str, Stage] = {}
"""The webs that this process has open."""


def _run_all(trials: Sequence[Trial]) -> list[Row]:
    return list(_run_group(trials))


def _run_group(trials: Sequence[Trial]) -> Iterator[Row]:
    stage = _stages.get(trials[0].web) or _stages.setdefault(trials[0].web, Stage.open(trials[0].web))
    for trial in trials:
        try:
            yield stage.run(trial)
        except ThresherError as error:
            yield {"web": trial.web, "topic": trial.topic, "strategy": trial.strategy, FAILED: str(error)}
    stage.flush()


def _is_torn(path: Path) -> bool:
    """Tell whether a file ends within a line."""
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read() != b"\n"
