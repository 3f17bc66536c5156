"""thresher lab compare: strategies over topics, with intervals and tests."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.output import echo, echo_json, echo_table, json_option
from thresher.errors import require
from thresher_lab.cli.progress import STOPPED, LabReporter
from thresher_lab.cli.web import PAGES, SEEDS, WEB, opened, without_curves

if TYPE_CHECKING:
    from thresher_lab.reports.comparisons import Section
    from thresher_lab.simulation.comparison_plan import ComparisonPlan
    from thresher_lab.statistics.result_rows import Row


@click.command()
@WEB
@click.option(
    "--strategies",
    required=True,
    metavar="NAMES",
    help="Separated by commas, or all; lpe(threshold=0.1); also upper bounds: oracle, labels-known.",
)
@click.option(
    "--topics",
    default="dev",
    show_default=True,
    metavar="NAMES",
    help="Separated by commas, or dev, test, test:20, all.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=5, show_default=True, help="Seed sets per topic.")
@SEEDS
@PAGES
@click.option(
    "--judge",
    default="perfect",
    show_default=True,
    metavar="NAMES",
    help="Separated by commas; perfect knows the labels.",
)
@click.option(
    "--training",
    type=click.FloatRange(0, 0.9),
    metavar="SHARE",
    help="Share of each topic's pages to train on, such as 0.3.  [default: 0.3 if a strategy must be trained]",
)
@click.option(
    "--distance", type=click.IntRange(0, 20), default=0, show_default=True, help="Links from the seeds to the topic."
)
@click.option(
    "--host-pages",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Pages that each host may give; 0 for all.",
)
@click.option("--baseline", default="breadth-first", show_default=True, help="What the others are compared with.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes, such as 4.  [default: the machine's cores]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The rows; those that are there are not run again.  [default: thresher-lab/WEB.jsonl]",
)
@json_option(
    {
        "rows": "One object per crawl: web, topic, strategy, seed set and metrics.",
        "summary": "Per judge and strategy: means with intervals, and the difference to the baseline.",
    },
)
def compare(
    web_name: str,
    strategies: str,
    topics: str,
    seeds: int,
    seeds_per_set: int,
    pages: int,
    judge: str,
    training: float | None,
    distance: int,
    host_pages: int,
    baseline: str,
    workers: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare strategies over topics, with intervals and tests.

    The baseline is run too when it is not among the strategies. After a stop, the same command continues.

    \b
    Examples:
      thresher lab compare --web wikispeedia --strategies thresher,shark
      thresher lab compare --web webkb --strategies all --topics test -o webkb.jsonl
    """
    from thresher_lab.reports.comparisons import make_sections
    from thresher_lab.simulation import comparison_plan as plans

    path = _checked_path(output, web_name)
    names = plans.checked_strategies([*_names(strategies), baseline])
    with opened(web_name) as web:
        chosen = plans.chosen_topics(web, _names(topics), seeds=seeds_per_set)
    plan = plans.ComparisonPlan(
        web=web_name,
        strategies=names,
        topics=chosen,
        judges=plans.checked_judges(_names(judge)),
        seed_sets=seeds,
        seeds=seeds_per_set,
        pages=pages,
        training=training,
        distance=distance,
        host_pages=host_pages,
    )
    rows = _run_plan(plan, path, workers or os.cpu_count() or 1)
    _print_comparison(rows, make_sections(rows, baseline), as_json=as_json)
    echo(f"Rows: {path}. A page with curves: thresher lab report {path} -o report.html", err=True)


def _checked_path(output: Path | None, web_name: str) -> Path:
    require("pyarrow", extra="lab", what="thresher lab compare")
    path = output or Path("thresher-lab") / f"{web_name}.jsonl"
    if path.suffix == ".parquet":
        raise click.BadParameter("name a .jsonl file; the Parquet file is written beside it", param_hint="-o")
    return path


def _names(parted_by_commas: str) -> list[str]:
    found = (name.strip() for name in re.findall(r"[^,(]+(?:\([^)]*\))?", parted_by_commas))
    return [name for name in found if name]


def _run_plan(plan: ComparisonPlan, path: Path, workers: int) -> list[Row]:
    from thresher_lab.simulation.compare import run_tasks, write_parquet
    from thresher_lab.statistics.result_rows import read_rows

    try:
        with LabReporter() as reporter:
            rows = run_tasks(plan.tasks(), path, processes=workers, progress=reporter.show)
    except KeyboardInterrupt:
        echo(f"Stopped. What was done is in {path}; the same command continues.", err=True)
        sys.exit(STOPPED)
    write_parquet(read_rows(path), path.with_suffix(".parquet"))
    return rows


def _print_comparison(rows: Sequence[Row], sections: Sequence[Section], *, as_json: bool) -> None:
    from thresher_lab.reports.comparisons import EARLY_METRICS

    summary = [line for section in sections for line in section.summary()]
    if as_json:
        echo_json({"rows": [without_curves(row) for row in rows], "summary": summary})
        return
    contenders = [each for each in summary if not each["upper_bound"]]
    bounds = [each for each in summary if each["upper_bound"]]
    first = 0 if len(sections) > 1 else 1  # one judge needs no column
    means = ["% of oracle", *EARLY_METRICS.values()]
    columns = ["judge", "strategy", *means, "difference", "p (Holm)", "wins/losses", "worst topic"]
    echo_table(columns[first:], [[*_mean_cells(each), *_test_cells(each)][first:] for each in contenders])
    if bounds:
        echo()
        cells = [[*_mean_cells(each), _interval(each["difference"], "+")][first:] for each in bounds]
        echo_table(["judge", "upper bound", *means, "difference"][first:], cells)


def _mean_cells(each: Mapping[str, Any]) -> list[str]:
    from thresher_lab.reports.comparisons import EARLY_METRICS
    from thresher_lab.reports.tables import early_cells

    early = early_cells([each[metric] for metric in EARLY_METRICS])
    return [each["judge"], each["strategy"], _interval(each["mean"], ""), *early]


def _test_cells(each: Mapping[str, Any]) -> list[str]:
    is_tested = each["strategy"] != each["baseline"]
    return [
        _interval(each["difference"], "+") if is_tested else "baseline",
        f"{each['p']:.4f}" if is_tested else "",
        f"{each['wins']}/{each['losses']}" if is_tested else "",
        f"{each['worst']['topic']} ({each['worst']['value']:.1f})",
    ]


def _interval(interval: Mapping[str, float], sign: str) -> str:
    return f"{interval['mean']:{sign}.1f} [{interval['low']:{sign}.1f}, {interval['high']:{sign}.1f}]"
