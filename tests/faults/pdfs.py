"""PDFs that are made to hurt a parser, one by one and in a crawl (row H14)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from testing.malicious_pdfs import CASES, TEXT, pdf
from testing.recording_server import Answer, page, recorder
from tests.faults.live import Result, crawl, peak_rss_bytes
from tests.faults.table import Outcome
from thresher.parsing.documents.conversion import EXTRA_SECONDS, DocumentConverter
from thresher.parsing.documents.document import DocumentLimits
from thresher.parsing.isolated import Unparsable
from thresher.records import FetchedPage

MAX_GROWTH_MIB = 64
MAX_CHILD_MIB = 188
"""Of the process that converts, as of the one that parses heavy pages."""
SECONDS = 2.0
GOOD_PDFS = 20


@dataclass
class Converted:
    """How the files were converted.

    Args:
        read: Those of which text was read.
        refused: Why the others were not, by case.
        unfinished: Those that failed in a way that would be tried again.
    """

    read: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    longest_seconds: float = 0.0
    slowest: str = ""
    peak_mib: float = 0.0
    largest: str = ""


def convert_all() -> Converted:
    """Convert each file with a limit of 2 s."""
    return asyncio.run(_convert_all({name: make() for name, make in CASES.items()}))


async def _convert_all(files: Mapping[str, bytes]) -> Converted:
    found, converter = Converted(), DocumentConverter(("pdf",), DocumentLimits(seconds=SECONDS))
    try:
        await converter.convert(_fetched(pdf()), "pdf")
        for name, body in files.items():
            child = converter._process._child
            start = time.monotonic()
            watching = asyncio.create_task(_peak(child.pid if child else 0))
            await _convert(converter, found, name, body)
            found.longest_seconds, found.slowest = max(
                (found.longest_seconds, found.slowest), (time.monotonic() - start, name)
            )
            watching.cancel()
            found.peak_mib, found.largest = max((found.peak_mib, found.largest), (await _value(watching), name))
            await converter.convert(_fetched(pdf()), "pdf")  # the next document is read, in a new process if need be
    finally:
        converter.close()
    return found


async def _convert(converter: DocumentConverter, found: Converted, name: str, body: bytes) -> None:
    try:
        await converter.convert(_fetched(body), "pdf")
        found.read.append(name)
    except Unparsable as error:
        (found.refused if error.final else found.unfinished)[name] = error.why


async def _peak(pid: int) -> float:
    peak = 0.0
    try:
        while True:
            peak = max(peak, peak_rss_bytes(pid) / (1 << 20))
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        return max(peak, peak_rss_bytes(pid) / (1 << 20))


async def _value(task: asyncio.Task[float]) -> float:
    try:
        return await task
    except asyncio.CancelledError:  # before its first step
        return 0.0


def _fetched(body: bytes) -> FetchedPage:
    return FetchedPage(url="http://a.example/x.pdf", status=200, headers={}, body=body, fetched_at=1e9)


@dataclass(frozen=True, kw_only=True)
class Crawled:
    """What malicious files did to a crawl, beside one with as many good ones."""

    files: int
    settled: int
    good: int
    grown_mib: float
    most_mib: float
    exit_code: int
    log: str
    reasons: Mapping[str, int]


def crawl_files(names: Collection[str]) -> Crawled:
    """Crawl a site with some of the files, and good ones among them; beside it one with good ones only."""
    bad = {f"/bad{number}.pdf": CASES[name]() for number, name in enumerate(names)}
    calm, _ = _crawled(dict.fromkeys(bad, pdf()))
    stormy, good = _crawled(bad)
    log = stormy.folder / "crawl.log.jsonl"
    return Crawled(
        files=len(bad),
        settled=stormy.status["done"] + stormy.status["failed"],
        good=good,
        grown_mib=(stormy.worker_peak_rss_bytes - calm.worker_peak_rss_bytes) / (1 << 20),
        most_mib=stormy.peak_rss_bytes / (1 << 20),
        exit_code=stormy.exit_code,
        log=log.read_text(encoding="utf-8") if log.exists() else "",
        reasons={group["reason"]: group["failed"] for group in stormy.status["failures"]},
    )


def _crawled(files: Mapping[str, bytes]) -> tuple[Result, int]:
    good = {f"/good{number}.pdf": pdf({4: _stream(b"%d " % number)}) for number in range(GOOD_PDFS)}
    answers = {path: Answer(body=body, content_type="application/pdf") for path, body in {**files, **good}.items()}
    settings = {
        "documents": {"seconds": SECONDS},
        "engine": {"timeout_seconds": 30.0, "lease_seconds": 90.0},
        "languages": ["en", "zh"],
    }
    with recorder({"pdfs.test": {"/": page("PDFs", "perovskite solar cells", list(answers)), **answers}}) as w:
        result = crawl(w, [w.url("pdfs.test")], settings, seconds=240)
        return result, sum("/good" in url for url in result.urls)


def _stream(words: bytes) -> bytes:
    text = TEXT.replace(b"Perovskite", b"Number " + words + b"perovskite")
    return b"<</Length %d>>stream\n%s\nendstream" % (len(text), text)


def h14() -> Outcome:
    """All files one by one, and in a crawl."""
    one, all_ = convert_all(), crawl_files(CASES)
    in_time = one.longest_seconds <= SECONDS + EXTRA_SECONDS + 1
    held = (
        in_time
        and not one.unfinished
        and one.peak_mib <= MAX_CHILD_MIB
        and all_.grown_mib <= MAX_GROWTH_MIB
        and all_.good == GOOD_PDFS
        and all_.exit_code == 0
    )
    return Outcome(
        held=held,
        figure=f"{len(CASES)} files: text of {len(one.read)}, {len(one.refused)} refused; longest "
        f"{one.longest_seconds:.1f} s ({one.slowest}), child at most {one.peak_mib:.0f} MiB ({one.largest}); in a "
        f"crawl a worker +{all_.grown_mib:.0f} MiB, none over {all_.most_mib:.0f} MiB, {all_.good} of {GOOD_PDFS} "
        f"good PDFs kept, exit code {all_.exit_code}",
    )
