"""How good is ``strategy: thresher``? ``python -m bench.effectiveness.flagship`` (needs THRESHER_WEBS; an hour on 2
cores).

Test topics alone, which nothing was tuned on. It is compared with breadth-first and with the upper bounds of the lab;
on 20 topics of wikispeedia with all peers and the best of the papers' strategies. The other strategies of the papers
stand in ``bench/results/strategies-*.jsonl`` with the same topics, seeds and fetches. Then with one seed and with two.

Rows with their curves are added to ``thresher-lab/flagship`` as they come; what is there is not run again. In the end
they go to ``bench/results`` with empty curves, tables are printed, and a report and pictures are written beside the
rows with curves. ``--print`` prints the tables of what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from thresher_lab.peers import peers
from thresher_lab.reports.comparisons import Section, make_sections
from thresher_lab.reports.html_report import current_provenance, html_report
from thresher_lab.reports.overview import overview, write_pictures
from thresher_lab.simulation.bounds import BOUNDS
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.comparison_plan import ComparisonPlan, checked_strategies
from thresher_lab.simulation.tasks import ORACLE, PERFECT, Task
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import Row, read_rows

OURS = "thresher"
OWN = "adaptive"
PEERS = "peers"
BASELINE = "breadth-first"
_PAIR = (ORACLE, OURS, BASELINE)
CLASSICS = ("fcmrps", "best-first", "relevant-parents", BASELINE)
PAGES, TRAINING = 300, 0.3
FOLDER = Path("thresher-lab/flagship")
RESULTS = Path(__file__).parents[1] / "results"
TIMES = frozenset({"ms_per_page", "scoring_ms_per_page", "peak_mb"})
"""What checked-in rows do without: it belongs to the machine."""
NO_CURVES: Row = {"curve": [], "oracle_curve": []}
MEASURES = {
    "percent_of_oracle": "% of oracle",
    "percent_of_oracle_60": "% in first 60",
    "harvest_60": "harvest in first 60",
    "hr_at_r": "HR@R",
    "recall": "recall",
    "pages_to_90pc": "to 90 %",
    "relevant_hosts": "hosts",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """Crawls of one web under the same conditions."""

    web: str
    topics: int
    seed_sets: int
    judges: Sequence[str] = (PERFECT,)
    strategies: Sequence[str] = (ORACLE, OURS, *CLASSICS)
    seeds: int = 5

    def tasks(self) -> list[Task]:
        """List the crawls."""
        plan = ComparisonPlan(
            web=self.web,
            strategies=checked_strategies(self.strategies),
            topics=split(self.web, "test")[: self.topics],
            judges=self.judges,
            seed_sets=self.seed_sets,
            seeds=self.seeds,
            pages=PAGES,
            training=TRAINING,
            distance=0,
            host_pages=0,
        )
        return plan.tasks()


def _with_bounds(web: str, topics: int, seed_sets: int, *, own_seed_sets: int) -> list[Part]:
    """Return both judges' crawls of a web; upper bounds have no judge, so they stand beside the perfect one.

    Args:
        own_seed_sets: The number of seed sets with the default judge, whose crawls take three times as long.
    """
    bounded = (*_PAIR, *BOUNDS)
    return [
        Part(web=web, topics=topics, seed_sets=seed_sets, strategies=bounded),
        Part(web=web, topics=topics, seed_sets=own_seed_sets, judges=[OWN], strategies=_PAIR),
    ]


def _both(web: str, topics: int, seed_sets: int) -> list[Part]:
    """Return both judges' crawls of a web without upper bounds."""
    return [Part(web=web, topics=topics, seed_sets=seed_sets, judges=[PERFECT, OWN], strategies=_PAIR)]


PARTS = {
    "wikispeedia": _with_bounds("wikispeedia", 40, 3, own_seed_sets=1),
    "archipelago": [
        Part(web="archipelago", topics=20, seed_sets=3, strategies=_PAIR),
        Part(web="archipelago", topics=20, seed_sets=1, judges=[OWN], strategies=_PAIR),
    ],
    "webkb": _with_bounds("webkb", 3, 4, own_seed_sets=4),
    "w3school_zh": _both("w3school_zh", 11, 1),
    "mdn_zh": _both("mdn_zh", 8, 1),
    "nankai_zh": _both("nankai_zh", 20, 1),
    "few-seeds": [
        *(Part(web="wikispeedia", topics=20, seed_sets=1, seeds=seeds, strategies=_PAIR) for seeds in (1, 2)),
        Part(web="wikispeedia", topics=20, seed_sets=1, seeds=1, judges=[OWN], strategies=_PAIR),
    ],
    PEERS: [Part(web="wikispeedia", topics=20, seed_sets=1, strategies=(ORACLE, OURS, *CLASSICS, *peers()))],
}
"""What is run, by the name of its file."""


def run(name: str, processes: int, strategies: Sequence[str]) -> None:
    """Run what a file lacks, then write its rows down without curves and times."""
    tasks = [task for part in PARTS[name] for task in part.tasks()]
    if strategies:
        tasks = [task for task in tasks if task.strategy in strategies]
    path = FOLDER / f"{name}.jsonl"
    run_tasks(tasks, path, processes=processes, progress=lambda done, all_: print(f"\r{name} {done}/{all_}", end=""))
    print()
    plain = ({key: value for key, value in row.items() if key not in TIMES} | NO_CURVES for row in read_rows(path))
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in plain)
    (RESULTS / f"flagship-{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows_of(name: str) -> Iterator[Row]:
    """Return the rows of a file; beside the peers also the papers' strategies that were run before."""
    own = FOLDER / f"{name}.jsonl"
    rows = read_rows(own if own.exists() else RESULTS / f"flagship-{name}.jsonl")
    yield from rows
    if name == PEERS:
        known = {row["strategy"] for row in rows}
        earlier = read_rows(RESULTS / "strategies-wikispeedia.jsonl")
        yield from (row for row in earlier if row["judge"] == PERFECT and row["strategy"] not in known)


def measures(section: Section) -> Iterator[str]:
    """Write the lines of a table of all that is measured, for the strategies that have it."""
    setting = section.setting
    yield f"**{setting.web}, judge {setting.judge}{setting.conditions}**"
    yield ""
    yield f"| strategy | {' | '.join(MEASURES.values())} | % of oracle: ours − it | p (Holm) |"
    yield f"|---|{'---|' * (len(MEASURES) + 2)}"
    for each in section.comparisons:
        rows = [row for row in section.rows if row["strategy"] == each.strategy]
        if all("hr_at_r" in row for row in rows):
            cells = [_mean(rows, name) for name in MEASURES]
            gap = each.difference
            ahead = f"{-gap.mean:+.1f} [{-gap.high:+.1f}, {-gap.low:+.1f}]" if each.strategy != OURS else ""
            yield f"| {each.strategy} | {' | '.join(cells)} | {ahead} | {each.p:.3g} |"
    yield ""


def _mean(rows: Sequence[Row], name: str) -> str:
    """Give the mean over crawls; of pages to a share, over those that got there, and how many did."""
    values = [row[name] for row in rows if row[name] is not None]
    if name.startswith("pages_to"):
        return f"{fmean(values):.0f} ({len(values)} of {len(rows)})" if values else f"– (0 of {len(rows)})"
    return f"{fmean(values):.2f}" if name in ("hr_at_r", "recall", "harvest_60") else f"{fmean(values):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PARTS), help="; ".join(PARTS))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--strategies", default="", help="only these for now, separated by commas")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.print:
        for name in options.names:
            run(name, options.processes, [each for each in options.strategies.split(",") if each])
    if options.strategies:
        return
    for name in options.names:
        found = make_sections(list(rows_of(name)), OURS)
        print("\n".join(overview(found)))
        print("\n".join(line for section in found for line in measures(section)))
        if curves := read_rows(FOLDER / f"{name}.jsonl"):
            draw(name, make_sections(curves, BASELINE))


def draw(name: str, found: Sequence[Section]) -> None:
    """Write a report and pictures beside the rows with curves."""
    folder = FOLDER / name
    folder.mkdir(exist_ok=True)
    report = html_report(found, current_provenance(f"python -m bench.effectiveness.flagship {name}"))
    (folder / "report.html").write_text(report, encoding="utf-8")
    write_pictures(found, folder)
    print(f"curves: {folder / 'report.html'}", file=sys.stderr)


if __name__ == "__main__":
    main()
