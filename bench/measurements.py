"""What was measured, by which version, and what is stale: ``make measurements``.

Every row below bench/results has ``made``: the day, the commit, and the versions of the default judge and the default
strategy. A row that depends on one of them is stale when that has changed since; the others are papers, stores and
times. The versions are in ``bench/versions.json`` with a digest of what judge and strategy do on a small generated web.
A test compares the digests: with a change of what they do, raise the version by ``--raise judge`` or ``strategy``.

A benchmark adds rows without ``made``; ``--stamp`` completes them, with the commit that is checked out. ``--drop``
removes stale rows, so that the benchmark's command measures them again. ``--write`` puts a table of its rows at the end
of each page of docs/measurements. Stale rows are listed, and the command ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from testing.machine import today
from thresher_lab.simulation.tasks import ORACLE, PERFECT, Task, TaskRunner
from thresher_lab.statistics.result_rows import Row, read_rows
from thresher_lab.webs.generator import generate

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
VERSIONS = ROOT / "bench" / "versions.json"
PAGES = ROOT / "docs" / "measurements"
JUDGE, STRATEGY = "judge", "strategy"
DEFAULT_JUDGE, DEFAULT_STRATEGY = "adaptive", "thresher"
JUDGES = {DEFAULT_JUDGE, "centroid"}
"""The default judge, and the same without learning from the crawl (`bench.effectiveness.judges`)."""


@dataclass(frozen=True)
class Measurement:
    """Rows of a benchmark.

    Args:
        files: A pattern of file names.
        command: What measures them.
        page: The page that shows them.
        parts: What all rows depend on; without it, a row says by its fields ``judge`` and ``strategy``.
    """

    files: str
    command: str
    page: str
    parts: frozenset[str] | None = None

    def paths(self) -> list[Path]:
        return sorted(RESULTS.glob(self.files))

    def depends(self, row: Row) -> set[str]:
        """Return the parts that a row depends on."""
        if self.parts is not None:
            return set(self.parts)
        found = {JUDGE} if row.get("judge") in JUDGES and row.get("strategy") != ORACLE else set()
        return found | ({STRATEGY} if row.get("strategy") == DEFAULT_STRATEGY else set())


_bench = "python -m bench.{}".format
NEITHER, BOTH = frozenset[str](), frozenset({JUDGE, STRATEGY})
VERDICTS, ORDER = frozenset({JUDGE}), frozenset({STRATEGY})
MEASUREMENTS = [
    Measurement("as-installed.jsonl", _bench("effectiveness.as_installed"), "judges", BOTH),
    Measurement("bundled-nodes.jsonl", _bench("effectiveness.bundled_nodes"), "judges", BOTH),
    Measurement("first-page.jsonl", _bench("speed.first_page"), "speed", NEITHER),
    Measurement("flagship-ablation.jsonl", _bench("effectiveness.flagship_ablation"), "strategies", ORDER),
    Measurement("flagship-[!a]*.jsonl", _bench("effectiveness.flagship"), "strategies"),
    Measurement("flagship-archipelago.jsonl", _bench("effectiveness.flagship"), "strategies"),
    Measurement("fleet.jsonl", _bench("effectiveness.fleet"), "learning-together", VERDICTS),
    Measurement("forecast-*.jsonl", _bench("effectiveness.forecast_coverage"), "judges"),
    Measurement("judges-*.jsonl", _bench("effectiveness.judges"), "judges"),
    Measurement("labels-*.jsonl", _bench("effectiveness.labels"), "judges", VERDICTS),
    Measurement("model-labels*.jsonl", _bench("effectiveness.model_labels"), "judges", VERDICTS),
    Measurement("paper-suggestions.jsonl", _bench("papers.suggestions"), "strategies"),
    Measurement("readme.jsonl", _bench("effectiveness.readme_picture --again"), "strategies"),
    Measurement("rehearsal-*.jsonl", _bench("collection.rehearsal"), "scale", NEITHER),
    Measurement("reproduce/E*.jsonl", "thresher lab reproduce all", "reproduction", NEITHER),
    Measurement("request-order.jsonl", _bench("effectiveness.request_order"), "strategies", BOTH),
    Measurement("rescoring.jsonl", _bench("effectiveness.rescoring"), "strategies"),
    Measurement("seedless.jsonl", _bench("effectiveness.seedless"), "judges", BOTH),
    Measurement("shared-curve.jsonl", _bench("collection.shared"), "scale", NEITHER),
    Measurement("store.jsonl", _bench("stores.store"), "stores", NEITHER),
    Measurement("strategies-*.jsonl", "thresher lab compare", "strategies"),
    Measurement("tiers-harvest.jsonl", _bench("effectiveness.tiers"), "stores"),
    Measurement("tiers.jsonl", _bench("stores.tiers"), "stores", NEITHER),
    Measurement("tunnelling.jsonl", _bench("effectiveness.tunnelling"), "strategies"),
    Measurement("two-topics*.jsonl", _bench("effectiveness.two_topics"), "learning-together", BOTH),
    Measurement("verdicts-test.jsonl", _bench("effectiveness.verdicts"), "judges", VERDICTS),
]


def versions() -> dict[str, dict[str, Any]]:
    """Return version and digest of judge and strategy."""
    found: dict[str, dict[str, Any]] = json.loads(VERSIONS.read_text(encoding="utf-8"))
    return found


def is_stale(measurement: Measurement, row: Row) -> bool:
    """Return whether what a row depends on has changed since; nobody knows of a row without ``made``."""
    made, now = row.get("made"), versions()
    return made is None or any(made[part] != now[part]["version"] for part in measurement.depends(row))


def stale() -> Iterator[tuple[Path, Measurement, int, int]]:
    """Give each file that has stale rows: how many, and of how many."""
    for measurement in MEASUREMENTS:
        for path in measurement.paths():
            rows = read_rows(path)
            if number := sum(map(partial(is_stale, measurement), rows)):
                yield path, measurement, number, len(rows)


def digests() -> dict[str, str]:
    """Return digests of what the default judge and the default strategy do on a generated web of 600 pages."""
    runner = TaskRunner(generate(7, pages=600, hosts=6, languages=("en",)))
    found = {}
    for part, strategy, judge in ((STRATEGY, DEFAULT_STRATEGY, PERFECT), (JUDGE, "breadth-first", DEFAULT_JUDGE)):
        task = Task(web="generated", topic="Arts/Music", strategy=strategy, seed_set=0, judge=judge, seeds=3, pages=150)
        seeds = runner.seeds(task)
        crawl = asyncio.run(runner.simulator(task, seeds).run(list(map(runner.web.url_of, seeds)), task.pages))
        lines = [f"{fetch.page_id} {fetch.relevance:.2f}" for fetch in crawl.fetches]
        found[part] = sha256("\n".join(lines).encode()).hexdigest()[:16]
    return found


def stamp() -> None:
    """Complete the rows that were added since the last time; the commit must be what measured them."""
    if _git("status", "--porcelain", "src"):
        raise SystemExit("src has changes that are not committed: rows cannot name their commit")
    made = {"on": today(), "commit": _git("rev-parse", "--short=8", "HEAD")}
    made |= {part: known["version"] for part, known in versions().items()}
    for path in {path for measurement in MEASUREMENTS for path in measurement.paths()}:
        rows = read_rows(path)
        if any("made" not in row for row in rows):
            _write(path, [{**row, "made": row.get("made", made)} for row in rows])


def drop() -> None:
    """Remove stale rows."""
    for path, measurement, *_ in list(stale()):
        _write(path, [row for row in read_rows(path) if not is_stale(measurement, row)])


def raise_version(part: str) -> None:
    """Count the version of judge or strategy up, and note what they do now."""
    known, found = versions(), digests()
    known[part]["version"] += 1
    for name, digest in found.items():
        known[name]["digest"] = digest
    VERSIONS.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def _write(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


HEADING = "## Rows"
_SECTION = re.compile(rf"\n{HEADING}\n.*", flags=re.DOTALL)


def section(page: str) -> str:
    """Return the last section of a page: its rows, with day, commit and versions."""
    lines = [HEADING, "", "Below `bench/results`; written by `python -m bench.measurements --write`.", ""]
    lines += ["| rows | measured by | day | commit | judge | strategy |", "|---|---|---|---|---|---|"]
    for measurement in MEASUREMENTS:
        for path in measurement.paths() if measurement.page == page else ():
            made = Counter(json.dumps(row["made"]) for row in read_rows(path) if "made" in row)
            found = [json.loads(text) for text in made]
            cells = [_several(own[name] for own in found) for name in ("on", "commit", JUDGE, STRATEGY)]
            parts = set().union(*map(measurement.depends, read_rows(path)))
            cells[2:] = [
                cell if part in parts else "–" for part, cell in zip((JUDGE, STRATEGY), cells[2:], strict=True)
            ]
            name = path.relative_to(RESULTS).as_posix()
            lines.append(f"| `{name}` | `{measurement.command}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _several(values: Iterator[object]) -> str:
    found = sorted({str(value) for value in values})
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}" if found else ""


def with_section(page: Path) -> str:
    """Return a page with that section as it is now."""
    text = _SECTION.sub("", page.read_text(encoding="utf-8")).rstrip() + "\n"
    own = any(measurement.page == page.stem and measurement.paths() for measurement in MEASUREMENTS)
    return f"{text}\n{section(page.stem)}" if own else text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.measurements", description=__doc__.partition("\n")[0])
    parser.add_argument("--stamp", action="store_true", help="complete new rows with commit and versions")
    parser.add_argument("--drop", action="store_true", help="remove stale rows")
    parser.add_argument("--write", action="store_true", help="write the tables of rows into the pages")
    parser.add_argument("--raise", dest="part", choices=[JUDGE, STRATEGY], help="count a version up")
    options = parser.parse_args()
    if options.part:
        raise_version(options.part)
    if options.stamp:
        stamp()
    if options.drop:
        drop()
    if options.write:
        for page in sorted(PAGES.glob("*.md")):
            page.write_text(with_section(page), encoding="utf-8")
    found = list(stale())
    for path, measurement, number, total in found:
        print(f"{path.relative_to(ROOT)}: {number:,} of {total:,} rows; {measurement.command}")
    print("nothing is stale" if not found else f"{len(found)} files have stale rows")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
