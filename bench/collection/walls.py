"""PDFs and walls in one crawl: ``python -m bench.collection.walls [--pdfs N] [--workers N]``.

A web on loopback has ordinary pages, PDFs and walls: challenges, consent walls and login walls with status 200 that
name the topic. Half of the PDFs are linked from PDFs only, and every fifth is sent as ``application/octet-stream``. The
web is crawled once with the default judge and strategy. The log of the server is compared with what the crawl stored:
no wall may be judged, and every PDF must be requested once and stored.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from testing.block_pages import walls
from testing.crawl_process import Crawl
from testing.machine import machine
from testing.malicious_pdfs import PAGE, pdf, stream
from testing.recording_server import Answer, Recorder, page, recorder
from testing.recording_server.words import TOPIC_WORDS
from thresher.assembly import build_judge
from thresher.crawl import CrawlSetup
from thresher.records import BlockKind
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

TOPIC = "perovskite solar cells and tandem absorbers of high efficiency"
ON_TOPIC = "Perovskite solar cells, part {0}: a tandem cell stacks perovskite on silicon for efficiency, device {0}."
OFF_TOPIC = "How to brew a pot of green tea, cup number {0}: which water to take, and how long to wait for leaf {0}."
ORDINARY = 3
"""Ordinary pages of each host, besides its start page."""
WALLS = {BlockKind.CHALLENGE: 30, BlockKind.CONSENT: 20, BlockKind.LOGIN: 10}


def document(number: int, link: str) -> bytes:
    """Return a PDF of two lines with a link; every second is about the topic."""
    words = (OFF_TOPIC if number % 2 else ON_TOPIC).format(number).encode()
    half = words.rindex(b" ", 0, 60)
    shown = b"BT /F1 11 Tf 72 700 Td (%s) Tj 0 -14 Td (%s) Tj ET" % (words[:half], words[half + 1 :])
    annotation = b"<</Type/Annot/Subtype/Link/Rect[72 695 200 712]/A<</S/URI/URI(%s)>>>>" % link.encode()
    info = b"<</Title(Paper %d)>>" % number
    objects = {3: PAGE % (b"", b"/Annots[6 0 R]"), 4: stream(shown), 6: annotation, 7: info}
    return pdf(objects, trailer=b"/Info 7 0 R")


def pdf_answer(number: int, link: str) -> Answer:
    """Return a PDF as servers send them: by its type, or as any bytes."""
    content_type = "application/octet-stream" if number % 5 == 0 else "application/pdf"
    return Answer(body=document(number, link), content_type=content_type)


def wall(kind: BlockKind, number: int) -> Answer:
    """Return a wall that names the topic, as a site that is about it would."""
    cases = [case for case in walls() if case.kind is kind and not case.headers and case.url.endswith("/story/17")]
    html = cases[number % len(cases)].html
    return Answer(body=html.replace("</body>", "<p>Perovskite solar cells</p></body>"), content_type="text/html")


@dataclass(frozen=True)
class WalledWeb:
    """A web with PDFs and walls.

    Args:
        pdfs: The number of PDFs.
        walls: The number of walls of each kind; each is on a host of its own of that kind.
    """

    pdfs: int = 200
    walls: Mapping[BlockKind, int] = field(default_factory=lambda: dict(WALLS))

    @property
    def hosts(self) -> int:
        return max(self.walls.values())

    def pdf_url(self, number: int) -> str:
        return f"http://h{number % self.hosts}.test/papers/{number}" + (".pdf" if number % 3 else "")

    def pdf_urls(self) -> list[str]:
        return [self.pdf_url(number) for number in range(self.pdfs)]

    def wall_urls(self) -> dict[str, BlockKind]:
        return {f"http://h{n}.test/{kind}-perovskite": kind for kind, many in self.walls.items() for n in range(many)}

    def ordinary_pages(self) -> int:
        return self.hosts * (ORDINARY + 1)

    def script(self) -> dict[str, dict[str, Answer]]:
        """Return what the server sends."""
        sites = {f"h{number}.test": dict(self._ordinary(number)) for number in range(self.hosts)}
        answers = {url: wall(kind, number) for number, (url, kind) in enumerate(self.wall_urls().items())}
        answers |= {url: pdf_answer(n, self.pdf_url((n + 1) % self.pdfs)) for n, url in enumerate(self.pdf_urls())}
        for url, answer in answers.items():
            host, path = url.removeprefix("http://").split("/", 1)
            sites[host][f"/{path}"] = answer
        return sites

    def _ordinary(self, number: int) -> Iterator[tuple[str, Answer]]:
        own = [*self.wall_urls(), *self.pdf_urls()[::2]]  # the other PDFs are linked from PDFs only
        links = [f"/page-{n}" for n in range(ORDINARY)] + [
            url for url in own if url.startswith(f"http://h{number}.test/")
        ]
        links.append(f"http://h{(number + 1) % self.hosts}.test/")
        anchors = {link: f"perovskite solar cells {link}" for link in links}
        yield "/", page(f"Perovskite {number}", f"{TOPIC} of site {number}. " * 12, anchors)
        for n in range(ORDINARY):
            text = " ".join(f"{word} {number} {n}" for word in TOPIC_WORDS * 6)
            yield f"/page-{n}", page(f"Cells {number} {n}", f"{TOPIC} {text}")


@dataclass(frozen=True)
class WallFigures:
    """What a crawl made of the web, by its page store and by the log of the server.

    Args:
        walls_requested: Walls in the log, by kind; each once.
        walls_blocked: Walls that are stored with their kind.
        walls_relevant: Walls that are stored as pages, as relevant or with text.
        walls_learned: Walls that the judge has learned from.
        pdfs_requested: PDFs in the log.
        pdfs_repeated: Requests for PDFs beyond the first of each.
        pdfs_stored: PDFs that are stored as pages with text.
        pdfs_misjudged: PDFs about the topic that are not relevant, and others that are.
        pages: Ordinary pages that are stored.
    """

    walls_requested: Mapping[BlockKind, int]
    walls_blocked: Mapping[BlockKind, int]
    walls_relevant: int
    walls_learned: int
    pdfs_requested: int
    pdfs_repeated: int
    pdfs_stored: int
    pdfs_misjudged: int
    pages: int
    seconds: float


def measure(web: WalledWeb, folder: Path, *, workers: int = 1, max_seconds: float = 600.0) -> WallFigures:
    """Crawl the web until nothing is left.

    Raises:
        RuntimeError: The crawl ended with an error.
    """
    crawl = Crawl(folder)
    began = time.monotonic()
    with recorder(web.script()) as server:
        crawl.create(server.url("h0.test"), _settings(server))
        run = crawl.start(f"--workers={workers}")
        if run.wait(max_seconds):
            raise RuntimeError(run.last_words())
        seconds = time.monotonic() - began
        requests = Counter(f"http://{hit.host}{hit.path}" for hit in server.hits() if hit.status == 200)
    return _figures(web, folder, requests, seconds)


def _settings(server: Recorder) -> dict[str, object]:
    """Return the settings of a crawl that does not wait between requests and keeps every page."""
    return {
        "keywords": TOPIC_WORDS,
        "languages": ["en"],
        "scope": {"max_pages_per_host": 100_000, "max_depth": 1_000, "first_pages_per_host": None},
        "stop": {"pages": None},
        "politeness": {"delay_seconds": 0},
        "output": {"keep_irrelevant": True},
        "network": {"allow": ["127.0.0.0/8"], "tls": "record", "connect_to": server.connect_to},
        "engine": {"timeout_seconds": 20.0, "lease_seconds": 60.0},
    }


def _figures(web: WalledWeb, folder: Path, requests: Mapping[str, int], seconds: float) -> WallFigures:
    walls_of, pdf_urls = web.wall_urls(), web.pdf_urls()
    judge = build_judge(CrawlSetup.open(folder))
    with PageStoreReader(folder / "pages") as reader:
        history = {url: reader.history(fingerprint(url)) for url in walls_of}
        pdfs = {url: reader.find(fingerprint(url)) for url in pdf_urls}
        texts = {url: bool(reader.text(fingerprint(url))) for url, found in pdfs.items() if found}
        pages = sum(record.page for record in reader.ranked()) - sum(texts.values())
    stored = {url for url, found in pdfs.items() if found and found.page and texts[url]}
    relevant = {url for url, found in pdfs.items() if found and found.relevant}
    return WallFigures(
        walls_requested=Counter(kind for url, kind in walls_of.items() if requests.get(url)),
        walls_blocked=Counter(kind for url, kind in walls_of.items() if any(r.blocked == kind for r in history[url])),
        walls_relevant=sum(any(r.page or r.relevant or r.text for r in rows) for rows in history.values()),
        walls_learned=sum(judge.remembers(url) for url in walls_of),  # type: ignore[attr-defined]
        pdfs_requested=sum(url in requests for url in pdf_urls),
        pdfs_repeated=sum(max(0, requests.get(url, 0) - 1) for url in pdf_urls),
        pdfs_stored=len(stored),
        pdfs_misjudged=len(relevant ^ set(pdf_urls[::2])),
        pages=pages,
        seconds=seconds,
    )


def report(web: WalledWeb, found: WallFigures) -> Iterator[str]:
    """Yield the figures as lines of a table."""
    yield "| | in the web | requested, by the server's log | stored |"
    yield "|---|---|---|---|"
    for kind, number in web.walls.items():
        yield f"| {kind} walls | {number} | {found.walls_requested[kind]} | {found.walls_blocked[kind]} as blocked |"
    yield f"| PDFs | {web.pdfs} | {found.pdfs_requested} | {found.pdfs_stored} with text |"
    yield f"| ordinary pages | {web.ordinary_pages()} | | {found.pages} |"
    yield ""
    yield f"Walls judged relevant or stored as pages: {found.walls_relevant}; learned from: {found.walls_learned}."
    lost = web.pdfs - found.pdfs_stored
    yield f"PDFs lost: {lost}; requested twice: {found.pdfs_repeated}; with a wrong verdict: {found.pdfs_misjudged}."
    yield f"{found.seconds:.0f} seconds."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.collection.walls", description=__doc__)
    parser.add_argument("--pdfs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    web = WalledWeb(options.pdfs)
    with tempfile.TemporaryDirectory() as name:
        found = measure(web, Path(name) / "crawl", workers=options.workers)
    print(f"{machine()}.\n", *report(web, found), sep="\n")


if __name__ == "__main__":
    main()
