"""A sweep over parameters of one strategy on dev topics: relevant pages per crawl, with paired differences."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import mean

from thresher.cli.output import echo, echo_table
from thresher_lab.reports.comparisons import strategy_label
from thresher_lab.reproduce.plans import ExperimentOverrides, Ground, TrialSettings, plan
from thresher_lab.reproduce.trial_runner import ExperimentRunner
from thresher_lab.simulation.comparison_plan import Contender
from thresher_lab.statistics.significance import bootstrap_difference

Found = dict[str, dict[str, float]]
"""From contender over topic to the relevant pages of its crawl."""


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Read the web, the number of dev topics and the budget from the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--web", default="wikispeedia")
    parser.add_argument("--topics", type=int, default=6, help="Dev topics, in the order of their shuffle.")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--only", default="", help="Vary this constant alone.")
    return parser.parse_args()


def sweep(arguments: argparse.Namespace, contenders: Sequence[Contender], settings: TrialSettings) -> Found:
    """Crawl every dev topic with every contender."""
    began, runner, found = time.monotonic(), ExperimentRunner.open(arguments.web), dict[str, dict[str, float]]()
    ground = Ground(web=arguments.web, topics=arguments.topics, pages=arguments.pages)
    for trial in plan([ground], contenders, settings, ExperimentOverrides(topics=["dev"])):
        row = runner.run(trial)
        found.setdefault(strategy_label(row), {})[trial.topic] = float(row["portions"]["labels"][-1])
        echo(f"{time.monotonic() - began:5.0f} s  {trial.topic}  {strategy_label(row)}", err=True)
    runner.flush()
    return found


def print_found(found: Found) -> None:
    """Print the mean of every contender, best first, and its difference to the first one."""
    base = next(iter(found.values()))
    rows = []
    for name in sorted(found, key=lambda name: -mean(found[name].values())):
        gain = bootstrap_difference([found[name][topic] for topic in base], list(base.values()))
        difference = f"{gain.mean:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]"
        rows.append([name, round(mean(found[name].values()), 1), difference])
    echo_table(["contender", "relevant pages", f"against {next(iter(found))}"], rows)
