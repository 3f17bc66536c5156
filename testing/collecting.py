"""A worker without sockets that archives, keeps and settles a made-up web.

It works in the order of the line: WARC record, row, settlement. Frontier, page store and WARC files are the real ones,
so it can be killed, stopped and starved of disk as a worker can, a hundred times a minute.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import yaml
from warcio.archiveiterator import ArchiveIterator

from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.parsing.html import parse
from thresher.pipeline.outcomes import content_hash
from thresher.records import Candidate, FetchedPage, Lease, Outcome, Settlement
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.warc.provenance import Paths
from thresher.storage.warc.reader import warc_paths
from thresher.storage.warc.writer import WarcWriter
from thresher.urls.canonical import fingerprint

HOSTS = 40
LEASE_SECONDS = 1.0
AT_ONCE = 8
_WORDS = [f"word{number:04d}" for number in range(4000)]


def page_url(number: int) -> str:
    """Return the address of a page."""
    return f"http://h{number % HOSTS}.example/{number}"


def page_body(number: int, pages: int) -> bytes:
    """Return a page of its own words, with links to the two pages below it and the one before."""
    words = " ".join(random.Random(number).choices(_WORDS, k=800))
    links = [page_url(to) for to in (2 * number + 1, 2 * number + 2, number - 1) if 0 <= to < pages]
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    return f"<html><title>Page {number}</title><body><p>{words}</p>{anchors}</body></html>".encode()


def make_crawl(root: Path, *, warc: bool = True, store: str = "sqlite") -> CrawlSetup:
    """Write the folder of a crawl that starts at page 0."""
    root.mkdir(parents=True, exist_ok=True)
    topic = {
        "name": "made-up",
        "keywords": ["word0001"],
        "seeds": [page_url(0)],
        "strategy": {"name": "breadth-first"},
        "judge": {"name": "match"},
        "politeness": {"contact": "tests@example.org", "delay_seconds": 0.0},
        "scope": {"max_depth": 100},
        "output": {"warc": warc, "keep_irrelevant": True},
        "store": store,
    }
    (root / "topic.yaml").write_text(yaml.safe_dump(topic), encoding="utf-8")
    return CrawlSetup.open(root)


def answer_of(lease: Lease, pages: int) -> tuple[PageRecord, FetchedPage]:
    """Return what the made-up web answers, and the row of it."""
    number = int(lease.url.rpartition("/")[2])
    body, now = page_body(number, pages), time.time()
    page = parse(lease.url, body, "text/html; charset=utf-8")
    record = PageRecord(
        fingerprint=fingerprint(lease.url),
        url=lease.url,
        status=200,
        outcome=Outcome.DONE,
        fetched_at=now,
        page=True,
        score=lease.score,
        parent=lease.parent,
        depth=lease.hops,
        title=page.title,
        relevance=0.5,
        relevant=True,
        text_hash=content_hash(page.text),
        text=page.text,
        links=[FoundLink(url=link.url, anchor=link.anchor, score=0.5, parts={}) for link in page.links],
    )
    headers = {"content-type": "text/html; charset=utf-8"}
    return record, FetchedPage(url=lease.url, status=200, headers=headers, body=body, fetched_at=now)


def settlement_of(lease: Lease, record: PageRecord) -> Settlement:
    """Return what a page changes."""
    links = [
        Candidate(url=link.url, score=link.score, hops=lease.hops + 1, parent=record.fingerprint)
        for link in record.links
    ]
    return Settlement(lease=lease, outcome=Outcome.DONE, links=links, page=True, relevant=True)


async def collect(root: Path, worker: str, pages: int, say: Callable[[int], None]) -> None:
    """Take pages until none is left; say how many after each step."""
    crawl = CrawlSetup.open(root)
    frontier, rows = crawl.backend.frontier(), PageStoreWriter(crawl.folder.pages / f"{worker}.db")
    is_archived = crawl.config.output.warc
    warc = WarcWriter(root / "warc", worker, about={}, paths=Paths(crawl.folder.pages)) if is_archived else None
    await frontier.add([Candidate(url=page_url(0), score=0.5)])
    done = 0
    while True:
        leases = await frontier.lease(AT_ONCE, seconds=LEASE_SECONDS, worker=worker)
        if not leases:
            if (seconds := await frontier.seconds_to_next()) is None:
                break
            await asyncio.sleep(min(max(seconds, 0.005), 0.1))
            continue
        answers = [answer_of(lease, pages) for lease in leases]
        if warc:
            await warc.append(answers)
        await rows.append([record for record, _ in answers])
        await frontier.commit(
            [settlement_of(lease, record) for lease, (record, _) in zip(leases, answers, strict=True)]
        )
        done += len(leases)
        say(done)
    if warc:
        warc.close()
    rows.close()
    await frontier.close()


def be_worker(root: Path, name: str, pages: int, steps: Connection) -> None:
    """Be the process of a worker; end as one would when the disk is full."""
    try:
        asyncio.run(collect(root, name, pages, steps.send))
    except Exception as error:
        from thresher.runner.worker import store_error

        reported = error if isinstance(error, ThresherError) else store_error(error)
        print(reported, file=sys.stderr)
        sys.exit(reported.exit_code)


class Worker:
    """A worker in a process of its own, forked from one that has imported everything, so that it starts at once."""

    def __init__(self, root: Path, name: str, pages: int) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._steps, other = context.Pipe(duplex=False)
        self._process = context.Process(target=be_worker, args=(root, name, pages, other))
        self._process.start()
        other.close()

    def works_for(self, steps: int) -> bool:
        """Wait until it has got on by `steps` steps; False when it has ended."""
        try:
            for _ in range(steps):
                self._steps.recv()
        except EOFError:
            return False
        return True

    def wait(self, seconds: float) -> int:
        """Return its exit code."""
        while self.works_for(1):
            pass
        self._process.join(seconds)
        code = self._process.exitcode
        self.kill()
        return -1 if code is None else code

    def kill(self) -> None:
        """End it with SIGKILL and wait until it is gone."""
        self._process.kill()
        self._process.join()
        self._steps.close()

    def stop(self) -> None:
        """Let it stand still."""
        os.kill(self._process.pid or 0, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it work again."""
        os.kill(self._process.pid or 0, signal.SIGCONT)


def captures_of(folder: Path) -> tuple[Counter[tuple[str, str]], int]:
    """Read all WARC files with warcio; return the captures by URL and time, and how many records cannot be read."""
    captures: Counter[tuple[str, str]] = Counter()
    unreadable = 0
    for path in warc_paths(folder):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                record.content_stream().read()
                unreadable += record.digest_checker.passed is False
                if record.rec_type in ("response", "revisit"):
                    header = record.rec_headers.get_header
                    captures[header("WARC-Target-URI"), header("WARC-Date")] += 1
    return captures, unreadable
