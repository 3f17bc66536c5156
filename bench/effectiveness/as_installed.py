"""What the README's commands find: ``python -m bench.effectiveness.as_installed`` (needs THRESHER_WEBS).

The wheel of this platform is built and installed without extras into a new environment. For each test topic a folder is
made by `thresher new --topic PHRASE --seed URL …` and crawled by `thresher run --pages 500`, both of the wheel, with
default settings: one or three pages of the topic as seeds, the default judge, the default pauses. The web is a frozen
one on loopback; topic.yaml gets the lines that `thresher lab serve` prints, and nothing else. For comparison, the same
with `--strategy breadth-first`.

By the web's own labels, without the seeds: the share of the fetched pages that are on topic (harvest), the share of
the topic that was fetched, and precision, recall and F1 of the verdicts of `thresher export`. Means are over topics,
with 95 % bootstrap intervals. A crawl takes a quarter of an hour, since a host gets a request every two seconds. Forty
run at the same time (``--at-once``). Rows are added to bench/results/as-installed.jsonl as they come; what is there is
not run again, and ``--print`` only prints it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from bench.effectiveness.verdict_topics import LANGUAGES, phrase_of
from bench.effectiveness.verdicts import RESULTS
from testing.building import build_wheel, install
from testing.processes import kill_family
from thresher.urls.canonical import canonicalize
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import add_rows, read_rows
from thresher_lab.statistics.significance import bootstrap_mean

ROWS = RESULTS / "as-installed.jsonl"
TOPICS = {"wikispeedia": 20, "mdn_zh": 5, "w3school_zh": 5}
"""Test topics of each web, in the order of the draw."""
SEEDS = (1, 3)
STRATEGIES = ("thresher", "breadth-first")
PAGES = 500
AT_ONCE = 40
MEASURES = ("harvest", "found", "precision", "recall", "f1")

Row = dict[str, Any]


@dataclass(frozen=True)
class Crawl:
    """One crawl of the table."""

    web: str
    topic: str
    seeds: int
    strategy: str


def crawls() -> list[Crawl]:
    """List all, those with the default strategy first."""
    return [
        Crawl(web, topic, seeds, strategy)
        for strategy in STRATEGIES
        for seeds in SEEDS
        for web, number in TOPICS.items()
        for topic in split(web, "test")[:number]
    ]


@contextmanager
def served(web: str) -> Iterator[Row]:
    """Serve a web by the command of the lab; give the setting that it prints."""
    command = [sys.executable, "-m", "thresher", "lab", "serve", web]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout
        lines = list(takewhile(lambda line: not line.startswith("Put this into topic.yaml"), server.stdout))
        yield yaml.safe_load("".join(lines))["network"]
    finally:
        kill_family(server.pid)
        server.wait()


def run(crawl: Crawl, bench: TaskRunner, network: Row, python: Path, folder: Path) -> Row:
    """Make a crawl, run it, and measure what it exports."""
    task = Task(web=crawl.web, topic=crawl.topic, strategy=crawl.strategy, seed_set=0, judge="adaptive",
                seeds=crawl.seeds, pages=PAGES)  # fmt: skip
    seeds = bench.seeds(task)
    name = f"{crawl.web}-{crawl.topic}-{crawl.seeds}-{crawl.strategy}".replace("/", "-")
    phrase = phrase_of(crawl.web, crawl.topic)
    urls = [part for seed in seeds for part in ("--seed", bench.web.url_of(seed))]
    strategy = [] if crawl.strategy == STRATEGIES[0] else ["--strategy", crawl.strategy]
    _call(python, folder, "new", name, "--topic", phrase, *urls, *strategy, "--contact", "me@example.org")
    path = folder / name / "topic.yaml"
    settings = {**yaml.safe_load(path.read_text(encoding="utf-8")), "network": network}
    path.write_text(yaml.safe_dump(settings, allow_unicode=True), encoding="utf-8")
    _call(python, folder, "run", name, "--pages", str(PAGES))
    exported = _call(python, folder, "export", name, "--duplicates").splitlines()
    return {**asdict(crawl), **measured(bench, crawl.topic, seeds, map(json.loads, exported))}


def measured(bench: TaskRunner, topic: str, seeds: Sequence[int], rows: Iterator[Row]) -> Row:
    """Compare the verdicts on the fetched pages with the labels of the web; seeds do not count."""
    targets = bench.web.targets(topic)
    verdicts = {bench.web.page_id(canonicalize(row["url"]) or row["url"]): row["relevant"] for row in rows}
    fetched = {page: flagged for page, flagged in verdicts.items() if page not in seeds}
    on_topic = {page for page in fetched if page in targets}
    flagged = {page for page, is_flagged in fetched.items() if is_flagged}
    right = len(on_topic & flagged)
    return {
        "fetched": len(fetched),
        "on_topic": len(on_topic),
        "flagged": len(flagged),
        "right": right,
        "targets": len(targets - {*seeds}),
        "harvest": len(on_topic) / max(len(fetched), 1),
        "found": len(on_topic) / max(len(targets - {*seeds}), 1),
        "precision": right / len(flagged) if flagged else None,
        "recall": right / len(on_topic) if on_topic else None,
        "f1": 2 * right / (len(on_topic) + len(flagged)) if on_topic or flagged else None,
    }


def _call(python: Path, folder: Path, *words: str) -> str:
    """Run a command of the wheel from the folder, with nothing of this source in sight."""
    hidden = ("PYTHON", "THRESHER", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    program = python.parent / "thresher"
    done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"thresher {' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def measure(path: Path, at_once: int) -> None:
    """Run what has no row yet, some crawls side by side."""
    known = {tuple(row[name] for name in asdict(crawls()[0])) for row in read_rows(path)}
    missing = [crawl for crawl in crawls() if tuple(asdict(crawl).values()) not in known]
    with tempfile.TemporaryDirectory(prefix="thresher-as-installed-") as temporary, ExitStack() as servers:
        folder = Path(temporary)
        python = install(build_wheel(folder / "dist"), folder / "environment")
        webs = {web: TaskRunner.open(web) for web in TOPICS}
        networks = {web: servers.enter_context(served(web)) for web in TOPICS}
        with ThreadPoolExecutor(at_once) as pool:
            running = [
                pool.submit(run, crawl, webs[crawl.web], networks[crawl.web], python, folder) for crawl in missing
            ]
            for number, done in enumerate(as_completed(running), start=1):
                add_rows(path, [done.result()])
                print(f"\r{number}/{len(missing)}", end="", flush=True)
        print()


def show(rows: Sequence[Row]) -> None:
    """Print a line per language, seeds and strategy."""
    print(f"| language | seeds | strategy | topics | {' | '.join(MEASURES)} |\n|{'---|' * (4 + len(MEASURES))}")
    places = {(LANGUAGES[row["web"]], row["seeds"], row["strategy"]) for row in rows}
    for place in sorted(places, key=lambda place: (place[0] != "English", *place[1:])):
        own = [row for row in rows if (LANGUAGES[row["web"]], row["seeds"], row["strategy"]) == place]
        cells = [_cell([row[name] for row in own if row[name] is not None]) for name in MEASURES]
        print(f"| {' | '.join(map(str, place))} | {len(own)} | {' | '.join(cells)} |")


def _cell(values: Sequence[float]) -> str:
    found = bootstrap_mean(values)
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.effectiveness.as_installed")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="crawls that run at the same time")
    parser.add_argument("--print", action="store_true", help="print the rows that are there")
    options = parser.parse_args()
    if not options.print:
        measure(ROWS, options.at_once)
    show(read_rows(ROWS))


if __name__ == "__main__":
    main()
