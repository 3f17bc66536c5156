"""The picture of the README.

``python -m bench.effectiveness.readme_picture`` draws it from ``bench/results/readme.jsonl``.

``--again`` crawls anew first (needs THRESHER_WEBS; some minutes on 2 cores): twenty test topics, two seed sets, 300
fetches, the judge of the lab that makes no mistakes. The figures that the README names beside it are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from bench.effectiveness.flagship import BASELINE, OURS, PAGES, RESULTS, TIMES, TRAINING
from thresher_lab.reports.comparisons import make_sections
from thresher_lab.reports.overview import write_pictures
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.comparison_plan import ComparisonPlan, Contender
from thresher_lab.simulation.tasks import PERFECT
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import Row, read_rows

WEB, TOPICS, SEED_SETS = "wikispeedia", 20, 2
ROWS = RESULTS / "readme.jsonl"
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "thresher-against-breadth-first.png"


def crawl(path: Path, *, processes: int) -> None:
    """Run the crawls and write their rows: with curves, without what belongs to the machine."""
    plan = ComparisonPlan(
        web=WEB,
        strategies=[Contender(strategy=name) for name in (OURS, BASELINE)],
        topics=split(WEB, "test")[:TOPICS],
        judges=[PERFECT],
        seed_sets=SEED_SETS,
        seeds=5,
        pages=PAGES,
        training=TRAINING,
        distance=0,
        host_pages=0,
    )
    with tempfile.TemporaryDirectory() as scratch:
        rows = run_tasks(plan.tasks(), Path(scratch) / "rows.jsonl", processes=processes, progress=_tell)
    plain = [{name: value for name, value in row.items() if name not in TIMES} for row in rows]
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in plain)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(rows: Sequence[Row], picture: Path) -> None:
    """Draw how the share that was found grows."""
    with tempfile.TemporaryDirectory() as scratch:
        written = write_pictures(make_sections(rows, BASELINE), Path(scratch))
        [recall] = [path for path in written if path.name.endswith("-recall.png")]
        picture.write_bytes(recall.read_bytes())


def shares(rows: Sequence[Row]) -> dict[str, float]:
    """Return the percents of the oracle's area, by strategy."""
    return {
        name: fmean(row["percent_of_oracle"] for row in rows if row["strategy"] == name) for name in (OURS, BASELINE)
    }


def _tell(done: int, all_: int) -> None:
    print(f"\r{done}/{all_}", end="" if done < all_ else "\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="crawl anew")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.again:
        crawl(ROWS, processes=options.processes)
    rows = read_rows(ROWS)
    draw(rows, PICTURE)
    for name, share in shares(rows).items():
        print(f"{name}: {share:.1f} % of the oracle's area over {TOPICS} topics")


if __name__ == "__main__":
    main()
