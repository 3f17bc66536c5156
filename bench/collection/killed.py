"""A whole collection under kills: ``python -m bench.collection.killed`` (needs THRESHER_WEBS).

The archipelago is served on loopback and crawled by two workers that archive what they keep. Workers are killed at
random moments, and the whole run once; the same command is given again until the pages are there. Then `verify`,
`verify --repair`, `verify`; then every relevant page is looked for in WARC files, index, search and Parquet, with its
text. A page that the judge finds likely by now and that is not called relevant, since its text is gone, counts as
missing; only pages that ask not to be kept need not be there. With ``--folder`` the crawl stays there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from testing import processes
from testing.collecting import captures_of
from testing.crawl_process import REPOSITORY, THRESHER, Crawl, Run
from testing.machine import machine
from thresher.parsing.html import parse
from thresher.search.index import SearchIndex
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.cdxj import merged
from thresher.storage.warc.records import date_of
from thresher_lab.webs.open_web import open_web

SEEDS = ["http://directory.example/"]
KEYWORDS = ["computer science", "programming", "javascript", "浏览器", "计算机", "样式表"]
PAGE_LIMIT_REACHED = 14
PLACES = ("verdict", "text", "warc", "cdxj", "search", "parquet")


@contextmanager
def served(web: str) -> Iterator[dict[str, str]]:
    """Serve a web; gives what network.connect_to must say."""
    command = [*THRESHER, "lab", "serve", web]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            printed = ""
            while '"*:443"' not in printed:  # the last line
                printed += server.stdout.readline() or _ended(web)
            places: dict[str, str] = yaml.safe_load(printed)["network"]["connect_to"]
            yield places
        finally:
            server.send_signal(signal.SIGKILL)


def _ended(web: str) -> str:
    raise RuntimeError(f"the server of {web} has ended")


def make(root: Path, places: dict[str, str]) -> Crawl:
    """Write the crawl's folder."""
    root.mkdir()
    topic = {
        "name": "collection",
        "title": {"en": "computer programming", "zh": "计算机编程"},
        "keywords": KEYWORDS,
        "seeds": SEEDS,
        "scope": {"max_pages_per_host": 100_000, "first_pages_per_host": None},
        "politeness": {"delay_seconds": 0, "robots": "ignore"},
        "output": {"warc": True},
        "network": {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": places},
        "engine": {"timeout_seconds": 10.0, "lease_seconds": 20.0},
    }
    (root / "topic.yaml").write_text(json.dumps(topic), encoding="utf-8")  # JSON is YAML
    return Crawl(root)


def crawl_with_kills(crawl: Crawl, pages: int, kills: int, chance: random.Random) -> tuple[int, int]:
    """Crawl until the pages are there; return the last exit code and how many processes were killed."""
    moments = sorted(chance.sample(range(pages * 9 // 10), kills))
    options = ["--pages", str(pages), "--workers", "2"]
    run, killed = crawl.start(*options), 0
    try:
        for number, moment in enumerate(moments):
            while not run.ended and pages_of(crawl.folder) < moment:
                time.sleep(0.5)
            if run.ended:
                break
            killed += _kill(run, everything=number == kills // 2, chance=chance)
            if run.ended:
                run = crawl.start(*options)
        return run.wait(3600), killed
    finally:
        run.kill_all()


def _kill(run: Run, *, everything: bool, chance: random.Random) -> int:
    if everything:
        number = len(run.workers())
        run.kill_all()
        return number
    workers = run.workers()
    return int(bool(workers) and processes.kill(chance.choice(workers)))


def pages_of(root: Path) -> int:
    """Ask the frontier how many pages were taken so far."""
    if not (root / "frontier.db").exists():
        return 0
    with closing(sqlite3.connect(f"{(root / 'frontier.db').absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        try:
            return int(db.execute("SELECT pages FROM tally").fetchone()[0])
        except (sqlite3.OperationalError, TypeError):  # it is being made
            return 0


def rows(root: Path) -> int:
    """Count the rows of all segments: pages, and whatever else a fetch came to."""
    number = 0
    for path in (root / "pages").glob("*.db"):
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
            number += db.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0]
    return number


def call(*arguments: str | Path) -> tuple[int, str, float]:
    """Run a command of ours; return its exit code, what it printed and how long it took."""
    began = time.monotonic()
    done = subprocess.run([*THRESHER, *map(str, arguments)], cwd=REPOSITORY, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - began


def look_everywhere(root: Path, web: str) -> dict[str, int]:
    """Look for every relevant page in all places; count those that are not there exactly once."""
    parquet = root / "pages.parquet"
    code, printed, _ = call("export", root, "-f", "parquet", "--text", "--replace", "-o", parquet)
    assert code == 0, printed
    table = pq.read_table(parquet, columns=["url", "text"])
    exported = Counter(row["url"] for row in table.to_pylist() if row["text"])
    captures, unreadable = captures_of(root / "warc")
    indexed = Counter(_moment(line) for line in merged(root / "warc"))
    with PageStoreReader(root / "pages") as collection, SearchIndex(root, root / "pages") as index:
        index.catch_up()
        with closing(sqlite3.connect(index.path)) as db:
            searched = Counter(row[0] for row in db.execute("SELECT fingerprint FROM doc WHERE live AND relevant"))
        likely = [record for record in collection.ranked() if record.relevant]
        textless = [record.url for record in likely if not collection.text(record.fingerprint)]
    shy = ask_not_to_be_kept(web, textless)
    relevant = [record for record in likely if record.url not in shy]
    dates = {record.url: date_of(record.fetched_at) for record in relevant}
    return {
        "likely": len(likely),
        "shy": len(shy),
        "relevant": len(relevant),
        "unreadable": unreadable,
        "verdict": sum(not record.relevant for record in relevant),
        "text": len(textless) - len(shy),
        "warc": sum(captures[url, date] != 1 for url, date in dates.items()),
        "cdxj": sum(indexed[url, "".join(filter(str.isdigit, date))[:14]] != 1 for url, date in dates.items()),
        "search": sum(searched[record.fingerprint] != 1 for record in relevant),
        "parquet": sum(exported[record.url] != 1 for record in relevant),
    }


def kept_in_doubt(root: Path) -> str:
    """Say what it costs that pages which are not relevant may become so: their texts in the page store."""
    pages = kept = size = 0
    query = (
        "SELECT count(*), count(text), total(length(text) + ifnull(length(main), 0)) FROM page "
        "WHERE page AND NOT relevant"
    )
    for path in (root / "pages").glob("*.db"):
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
            found = db.execute(query).fetchone()
            pages, kept, size = pages + found[0], kept + found[1], size + found[2]
    return f"{kept:,} of {pages:,} pages that are not relevant have their text, {size / 1e6:.0f} MB"


def ask_not_to_be_kept(name: str, urls: Sequence[str]) -> set[str]:
    """Read the pages themselves; return those that say noindex."""
    web = open_web(name)
    pages = {url: page for url in urls if (page := web.get(url))}
    shy = {url for url, page in pages.items() if parse(url, page.body, page.content_type).noindex}
    web.close()
    return shy


def _moment(line: str) -> tuple[str, str]:
    _, moment, entry = line.split(" ", 2)
    return json.loads(entry)["url"], moment


def main() -> int:
    """Crawl, kill, verify, look; end with 1 when a page is missing or something stays wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.collection.killed", description="A collection under kills.")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--web", default="archipelago")
    parser.add_argument("--folder", type=Path, help="a new folder, where the crawl stays; else a temporary one")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(wanted.web) as places:
        root = wanted.folder or Path(folder) / "crawl"
        began = time.monotonic()
        code, killed = crawl_with_kills(make(root, places), wanted.pages, wanted.kills, random.Random(1))
        print(f"{machine()}; {wanted.web}, 2 workers, {os.path.getsize(root / 'frontier.db') >> 20} MiB frontier")
        seconds = time.monotonic() - began
        print(f"crawled {pages_of(root):,} pages, {rows(root):,} rows, in {seconds:.0f} s; ", end="")
        print(f"{killed} processes killed, exit code {code}")
        codes = [print_verified(root, *options) for options in ([], ["--repair"], [])]
        found, doubt = look_everywhere(root, wanted.web), kept_in_doubt(root)
    print(f"{found['likely']:,} relevant pages, {found['shy']} of them ask not to be kept; ", end="")
    print(f"of the other {found['relevant']:,} not there once: ", end="")
    print(", ".join(f"{place} {found[place]}" for place in PLACES) + f"; unreadable records {found['unreadable']}")
    print(doubt)
    missing = found["unreadable"] + sum(found[place] for place in PLACES)
    return int(code not in (0, PAGE_LIMIT_REACHED) or codes[1:] != [0, 0] or missing > 0)


def print_verified(root: Path, *options: str) -> int:
    """Run `verify`, print what it says, return its exit code."""
    ended, printed, seconds = call("verify", root, *options)
    print(f"verify {' '.join(options)} ended with {ended} after {seconds:.1f} s\n{printed}", flush=True)
    return ended


if __name__ == "__main__":
    sys.exit(main())
