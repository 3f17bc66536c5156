"""Is ``strategy: thresher`` the best there is? ``python -m bench.effectiveness.flagship`` (needs THRESHER_WEBS; an
hour on 2 cores).

Test topics alone, which nothing was tuned on. Beside it run the best of the papers' strategies and all peers; the other
strategies of the papers stand in ``bench/results/strategies-*.jsonl`` with the same topics, seeds and fetches, and take
part in the comparison. Then harder conditions: seeds away from the topic, few pages per host.

Rows with their curves are added to ``thresher-lab/flagship`` as they come; what is there is not run again. In the end
rows without curves go to ``bench/results``, tables are printed, and a report and pictures are written beside the rows
with curves. ``--print`` prints the tables of what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from thresher_lab.peers import peers
from thresher_lab.reports.comparisons import Section, make_sections
from thresher_lab.reports.html_report import current_provenance, html_report
from thresher_lab.reports.overview import overview
from thresher_lab.reports.png_charts import write_pictures
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.comparison_plan import ComparisonPlan, Contender
from thresher_lab.simulation.tasks import ORACLE, PERFECT, Task
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import Row, read_rows

OURS = "thresher"
OWN = "adaptive"
CLASSICS = ("fcmrps", "best-first", "relevant-parents")
PAGES, TRAINING = 300, 0.3
FOLDER = Path("thresher-lab/flagship")
RESULTS = Path(__file__).parents[1] / "results"
UNTIMED = ("curve", "oracle_curve", "ms_per_page", "scoring_ms_per_page", "peak_mb")
"""What checked-in rows do without."""
MEASURES = {
    "percent_of_oracle": "% of oracle",
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
    judges: Sequence[str] = (PERFECT, OWN)
    strategies: Sequence[str] = (ORACLE, OURS, *CLASSICS, *peers())
    distance: int = 0
    host_pages: int = 0

    def tasks(self) -> list[Task]:
        """List the crawls."""
        plan = ComparisonPlan(
            web=self.web,
            strategies=[Contender(strategy=name) for name in self.strategies],
            topics=split(self.web, "test")[: self.topics],
            judges=self.judges,
            seed_sets=self.seed_sets,
            seeds=5,
            pages=PAGES,
            training=TRAINING,
            distance=self.distance,
            host_pages=self.host_pages,
        )
        return plan.tasks()


FEW = (ORACLE, OURS, *CLASSICS)
PARTS = {
    "wikispeedia": [Part(web="wikispeedia", topics=20, seed_sets=2)],
    "archipelago": [Part(web="archipelago", topics=20, seed_sets=1)],
    "webkb": [
        Part(web="webkb", topics=3, seed_sets=4, judges=[PERFECT]),
        Part(web="webkb", topics=3, seed_sets=4, judges=[OWN], strategies=FEW),
    ],
    "w3school_zh": [
        Part(web="w3school_zh", topics=11, seed_sets=1, judges=[PERFECT]),
        Part(web="w3school_zh", topics=11, seed_sets=1, judges=[OWN], strategies=FEW),
    ],
    "mdn_zh": [
        Part(web="mdn_zh", topics=8, seed_sets=1, judges=[PERFECT]),
        Part(web="mdn_zh", topics=8, seed_sets=1, judges=[OWN], strategies=FEW),
    ],
    "nankai_zh": [
        Part(web="nankai_zh", topics=20, seed_sets=1, judges=[PERFECT]),
        Part(web="nankai_zh", topics=20, seed_sets=1, judges=[OWN], strategies=FEW),
    ],
    "far": [
        Part(web="wikispeedia", topics=20, seed_sets=1, judges=[PERFECT], strategies=FEW, distance=2),
        Part(web="archipelago", topics=20, seed_sets=1, judges=[PERFECT], strategies=FEW, distance=2),
    ],
    "farther": [Part(web="archipelago", topics=20, seed_sets=1, judges=[PERFECT], strategies=FEW, distance=3)],
    "few-per-host": [
        Part(web="archipelago", topics=20, seed_sets=1, judges=[PERFECT], strategies=FEW, host_pages=10),
        Part(web="nankai_zh", topics=20, seed_sets=1, judges=[PERFECT], strategies=FEW, host_pages=10),
    ],
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
    plain = ({key: value for key, value in row.items() if key not in UNTIMED} for row in read_rows(path))
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in plain)
    (RESULTS / f"flagship-{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def sections(names: Iterable[str]) -> list[Section]:
    """Compare everything with ours, the strategies of the papers that were run before included."""
    rows = [row for name in names for row in _rows(name)]
    return make_sections(rows, OURS)


def _rows(name: str) -> Iterator[Row]:
    own = FOLDER / f"{name}.jsonl"
    rows = read_rows(own if own.exists() else RESULTS / f"flagship-{name}.jsonl")
    run_again = {(row["judge"], row["strategy"]) for row in rows}
    judges = {row["judge"] for row in rows}
    yield from rows
    for row in read_rows(RESULTS / f"strategies-{name}.jsonl"):
        if row["judge"] in judges and (row["judge"], row["strategy"]) not in run_again:
            yield row


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
    return f"{fmean(values):.2f}" if name in ("hr_at_r", "recall") else f"{fmean(values):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PARTS), help="; ".join(PARTS))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--strategies", default="", help="only these for now, parted by commas")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.print:
        for name in options.names:
            run(name, options.processes, [each for each in options.strategies.split(",") if each])
    if options.strategies:
        return
    found = sections(options.names)
    print("\n".join(overview(found)))
    print("\n".join(line for section in found for line in measures(section)))
    if curves := [row for name in options.names for row in read_rows(FOLDER / f"{name}.jsonl")]:
        drawn = make_sections(curves, OURS)
        report = html_report(drawn, current_provenance("python -m bench.effectiveness.flagship"))
        (FOLDER / "report.html").write_text(report, encoding="utf-8")
        write_pictures(make_sections(curves, "best-first"), FOLDER)
        print(f"curves: {FOLDER / 'report.html'}", file=sys.stderr)


if __name__ == "__main__":
    main()
