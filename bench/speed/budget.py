"""Where the processor time of a whole crawl goes, as a user gets it: ``python -m bench.speed.budget``.

The wheel is built and installed into a new environment. One crawl of the recording server's pages says what a page
costs, with all threads and processes. In a second one, a thread in each process asks every few milliseconds how much
processor time each other thread has used since, and where it is; that time counts for the first part of Thresher on the
way from the start of the thread to the function that runs. What a process uses beyond its Python threads, such as the
interpreter's start and end, is a row too. So the rows add up to the whole, and are scaled to the cost of the first
crawl.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from bench.speed.full_speed import SITE, full_speed
from bench.speed.pages import as_a_user, installed, measure
from testing.crawl_process import REPOSITORY, Crawl
from testing.machine import machine
from testing.recording_server.process import Recorder, running

HOOK = """\
import atexit, json, os, sys, threading, time

def stack(frame):
    frames = []
    while frame:
        frames.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")
        frame = frame.f_back
    return ";".join(reversed(frames))

def watch():
    own, used = threading.get_ident(), {}
    while True:
        time.sleep(0.004)
        for thread, frame in sys._current_frames().items():
            if thread == own:
                continue
            try:
                now = time.clock_gettime(time.pthread_getcpuclockid(thread))
            except OSError:  # it has ended
                continue
            spent = now - used.get(thread, 0.0)
            used[thread] = now
            if spent > 0:
                key = stack(frame)
                counted[key] = counted.get(key, 0.0) + spent
        own_seconds[0] = time.thread_time()

def save():
    name = "worker" if "thresher.runner.worker" in sys.orig_argv else "supervisor"
    rest = time.process_time() - own_seconds[0] - sum(counted.values())
    with open(f"{os.environ['BUDGET_FOLDER']}/{name}-{os.getpid()}.json", "w") as output:
        json.dump({"process": name, "seconds": {**counted, "": rest}}, output)

counted, own_seconds = {}, [0.0]
sys.setswitchinterval(0.0005)
threading.Thread(target=watch, daemon=True).start()
atexit.register(save)
"""
ANYWHERE = {
    "start: imports": re.compile(r"_find_and_load$"),
    "rescoring of waiting links": re.compile(r"link_model/strategy.py:revise$"),
}
PARTS = {
    "judge": re.compile(r"thresher/(judges|feedback)/"),
    "score": re.compile(r"thresher/strategies/"),
    "parse": re.compile(r"thresher/parsing/"),
    "frontier": re.compile(r"thresher/frontier/"),
    "archive": re.compile(r"thresher/(storage|search)/"),
    "download, DNS, robots.txt": re.compile(r"thresher/(engine/(download|dns|browser|robots_gate)|politeness)"),
}
"""The frames of each part."""
AROUND = {
    "scope, traps, selection, reasons": re.compile(r"thresher/(urls|traps|reasons|pipeline/(outcomes|host_policy))"),
    "pipeline": re.compile(r"thresher/pipeline/"),
    "lease loop, worker, supervisor": re.compile(r"thresher/(engine|runner|coordination|monitoring)"),
    "event loop": re.compile(r"asyncio|selectors"),
}
"""What calls the parts, the innermost first; it counts where none of them runs."""


def part_of(frames: Sequence[str]) -> str:
    """Return the part of a stack: one of `ANYWHERE`, that of its first frame in a part, or what is around."""
    anywhere = (name for name, rule in ANYWHERE.items() if any(map(rule.search, frames)))
    parts = (name for frame in frames for name, rule in PARTS.items() if rule.search(frame))
    around = (name for name, rule in AROUND.items() if any(map(rule.search, frames)))
    return next(chain(anywhere, parts, around), "other")


def shares(folder: Path) -> dict[tuple[str, str], float]:
    """Return the share of each process and part, the largest first."""
    seconds: Counter[tuple[str, str]] = Counter()
    for path in folder.glob("*.json"):
        saved = json.loads(path.read_text(encoding="utf-8"))
        for stack, spent in saved["seconds"].items():
            part = part_of(stack.split(";")) if stack else "outside Python threads"
            seconds[saved["process"], part] += spent
    whole = sum(seconds.values())
    return {key: spent / whole for key, spent in seconds.most_common()}


def budget(recorder: Recorder, python: str, pages: int, folder: Path) -> tuple[float, dict[tuple[str, str], float]]:
    """Return the CPU milliseconds of a page, and how they are divided."""

    def command() -> list[str]:
        crawl = Crawl(folder / f"crawl{time.monotonic_ns()}", [python, "-m", "thresher"])
        crawl.create(recorder.seed_url, full_speed())
        return [*crawl.command, "run", str(crawl.folder), "--pages", str(pages), "--workers", "1"]

    sample = measure(recorder, command(), as_a_user())
    hook, saved = folder / "hook", folder / "saved"
    hook.mkdir()
    saved.mkdir()
    (hook / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    variables = {**as_a_user(), "PYTHONPATH": str(hook), "BUDGET_FOLDER": str(saved)}
    subprocess.run(command(), cwd=REPOSITORY, env=variables, capture_output=True, check=False)
    return 1000 * sample.cpu_seconds / sample.pages, shares(saved)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.budget", description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--pure", action="store_true", help="the wheel without compiled loops")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(SITE, Path(name) / "hits.csv", "--robots=404") as recorder:
        python = installed(Path(name) / "installed", native="0" if options.pure else "require")
        whole, parts = budget(recorder, python, options.pages, Path(name))
    print(f"{machine()}; {options.pages} pages of 30 KB with 60 links, one worker, SQLite, starts included\n")
    print("| process | part | CPU ms per page | share |\n|---|---|---|---|")
    for (process, part), share in parts.items():
        print(f"| {process} | {part} | {whole * share:.2f} | {share:.1%} |")
    print(f"| all | | {whole:.2f} | 100.0% |")


if __name__ == "__main__":
    main()
