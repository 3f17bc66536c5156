"""How long screens take in a browser: ``python -m bench.speed.dashboard_screens [--folder F]``; a few minutes.

A crawl with 100,000 pages and a million waiting URLs is written, or taken from a folder that ``python -m
bench.speed.dashboard --folder F`` has left; `thresher ui` shows it, and a Chromium loads every screen again and
again: from the click to the end of the page's own work, as the browser's clock has it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from testing.machine import machine
from testing.screens import crawls
from testing.screens.browser import Visitor, chromium, visitor
from testing.screens.places import screens_of
from testing.screens.world import Dashboard, dashboard
from thresher.crawl import CrawlSetup

HOSTS = 10_000
ROUNDS = 10
LOADED = "performance.getEntriesByType('navigation')[0]"


def written(folder: Path, pages: int, waiting: int) -> Path:
    """Return a large crawl; one that is there already is taken as it is."""
    if not folder.exists():
        crawl = crawls.write(folder, pages=pages, hosts=HOSTS, store="sqlite")
        asyncio.run(_filled(crawl, pages, waiting))
    return folder


async def _filled(crawl: CrawlSetup, pages: int, waiting: int) -> None:
    frontier = crawl.backend.frontier()
    try:
        await crawls.fill(frontier, pages=pages, waiting=waiting, hosts=HOSTS)
    finally:
        await frontier.close()


def measure(folder: Path, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Load every screen; return milliseconds until the first byte and until it was loaded."""
    took: dict[str, list[tuple[float, float]]] = {}
    with dashboard([folder]) as served, chromium() as browser:
        _make_index(served, folder.name)
        places = screens_of(served, served.ask("/api/crawls")["crawls"][0]["name"], crawls.WORDS[3])
        somebody = visitor(browser, served)
        for _ in range(rounds):
            for name, path in places.items():
                took.setdefault(name, []).append(_load(somebody, path))
    return took


def _make_index(served: Dashboard, name: str) -> None:
    """Wait until the search index is there; it is made once, in the background."""
    while served.ask(f"/api/crawls/{name}/search?q={crawls.WORDS[0]}")["growing"]:
        time.sleep(1)


def _load(somebody: Visitor, path: str) -> tuple[float, float]:
    page = somebody.visit(path)
    page.wait_for_function(f"{LOADED}.loadEventEnd > 0")
    first, last = page.evaluate(f"[{LOADED}.responseStart, {LOADED}.loadEventEnd]")
    time.sleep(1.1)  # past what viewers share for a second
    return first, last


def table(took: dict[str, list[tuple[float, float]]]) -> str:
    """Write the milliseconds: medians, and the slowest."""
    lines = ["| screen | first byte ms | loaded ms | slowest ms |", "|---|---:|---:|---:|"]
    for name, times in took.items():
        firsts, lasts = zip(*times, strict=True)
        lines.append(
            f"| {name} | {statistics.median(firsts):.0f} | {statistics.median(lasts):.0f} | {max(lasts):.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="screens-") as temporary:
        folder = written((arguments.folder or Path(temporary)) / "local", arguments.pages, arguments.waiting)
        print(machine())
        print(table(measure(folder, arguments.rounds)))


if __name__ == "__main__":
    main()
