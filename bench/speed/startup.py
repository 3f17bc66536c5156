"""Seconds until a command of the installed wheel is done: ``python -m bench.speed.startup``.

``thresher --help``, ``thresher run --pages 1`` on a new crawl of a loopback site, then ``thresher status`` of it;
medians of some rounds.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

from bench.speed.full_speed import SITE, full_speed
from bench.speed.pages import as_a_user, installed
from testing.crawl_process import Crawl
from testing.machine import machine
from testing.recording_server.process import running


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, running(SITE, Path(folder) / "hits.csv", "--robots=404") as site:
        command = [installed(Path(folder) / "installed"), "-m", "thresher"]
        for number in range(options.rounds):
            crawl = Crawl(Path(folder) / f"crawl{number}", command)
            crawl.create(site.seed_url, full_speed())
            name = str(crawl.folder)
            for words in (["--help"], ["run", name, "--pages", "1", "--workers", "1"], ["status", name]):
                began = time.perf_counter()
                subprocess.run([*command, *words], env=as_a_user(), check=False, capture_output=True)
                seconds[words[0]].append(time.perf_counter() - began)
    print(f"{machine()}; median of {options.rounds} rounds")
    for word, measured in seconds.items():
        print(f"{word}: {median(measured):.2f} s")


if __name__ == "__main__":
    main()
