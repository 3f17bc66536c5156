"""Every way to crawl the same pages, side by side in one run.

``python -m bench.speed.speed`` (``make bench``; an hour).

The pages, the recording server and what is counted are those of `bench.speed.pages`: Thresher is the built wheel in a
new environment. Beside bare Scrapy and Thresher with three strategies, on SQLite and on Redis, with one worker and with
two, run other crawlers as their users run them, when ``--rivals PYTHON`` names an environment that has scrapy-redis,
crawlee[parsel] and crawl4ai installed. trafilatura's focused crawler is not among them: it follows no links to
addresses, and the recording server has no names.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.speed.pages import SITE, Leg, Sample, bare, compare, installed, measure, table, thresher
from testing.building import build_wheel, install
from testing.machine import machine
from testing.recording_server.load import max_pages_per_second
from testing.recording_server.process import Recorder, running
from testing.recording_server.words import TOPIC_WORDS
from testing.servers.store import store_server

STRATEGIES = ("breadth-first", "fcmrps", "thresher")
RIVALS = Path(__file__).parent / "rivals"


def ours(python: str, pure: str, store: str) -> dict[str, Leg]:
    """Return the legs of Thresher, from two environments; archives are written where one strategy stands for all."""
    legs = {f"{name}, SQLite": thresher(python, name) for name in STRATEGIES}
    legs["thresher, SQLite, pure wheel"] = thresher(pure)
    legs["thresher, SQLite, WARC"] = thresher(python, warc=True)
    legs["thresher, SQLite, 2 workers"] = thresher(python, workers=2)
    legs |= {f"{name}, Redis": thresher(python, name, store=store) for name in STRATEGIES}
    legs["thresher, Redis, 2 workers"] = thresher(python, store=store, workers=2)
    return legs


def rivals(python: str, store: str) -> dict[str, Leg]:
    """Return the legs of other crawlers."""
    return {
        "scrapy-redis": _script(python, "scrapy_on_redis.py", store, fresh=store),
        "scrapy-redis, 2 workers": _script(python, "scrapy_on_redis.py", store, fresh=store, workers=2),
        "Crawlee ParselCrawler": _script(python, "crawlee_parsel.py"),
        "Crawl4AI best-first, HTTP": _script(python, "crawl4ai_best_first.py", ",".join(TOPIC_WORDS)),
    }


def _script(python: str, name: str, *more: str, fresh: str = "", workers: int = 1) -> Leg:
    def leg(recorder: Recorder, pages: int) -> Sample:
        if fresh:
            _empty(fresh)
        each = [python, str(RIVALS / name), recorder.seed_url, str(pages // workers), *more]
        return measure(recorder, each if workers == 1 else _together(each, workers))

    return leg


def _together(command: list[str], workers: int) -> list[str]:
    """Return a command that runs the same one several times at once, and waits."""
    quoted = " ".join(f"'{word}'" for word in command)
    return ["bash", "-c", f"{f'{quoted} & ' * workers} wait"]


def _empty(store: str) -> None:
    subprocess.run(["redis-cli", "-u", store, "FLUSHALL"], check=True, stdout=subprocess.DEVNULL)


def installed_bytes(folder: Path) -> int:
    """Return the size of what the README's command installs into a new environment."""
    python = install(build_wheel(folder / "wheel"), folder / "environment", "--compile", extras="ui")
    files = (path for path in python.parents[1].rglob("*") if not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.is_file())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed.speed", description="Pages per second, all side by side."
    )
    parser.add_argument("--pages", type=int, default=1500, help="pages per leg and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--legs", nargs="+", metavar="NAME", help="only these, and bare Scrapy")
    parser.add_argument("--rivals", metavar="PYTHON", help="an environment that has the other crawlers")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        store_server("redis", Path(folder) / "store") as store,
        running(SITE, Path(folder) / "hits.csv", "--robots=404") as recorder,
    ):
        size = installed_bytes(Path(folder) / "readme")
        python, pure = installed(Path(folder) / "compiled"), installed(Path(folder) / "pure", native="0")
        legs = {"breadth-first": bare("breadth-first"), "download": bare("download"), **ours(python, pure, store.url)}
        if options.rivals:
            legs |= rivals(options.rivals, store.url)
        if options.legs:
            legs = {name: leg for name, leg in legs.items() if name in {"breadth-first", "download", *options.legs}}
        first, again = (max_pages_per_second(recorder, count=options.pages) for _ in range(2))
        results = compare(recorder, legs, options.pages, options.rounds)
    print(f"{machine()}; {options.pages} pages a round, median of {options.rounds} rounds; ", end="")
    print(f"the server alone gives {first:.0f} pages/s while it makes the pages, {again:.0f} when it has them.")
    print(f'pip install "thresher-crawler[ui]" takes {size / 1e6:.0f} MB.\n')
    print(table(results))


if __name__ == "__main__":
    sys.exit(main())
