"""Where the time of a page goes: ``python -m bench.speed.stages``.

Pages of 30 KB with 60 links go through the real line, with its judge, strategy, SQLite frontier and page store, without
a network. Every stage has its own stopwatch for the processor time of the thread that does it; so what others do on the
machine hardly counts. ``--waiting 1000 1000000`` does so with frontiers in which that number of other URLs wait
already, and says by how much the cost grows. ``--profile FILE`` writes a profile of the thread that turns the line.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import functools
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from bench.speed.full_speed import SITE
from testing.machine import machine
from testing.recording_server.words import TOPIC_WORDS
from thresher.assembly import build_pipeline
from thresher.crawl import CrawlSetup
from thresher.frontier.base import CrawlStore
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.parsing.html import parse
from thresher.records import Candidate, FetchedPage
from thresher.storage.page_store import PageStoreWriter

PORT = 8080
AT_ONCE, AT_ONCE_FILLED = 32, 5_000
STAGES = ("parse", "judge", "score", "frontier", "archive")


class Watches:
    """Processor time by stage; what a stage calls counts for it alone."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def on(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Put a function on a stage's watch."""

        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.thread_time()
            try:
                answer = function(*arguments, **named)
                return list(answer) if isinstance(answer, Iterator) else answer
            finally:
                self.seconds[stage] += time.thread_time() - started

        return timed

    def watch(self, stage: str, owner: object, *names: str) -> None:
        """Put methods of an object on a stage's watch."""
        for name in names:
            setattr(owner, name, self.on(stage, getattr(owner, name)))


def write_topic(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write down a crawl of the site."""
    config = {
        "title": {"en": "perovskite solar cells"},
        "keywords": TOPIC_WORDS,
        "seeds": [SITE.url(0, PORT)],
        "scope": {"max_pages_per_host": SITE.pages, "first_pages_per_host": None},
        "politeness": {"delay_seconds": 0, "robots": "ignore"},
        "network": {"allow": ["127.0.0.0/8"]},
        **settings,
    }
    (folder / "topic.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


@contextmanager
def filled(waiting: int) -> Iterator[Path]:
    """Make a folder with a frontier in which `waiting` URLs wait."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "filled"
        folder.mkdir()
        write_topic(folder, {})
        if waiting:
            asyncio.run(_fill_and_close(folder, waiting))
        yield folder


async def _fill_and_close(folder: Path, waiting: int) -> None:
    pipeline = build_pipeline(CrawlSetup.open(folder), "w1")
    await fill(pipeline.frontier, waiting)
    await pipeline.close()


async def fill(frontier: CrawlStore, waiting: int) -> None:
    """Let `waiting` URLs wait that never come to their turn, on the hosts of the site."""
    roots = [SITE.url(host, PORT).rsplit("/", 2)[0] for host in range(SITE.hosts)]
    for start in range(0, waiting, AT_ONCE_FILLED):
        numbers = range(start, min(start + AT_ONCE_FILLED, waiting))
        await frontier.add(
            [Candidate(url=f"{roots[n % len(roots)]}/far/away-{n}.html", score=-n / waiting) for n in numbers]
        )


async def turn(crawl: CrawlSetup, watches: Watches, pages: int) -> None:
    """Let pages go through the line, as many at once as a worker has open."""
    frontier_calls = ("_add", "_lease", "_commit")
    pipeline = build_pipeline(crawl, "w1", parse=watches.on("parse", parse))
    frontier, done, numbers = pipeline.frontier, 0, {SITE.url(page, PORT): page for page in range(SITE.pages)}
    assert isinstance(frontier, SqliteFrontier)
    watches.watch("frontier", frontier, *frontier_calls)
    watches.watch("frontier", frontier._file, "read")
    watches.watch("judge", pipeline._judge, "judge", "learn")
    revises = ["revise"] if hasattr(pipeline._strategy, "revise") else []
    watches.watch("score", pipeline._strategy, "score", *revises)
    watches.watch("archive", pipeline.outcomes, "_markup")
    assert isinstance(pipeline._archive, PageStoreWriter)
    watches.watch("archive", pipeline._archive, "write", "apply_revisions")
    await pipeline.seed(crawl.seeds())
    while done < pages:
        leases = await frontier.lease(AT_ONCE, seconds=60.0, pages=pages)
        answers = [answer(lease.url, numbers.get(lease.url)) for lease in leases]
        with stopped(watches):
            await asyncio.gather(*(pipeline.process(*each) for each in zip(leases, answers, strict=True)))
        done += len(leases)
    await pipeline.close()


def answer(url: str, page: int | None) -> FetchedPage:
    """Answer for a page, or for one that a crawl asks for to see how a site says that there is none."""
    return FetchedPage(
        url=url,
        status=404 if page is None else 200,
        headers={"content-type": "text/html; charset=utf-8"},
        body=b"" if page is None else SITE.render(page, PORT),
        fetched_at=time.time(),
    )


@contextmanager
def stopped(watches: Watches) -> Iterator[None]:
    """Count what the line's own thread does, all stages in it included."""
    started = time.thread_time()
    yield
    watches.seconds["line"] = watches.seconds.get("line", 0.0) + time.thread_time() - started


def measure(settings: Mapping[str, Any], pages: int, frontier: Path | None = None) -> dict[str, float]:
    """Return the milliseconds per page, by stage.

    Args:
        frontier: A folder whose frontier is crawled on; it stays as it is.
    """
    watches = Watches()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "crawl"
        if frontier:
            shutil.copytree(frontier, folder)
        else:
            folder.mkdir()
        write_topic(folder, settings)
        asyncio.run(turn(CrawlSetup.open(folder), watches, pages))
    return {stage: 1000 * seconds / pages for stage, seconds in watches.seconds.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.stages", description=__doc__)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--strategies", nargs="+", default=["breadth-first", "fcmrps", "thresher"])
    parser.add_argument("--warc", action="store_true", help="also write WARC files")
    parser.add_argument("--waiting", type=int, nargs="+", default=[0], help="URLs that wait already")
    parser.add_argument("--rounds", type=int, default=1, help="of each the median; all take turns")
    parser.add_argument("--profile", metavar="FILE")
    options = parser.parse_args()
    profile = cProfile.Profile() if options.profile else None
    legs = list(product(options.strategies, options.waiting))
    results: dict[tuple[str, int], list[dict[str, float]]] = {leg: [] for leg in legs}
    with ExitStack() as stack:
        frontiers = {waiting: stack.enter_context(filled(waiting)) for waiting in options.waiting}
        for _, (name, waiting) in product(range(options.rounds), legs):
            settings = {"strategy": {"name": name}, "output": {"warc": options.warc}}
            with profile or nullcontext():
                results[name, waiting].append(measure(settings, options.pages, frontiers[waiting]))
    if profile:
        profile.dump_stats(options.profile)
    print(f"{machine()}; {options.pages} pages of 30 KB with 60 links; CPU ms per page, ", end="")
    print(f"median of {options.rounds} rounds\n\n{table(results)}")


def table(results: Mapping[tuple[str, int], Sequence[Mapping[str, float]]]) -> str:
    """Print the medians; the last column compares with the first row of the strategy."""
    columns = (*STAGES, "all", "× the first")
    rows = [f"| strategy | URLs that wait | {' | '.join(columns)} |", f"|---|---|{'---|' * len(columns)}"]
    first: dict[str, float] = {}
    for (name, waiting), rounds in results.items():
        stages = [median(spent[stage] for spent in rounds) for stage in STAGES]
        whole = median(sum(spent[stage] for stage in STAGES) for spent in rounds)
        figures = " | ".join(f"{each:.2f}" for each in (*stages, whole, whole / first.setdefault(name, whole)))
        rows.append(f"| {name} | {waiting:,} | {figures} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
