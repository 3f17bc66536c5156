"""A stand-in crawler with Thresher's commands, to try the harness on: it keeps the promises, or breaks one on demand.

``python -m tests.faults.standin [--fault NAME] new|run|work|export DIR …``. Its frontier is one SQLite file. A lease
moves the next time of its host behind the end of the lease; a commit brings it back to now plus the delay. Faults:

- ``early``: a URL is done as soon as it is leased, so that a killed worker loses what it held.
- ``rude``: a host's next time is ignored.
- ``twice``: every page is fetched a second time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS hosts (host TEXT PRIMARY KEY, next REAL NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS urls (
    number INTEGER PRIMARY KEY, url TEXT UNIQUE, host TEXT, done INTEGER NOT NULL DEFAULT 0,
    until REAL NOT NULL DEFAULT 0, kept INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS waiting ON urls (number) WHERE NOT done;
"""
LEASE = """
SELECT number, url, host FROM urls JOIN hosts USING (host)
WHERE NOT done AND until <= :now AND (next <= :now OR :rude) ORDER BY number LIMIT 1
"""


class Worker:
    """Leases, fetches and commits until nothing is left."""

    def __init__(self, folder: Path, fault: str) -> None:
        self._topic = yaml.safe_load((folder / "topic.yaml").read_text())
        self._delay = self._topic["politeness"]["delay_seconds"]
        self._fault = fault
        self._database = open_database(folder)

    async def work(self) -> None:
        await asyncio.gather(*(self._loop() for _ in range(self._topic["engine"]["concurrency"])))

    async def _loop(self) -> None:
        while True:
            lease = self._lease()
            if lease:
                await self._process(*lease)
            elif not self._database.execute("SELECT 1 FROM urls WHERE NOT done LIMIT 1").fetchone():
                return
            else:
                await asyncio.sleep(0.05)

    def _lease(self) -> tuple[int, str, str] | None:
        now = time.monotonic()
        until = now + self._topic["engine"]["lease_seconds"]
        flags = {"now": now, "rude": self._fault == "rude"}
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            row = self._database.execute(LEASE, flags).fetchone()
            if row:
                self._database.execute(
                    "UPDATE urls SET until = ?, done = ? WHERE number = ?", (until, self._fault == "early", row[0])
                )
                self._database.execute("UPDATE hosts SET next = ? WHERE host = ?", (until + self._delay, row[2]))
        return row

    async def _process(self, number: int, url: str, host: str) -> None:
        try:
            html = await asyncio.wait_for(fetch(url), self._topic["engine"]["timeout_seconds"])
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            return  # the lease ends by itself
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            add(self._database, re.findall(r'href="([^"]+)"', html))
            done = "kept" if self._fault == "twice" else "1"
            self._database.execute(f"UPDATE urls SET done = {done}, until = 0, kept = 1 WHERE number = ?", (number,))
            self._database.execute("UPDATE hosts SET next = ? WHERE host = ?", (time.monotonic() + self._delay, host))


def open_database(folder: Path) -> sqlite3.Connection:
    database = sqlite3.connect(folder / "frontier.db", timeout=30, isolation_level=None)
    database.executescript(SCHEMA)
    return database


def add(database: sqlite3.Connection, urls: list[str]) -> None:
    hosts = [str(urlsplit(url).hostname) for url in urls]
    database.executemany("INSERT OR IGNORE INTO hosts (host) VALUES (?)", [(host,) for host in hosts])
    database.executemany("INSERT OR IGNORE INTO urls (url, host) VALUES (?, ?)", zip(urls, hosts, strict=True))


async def fetch(url: str) -> str:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 20)
    try:
        writer.write(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        return (await reader.readexactly(length)).decode()
    finally:
        writer.close()


def new(options: argparse.Namespace) -> None:
    options.folder.mkdir()
    (options.folder / "topic.yaml").write_text(yaml.safe_dump({"name": "stand-in", "seeds": ["seeds.txt"]}))
    (options.folder / "seeds.txt").write_text(options.seed + "\n")


def run(options: argparse.Namespace) -> None:
    """Keep as many workers as asked for alive until all have ended well."""
    with closing(open_database(options.folder)) as database:
        add(database, (options.folder / "seeds.txt").read_text().split())
    command = [sys.executable, "-m", "tests.faults.standin", "--fault", options.fault, "work", str(options.folder)]
    alive = [subprocess.Popen(command) for _ in range(options.workers)]
    while alive:
        time.sleep(0.05)
        alive = [subprocess.Popen(command) if worker.poll() else worker for worker in alive if worker.poll() != 0]


def work(options: argparse.Namespace) -> None:
    asyncio.run(Worker(options.folder, options.fault).work())


def export(options: argparse.Namespace) -> None:
    with closing(open_database(options.folder)) as database, options.output.open("w") as output:
        for (url,) in database.execute("SELECT url FROM urls WHERE kept"):
            output.write(json.dumps({"url": url}) + "\n")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.standin")
    parser.add_argument("--fault", choices=["none", "early", "rude", "twice"], default="none")
    verbs: Any = parser.add_subparsers(required=True)
    for verb, function in {"new": new, "run": run, "work": work, "export": export}.items():
        command = verbs.add_parser(verb)
        command.set_defaults(function=function)
        command.add_argument("folder", type=Path)
    for name in ("--topic", "--seed", "--contact"):
        verbs.choices["new"].add_argument(name)
    verbs.choices["run"].add_argument("--workers", type=int, default=1)
    verbs.choices["export"].add_argument("-f")
    verbs.choices["export"].add_argument("-o", dest="output", type=Path)
    return parser


if __name__ == "__main__":
    parsed = arguments().parse_args()
    parsed.function(parsed)
