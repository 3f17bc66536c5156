"""The ten experiments by their numbers: their crawls and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from thresher.errors import ConfigError
from thresher_lab.reproduce.ablations import (
    ABLATION_GROUNDS,
    e3_report,
    e3_trials,
    e4_report,
    e4_trials,
    e5_report,
    e5_trials,
)
from thresher_lab.reproduce.claims import Row
from thresher_lab.reproduce.directory_entries import directories_run
from thresher_lab.reproduce.fcmrps import E1_GROUNDS, e1_report, e1_trials
from thresher_lab.reproduce.itfidf import e7_report, e7_run
from thresher_lab.reproduce.layers import GROUNDS as E9_GROUNDS
from thresher_lab.reproduce.layers import e9_report, e9_trials
from thresher_lab.reproduce.lpe import GROUNDS as E8_GROUNDS
from thresher_lab.reproduce.lpe import e8_report, e8_trials
from thresher_lab.reproduce.plans import ExperimentOverrides, Ground
from thresher_lab.reproduce.record import record_run, runs_of
from thresher_lab.reproduce.rules import GROUNDS as E10_GROUNDS
from thresher_lab.reproduce.rules import e10_report, e10_trials
from thresher_lab.reproduce.tables import ExperimentReport
from thresher_lab.reproduce.timing import GROUNDS as E6_GROUNDS
from thresher_lab.reproduce.timing import e6_report, e6_trials
from thresher_lab.reproduce.trial_runner import Progress, rows_file, run_trials
from thresher_lab.reproduce.trials import Trial
from thresher_lab.reproduce.url_tokens import e2_report
from thresher_lab.statistics.result_rows import read_rows


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment of a paper.

    Args:
        trials: Lists its crawls.
        report: Makes tables and verdicts from their rows.
        grounds: The webs of its crawls.
        run_rows: Adds rows that need no crawl to its file; returns what could not be run.
        crawls_of: The experiment whose crawls it reports on, if it has none of its own.
    """

    trials: Callable[[ExperimentOverrides], list[Trial]]
    report: Callable[[Sequence[Row]], ExperimentReport]
    grounds: Sequence[Ground] = ()
    run_rows: Callable[[Path, Progress], list[str]] | None = None
    crawls_of: str = ""


def _no_trials(choice: ExperimentOverrides) -> list[Trial]:
    return []


EXPERIMENTS = {
    "E1": Experiment(trials=e1_trials, report=e1_report, grounds=E1_GROUNDS),
    "E2": Experiment(trials=_no_trials, report=e2_report, run_rows=directories_run, crawls_of="E1"),
    "E3": Experiment(trials=e3_trials, report=e3_report, grounds=ABLATION_GROUNDS),
    "E4": Experiment(trials=e4_trials, report=e4_report, grounds=ABLATION_GROUNDS),
    "E5": Experiment(trials=e5_trials, report=e5_report, grounds=ABLATION_GROUNDS),
    "E6": Experiment(trials=e6_trials, report=e6_report, grounds=E6_GROUNDS),
    "E7": Experiment(trials=_no_trials, report=e7_report, run_rows=e7_run),
    "E8": Experiment(trials=e8_trials, report=e8_report, grounds=E8_GROUNDS),
    "E9": Experiment(trials=e9_trials, report=e9_report, grounds=E9_GROUNDS),
    "E10": Experiment(trials=e10_trials, report=e10_report, grounds=E10_GROUNDS),
}


def chosen(names: Sequence[str]) -> list[str]:
    """Return each experiment once, in their order; ``all`` is all of them.

    Raises:
        ConfigError: There is no such experiment.
    """
    wanted = {name.upper() for name in names}
    if unknown := sorted(wanted - {"ALL", *EXPERIMENTS}):
        raise ConfigError(f"no experiment is called {unknown[0]}; there are {', '.join(EXPERIMENTS)}, and all")
    return [name for name in EXPERIMENTS if "ALL" in wanted or name in wanted]


def run(name: str, folder: Path, choice: ExperimentOverrides, *, processes: int, progress: Progress) -> list[str]:
    """Run the crawls of an experiment that are not in its file yet; return what could not be run."""
    experiment, path = EXPERIMENTS[name], rows_file(folder, name)
    trials, started, before = experiment.trials(choice), time.monotonic(), len(read_rows(path))
    if experiment.run_rows:
        folder.mkdir(parents=True, exist_ok=True)
        trouble = experiment.run_rows(path, progress)
        others = experiment.crawls_of
        return [*trouble, *(run(others, folder, choice, processes=processes, progress=progress) if others else ())]
    trouble = run_trials(trials, folder, name, processes=processes, progress=progress)
    crawls = len(read_rows(rows_file(folder, name))) - before
    record_run(folder, name, command_of(name, choice), crawls=crawls, seconds=time.monotonic() - started)
    return trouble


def command_of(name: str, choice: ExperimentOverrides) -> str:
    """Return the command that runs an experiment with these options."""
    options = {"web": ",".join(choice.webs), "topics": ",".join(choice.topics)}
    options |= {"pages": str(choice.pages or ""), "seeds": str(choice.seed_sets or "")}
    return " ".join(
        [f"thresher lab reproduce {name}", *(f"--{key} {value}" for key, value in options.items() if value)]
    )


def report(name: str, folder: Path, trouble: Sequence[str] = ()) -> ExperimentReport:
    """Make the report of an experiment from its file; its notes list what is missing."""
    experiment, path = EXPERIMENTS[name], rows_file(folder, name)
    rows = read_rows(path)
    if experiment.crawls_of:
        rows += read_rows(rows_file(folder, experiment.crawls_of))
    if not rows:
        advice = f"thresher lab reproduce {name} -o {folder}"
        notes = (*trouble, f"not available: no rows in {path.name}; make them: {advice}")
        return ExperimentReport(name=name, title="not available", notes=notes)
    made = experiment.report(rows)
    runs = (f"Run: {run.words()}" for run in runs_of(folder, experiment.crawls_of or name))
    return replace(made, notes=(*made.notes, *trouble, *_not_run(name, rows), *runs))


def read_causes(folder: Path) -> dict[str, str]:
    """Read why claims fail, by the claim: `causes.yaml` in the folder of the rows; nothing where it is not there."""
    path = folder / "causes.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def _not_run(name: str, rows: Sequence[Row]) -> list[str]:
    """Name the webs of an experiment that have no rows, and the command that makes them."""
    known = {row.get("web") for row in rows}
    missing = ",".join(ground.web for ground in EXPERIMENTS[name].grounds if ground.web not in known)
    return [f"Not run for this page: {missing} (`thresher lab reproduce {name} --web {missing}`)."] if missing else []
