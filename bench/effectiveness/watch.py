"""A watched web that changes, with kills and a webhook that is down: ``python -m bench.effectiveness.watch``.

Pages on loopback get new versions at random times. ``thresher watch`` is killed with all its processes at random times
and started again; the receiver of its webhook is down twice. At the end the web stands still until a round has seen it.
Counted from the logs of both servers: versions that the page store has and no digest reports (changes that were
covered and missed), versions that were delivered twice, and digests that were posted again after their
acknowledgement.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from thresher.storage.reader import PageStoreReader

SECRET = "whsec_" + "c2VjcmV0" * 4
TOPIC = "perovskite solar cells"
_VERSION = re.compile(r"Version (\d+)")
_TEXT = (
    "Perovskite solar cells: layers of perovskite absorb light, and the efficiency of the cells rises with every layer."
)


class ChangingWeb:
    """Pages that link to each other; each has a version, which some of the requests find raised."""

    def __init__(self, pages: int) -> None:
        self.versions = [1] * pages
        self.served: list[tuple[int, int]] = []
        self.acknowledged: list[dict[str, object]] = []
        self.again = 0
        self.is_up = True

    def page(self, number: int) -> str:
        links = "".join(f'<a href="/{other}">solar cells {other}</a> ' for other in range(len(self.versions)))
        version = self.versions[number]
        self.served.append((number, version))
        return f"<title>Cells {number}</title><p>{_TEXT}</p><p>Page {number}. Version {version}.</p>{links}"

    def change(self, rng: random.Random) -> None:
        self.versions[rng.randrange(len(self.versions))] += 1

    def receive(self, message: str, body: bytes) -> int:
        if not self.is_up:
            return 503
        known = {each["id"] for each in self.acknowledged}
        self.again += message in known
        self.acknowledged.append({"id": message, "digest": json.loads(body)})
        return 200


def served(web: ChangingWeb) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            number = self.path[1:]
            known = number.isdigit() and int(number) < len(web.versions)
            self._answer(200 if known else 404, web.page(int(number)).encode() if known else b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(web.receive(self.headers["webhook-id"], body), b"")

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "thresher", "watch", "solar", "--every", "5s"]
    return subprocess.Popen(
        [*command, "--webhook", f"http://127.0.0.1:{port}/hook"],
        cwd=folder,
        env={**os.environ, "THRESHER_WEBHOOK_SECRET": SECRET},
        stderr=(folder / "watch.log").open("ab"),
        start_new_session=True,
    )


def prepare(folder: Path, port: int) -> None:
    seed = f"http://127.0.0.1:{port}/0"
    new = [sys.executable, "-m", "thresher", "new", "solar", "--topic", TOPIC, "--seed", seed]
    subprocess.run(new, cwd=folder, check=True, capture_output=True)
    topic = folder / "solar" / "topic.yaml"
    lines = [line for line in topic.read_text().splitlines() if not line.startswith(("politeness", "engine"))]
    settings = ["politeness: {delay_seconds: 0.05}", "engine: {timeout_seconds: 5, lease_seconds: 15}"]
    topic.write_text("\n".join([*lines, *settings]) + "\n")
    subprocess.run([sys.executable, "-m", "thresher", "run", "solar"], cwd=folder, check=True, capture_output=True)


def reported(web: ChangingWeb) -> Counter[tuple[str, int]]:
    """Count the versions of pages in the delivered digests."""
    found: Counter[tuple[str, int]] = Counter()
    for message in web.acknowledged:
        for entry in message["digest"]["entries"]:  # type: ignore[index]
            if version := _VERSION.search(" ".join(entry["added"])):
                found[entry["url"], int(version[1])] += 1
    return found


def stored(folder: Path) -> set[tuple[str, int]]:
    """Return the versions of pages in the page store, without the first one of each page."""
    found: set[tuple[str, int]] = set()
    with PageStoreReader(folder / "solar" / "pages") as collection:
        for record in collection.ranked(duplicates=True):
            versions = {
                int(match[1]) for text in collection.texts(record.fingerprint) if (match := _VERSION.search(text))
            }
            found |= {(record.url, version) for version in versions - {min(versions)}}
    return found


def run(options: argparse.Namespace) -> None:
    rng, web = random.Random(1), ChangingWeb(options.pages)
    server = served(web)
    port = int(server.server_address[1])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        prepare(folder, port)
        process = start(folder, port)
        began, kills = time.monotonic(), 0
        length = options.minutes * 60
        kill_at = sorted(rng.uniform(0.02, 0.9) * length for _ in range(options.kills))
        while (now := time.monotonic() - began) < length:
            time.sleep(0.5)
            if rng.random() < options.changes_per_second / 2:
                web.change(rng)
            web.is_up = not any(start <= now / length < start + 0.1 for start in (0.2, 0.6))
            if kills < len(kill_at) and now >= kill_at[kills]:
                kills += 1
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                process = start(folder, port)
        web.is_up = True
        time.sleep(options.rest_seconds)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        print_figures(folder, web, kills, options)
    server.shutdown()


def print_figures(folder: Path, web: ChangingWeb, kills: int, options: argparse.Namespace) -> None:
    in_digests, in_store = reported(web), stored(folder)
    changes = sum(web.versions) - len(web.versions)
    failed = (folder / "watch.log").read_text().count("was not delivered")
    print(f"{options.minutes:g} minutes, {options.pages} pages, {changes:,} changes, {kills} kills")
    print(f"{len(web.served):,} requests; versions stored after the first: {len(in_store):,}")
    print(f"missed: {len(in_store - set(in_digests)):,}; reported twice: {sum(n > 1 for n in in_digests.values()):,}")
    print(f"digests acknowledged: {len(web.acknowledged):,}; posts that failed: {failed:,}")
    print(f"posted again after an answer: {web.again:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--changes-per-second", type=float, default=0.2)
    parser.add_argument("--rest-seconds", type=float, default=60, help="time for the last round and its delivery")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
