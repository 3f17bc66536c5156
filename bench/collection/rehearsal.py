"""A crawl of hours on two webs: ``python -m bench.collection.rehearsal --minutes 240 [--curve FILE]``.

Two machines (separate folders) crawl the archipelago and a generated web of 900,000 pages, over sockets, with the
default strategy and judge, a Redis server and an S3 server. The frontier is tiered: at most 20,000 URLs wait in Redis,
the others in the collection. Of all requests 1 % get a 503 and 1 % a connection that is cut. Each of the 100 hosts of
the generated web, and of the 861 of the archipelago, gets at most a request per second.

Every minute a row is written: fetched pages, requests of dead links, waiting URLs, the memory of the largest worker and
of Redis, the disk of the machines and of the collection, and the load of this machine. At the end the crawl is stopped,
`verify --repair` runs, and a machine that never worked copies the collection and exports it: its URLs are compared with
the pages that the server has sent. For those that are missing, `thresher why` says where they are: the crawl is stopped
during some of its fetches.
``--print`` prints the curve that was measured so far and how far the last hour was level; ``--draw FILE`` draws it;
``--write-constants`` takes the memory of a worker from it for `thresher plan`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import urlsplit

import yaml

from bench.collection.shared import HITS, World
from bench.stores.rows import CONSTANTS, put_constants
from testing.machine import hardware, today
from testing.processes import kill_family
from testing.recording_server.site import Site
from testing.servers import store_server
from testing.servers.s3 import s3_server
from thresher_lab.statistics.result_rows import add_rows, read_rows
from thresher_lab.webs.archipelago import DIRECTORY
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.server import WebServer
from thresher_lab.webs.virtualweb import Web, WebPage

CURVE = Path(__file__).parents[1] / "results" / "rehearsal-curve.jsonl"
NAME = "rehearsal"
DEAD = "dead.csv"
COMMAND = "python -m bench.collection.rehearsal"
MACHINES = 2
DELAY_SECONDS = 1.0
HOT_URLS = 20_000
FAULT_SHARE = 0.02
SAMPLE_SECONDS = 60.0
STOP_SECONDS = 1_800.0
MAX_ASKED = 40
GENERATED = Site(pages=900_000, hosts=100, page_bytes=6_000, links=20, topic_share=0.1)
HTTP_PORT = 80
SEEDS = (GENERATED.url(0, HTTP_PORT), DIRECTORY)


class BothWebs:
    """The archipelago and the generated web; the URLs of pages that are sent, and of dead links, are logged."""

    def __init__(self, archipelago: Web, folder: Path) -> None:
        self._archipelago = archipelago
        self._hits = (folder / HITS).open("a", encoding="utf-8", buffering=1)
        self._dead = (folder / DEAD).open("a", encoding="utf-8", buffering=1)

    def get(self, url: str) -> WebPage | None:
        number = GENERATED.page_numbers.get(_site_key(url))
        if number is None:
            page = self._archipelago.get(url)
        else:
            html = GENERATED.render(number, HTTP_PORT).decode()
            page = WebPage(url=url, title="", language="en", topics=(), html=html)
        print(url, file=self._hits if page else self._dead)
        return page


def _site_key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"


def _serve(folder: Path, connect_to: Any) -> None:
    async def serve(web: Web) -> None:
        len(GENERATED.page_numbers)  # seconds of work that no request should wait for
        connect_to.put(await WebServer(BothWebs(web, folder), fault_share=FAULT_SHARE).start())
        await asyncio.Event().wait()

    with closing(open_web("archipelago")) as web:
        asyncio.run(serve(web))


def _write_crawl(folder: Path, connect_to: dict[str, str], collection: str) -> None:
    folder.mkdir()
    settings = {
        "name": NAME,
        "title": {"en": "perovskite solar cells"},
        "scope": {"first_pages_per_host": None, "traps": "follow", "max_pages_per_host": 1_000_000},
        "politeness": {"delay_seconds": DELAY_SECONDS, "contact": "bench@example.org"},
        "network": {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": connect_to},
        "output": {"keep_irrelevant": True},
        "frontier": {"hot_urls": HOT_URLS},
        "collection": collection,
    }
    (folder / "topic.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "seeds.txt").write_text("".join(f"{seed}\n" for seed in SEEDS), encoding="utf-8")


def measure(minutes: float, folder: Path, curve: Path) -> dict[str, object]:
    """Crawl for some minutes, stop, and compare."""
    context = multiprocessing.get_context("spawn")
    connect_to = context.Queue()
    server = context.Process(target=_serve, args=(folder, connect_to), daemon=True)
    server.start()
    with store_server("redis", folder / "redis") as store, s3_server(folder / "s3") as s3:
        world = World(folder, store, s3, NAME)
        _write_crawl(folder / NAME, connect_to.get(timeout=600), s3.url(NAME))
        _crawl(world, minutes, curve)
        began = time.monotonic()
        verified = json.loads(world.call("verify", NAME, "--repair", "--json").stdout)
        verify_seconds = time.monotonic() - began
        status = json.loads(world.call("status", NAME, "--json").stdout)
        world.call("pull", s3.url(NAME), "fresh")
        lines = world.call("export", "fresh", "-f", "jsonl", "--duplicates").stdout.splitlines()
        exported = [json.loads(line)["url"] for line in lines]
        sent = {*(folder / HITS).read_text(encoding="utf-8").split()}
        missing = sorted(sent - {*exported})
        reasons = Counter(_why(world, url) for url in missing[:MAX_ASKED])
    server.terminate()
    return {
        "minutes": minutes,
        "sent": len(sent),
        "exported": len(exported),
        "exported_twice": len(exported) - len({*exported}),
        "sent_and_not_exported": len(missing),
        "why": dict(reasons),
        "status": {key: status[key] for key in ("pages", "relevant", "frontier") if key in status},
        "verify": [{**finding, "examples": []} for finding in verified["findings"]],
        "verify_seconds": round(verify_seconds),
        "on": today(),
        "machine": hardware(),
    }


def _why(world: World, url: str) -> str:
    """Return the first words of what `thresher why` says: without URLs, numbers and text of pages."""
    summary = json.loads(world.call("why", NAME, url, "--json").stdout)["summary"]
    return re.split(r"[,(.]|: refreshes", summary, maxsplit=1)[0].strip()


def _crawl(world: World, minutes: float, curve: Path) -> None:
    began = time.monotonic()
    watcher = world.start("run", NAME, "--workers", "0")
    for _ in range(MACHINES):
        world.add_machine()
    try:
        while (seconds := time.monotonic() - began) < minutes * 60 and watcher.poll() is None:
            more = {"dead_links": world.lines(DEAD), "waiting": _waiting(world), "load": round(os.getloadavg()[0], 1)}
            add_rows(curve, [{**world.sample(seconds), **more, "on": today(), "machine": hardware()}])
            time.sleep(SAMPLE_SECONDS)
        for process in (watcher, *world.workers.values()):
            process.send_signal(signal.SIGINT)
        for process in (watcher, *world.workers.values()):
            process.wait(STOP_SECONDS)
    finally:
        for process in (watcher, *world.workers.values()):
            if process.poll() is None:
                kill_family(process.pid)
                process.wait()


def _waiting(world: World) -> int | None:
    status = world.call("status", NAME, "--json")
    return json.loads(status.stdout)["waiting"] if status.returncode == 0 else None


def print_curve(curve: Path, rows: int = 12) -> None:
    """Print evenly spaced rows of a curve, with the speed since the row before, and the result."""
    samples = [row for row in read_rows(curve) if "fetched" in row]
    numbers = dict.fromkeys(round(n * (len(samples) - 1) / rows) for n in range(1, rows + 1))
    chosen = [samples[number] for number in numbers if number]
    titles = ["minutes", "pages", "dead", "pages/s", "requests/s", "waiting"]
    titles += ["worker MiB", "Redis MiB", "disks MB", "collection MB"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for before, row in zip([samples[0], *chosen], chosen, strict=False):
        seconds, pages, dead = (row[name] - before[name] for name in ("seconds", "fetched", "dead_links"))
        cells = [f"{row['seconds'] / 60:.0f}", f"{row['fetched']:,}", f"{row['dead_links']:,}"]
        cells += [f"{pages / seconds:.0f}", f"{(pages + dead) / seconds:.0f}"]
        cells += [f"{row['waiting'] or 0:,}"]
        cells += [f"{row[name]:,.0f}" for name in ("worker_mib", "redis_mib", "machines_mb", "collection_mb")]
        print(f"| {' | '.join(cells)} |")
    print(level(samples))
    for row in read_rows(curve):
        if "exported" in row:
            print(json.dumps(row, indent=1))


def level(samples: Sequence[dict[str, Any]], seconds: float = 3600.0) -> str:
    """Return the means of the first and the second half of the last hour, or of all of a shorter crawl."""
    last = [row for row in samples if row["seconds"] >= samples[-1]["seconds"] - seconds]
    first, second = last[: len(last) // 2 + 1], last[len(last) // 2 :]
    memory = [mean(row["worker_mib"] for row in half) for half in (first, second)]
    speed = [
        (half[-1]["fetched"] - half[0]["fetched"]) / (half[-1]["seconds"] - half[0]["seconds"])
        for half in (first, second)
    ]
    changes = [f"{second / first - 1:+.1%}" for first, second in (memory, speed)]
    minutes = (last[-1]["seconds"] - last[0]["seconds"]) / 60
    return (
        f"last {minutes:.0f} minutes, first half and second: worker {memory[0]:,.0f} and {memory[1]:,.0f} MiB "
        f"({changes[0]}), "
        f"{speed[0]:.1f} and {speed[1]:.1f} pages/s ({changes[1]})"
    )


def draw(curve: Path, path: Path) -> None:
    """Draw speed, memory, waiting URLs and disk over the time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    samples = [row for row in read_rows(curve) if "fetched" in row]
    minutes = [row["seconds"] / 60 for row in samples]
    window = 5
    speed = [
        (after["fetched"] - before["fetched"]) / (after["seconds"] - before["seconds"])
        for before, after in zip(samples, samples[window:], strict=False)
    ]
    panels: list[tuple[str, Sequence[float], Sequence[float]]] = [
        ("pages per second, over 5 minutes", minutes[window:], speed),
        ("memory of the largest worker, MiB", minutes, [row["worker_mib"] for row in samples]),
        ("waiting URLs, thousands", minutes, [(row["waiting"] or 0) / 1e3 for row in samples]),
        ("disk of workers and collection, GB", minutes, [_disk(row) for row in samples]),
    ]
    figure, places = pyplot.subplots(2, 2, figsize=(9, 5), sharex=True, layout="constrained")
    for axes, (title, x, y) in zip(places.flat, panels, strict=True):
        axes.plot(x, y, linewidth=1.2)
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    for axes in places[1]:
        axes.set_xlabel("minutes")
    figure.savefig(path, dpi=120)


def _disk(row: dict[str, Any]) -> float:
    return float(row["machines_mb"] + row["collection_mb"]) / 1e3


def write_constants(curve: Path, path: Path = CONSTANTS) -> None:
    """Put the memory of the largest worker into the plan's file."""
    largest = max((row for row in read_rows(curve) if "fetched" in row), key=lambda row: row["worker_mib"])
    put_constants({"worker_ram_bytes": (largest["worker_mib"] * 2**20, largest)}, COMMAND, path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, replace the curve when all is done, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=240.0)
    parser.add_argument("--curve", type=Path, default=CURVE)
    parser.add_argument("--folder", type=Path, help="Keep everything there; by default a temporary folder.")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="Draw the curve that was measured.")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--write-constants", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.write_constants:
        write_constants(chosen.curve)
    elif chosen.draw:
        draw(chosen.curve, chosen.draw)
    elif not chosen.only_print:
        running = chosen.curve.with_suffix(".running")
        running.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix="thresher-rehearsal-") as temporary:
            folder = chosen.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            add_rows(running, [measure(chosen.minutes, folder, running)])
        running.replace(chosen.curve)
    print_curve(chosen.curve)


if __name__ == "__main__":
    main()
