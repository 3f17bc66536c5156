"""Bodies that want too much: bombs (H1), bodies without an end (H2), markup that a parser chokes on (H4)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.recording_server import Answer, Fill, Recorder, Script, bomb, drip, endless, page, recorder, text
from tests.faults.live import Result, crawl, peak_rss_bytes
from tests.faults.table import Outcome
from thresher.parsing.html import parse
from thresher.parsing.isolated import ParserProcess, Unparsable, is_heavy

GIBIBYTE = 1 << 30
MAX_GROWTH_MIB = 64
HEAVY_BYTES = 1 << 20
"""An ordinary page of the calm crawl that is parsed in the child process too, so that both crawls have one."""
HANGING = Path(__file__).with_name("hanging")


@dataclass(frozen=True, kw_only=True)
class Bombed:
    """What bombs did to a crawl, beside one with the same hosts and ordinary pages."""

    bombs: int
    grown_mib: float
    seconds: float
    pages: int
    good_pages: int
    exit_code: int


def bombs(size: int) -> Bombed:
    """Crawl good hosts and hosts whose page or robots.txt unfolds to `size` bytes."""
    script = _bombs(size)
    harmless = {host: {"/": page("Harmless", "nothing unfolds here")} for host in script}
    calm, _ = _crawled({**harmless, "heavy.test": _HEAVY}, {})
    stormy, hosts = _crawled(script, {})
    return Bombed(
        bombs=len(script),
        grown_mib=_grown_mib(stormy, calm),
        seconds=stormy.seconds - calm.seconds,
        pages=len(stormy.urls & {f"http://{host}/" for host in script}),
        good_pages=hosts,
        exit_code=stormy.exit_code,
    )


def one_by_one(size: int, hosts: Sequence[str] = ()) -> dict[str, float]:
    """Crawl one bomb after another; return by how many MiB each makes the worker or its child grow."""
    calm, _ = _crawled({"calm.test": _HEAVY}, {})
    script = _bombs(size)
    return {host: _grown_mib(_crawled({host: script[host]}, {})[0], calm) for host in hosts or script}


_HEAVY = {"/": Answer(body=Fill(size=HEAVY_BYTES, pattern="<p>an ordinary sentence of a long page</p>"))}


def _grown_mib(stormy: Result, calm: Result) -> float:
    """Return by how much the worker, or the largest of all processes, grew."""
    worker = stormy.worker_peak_rss_bytes - calm.worker_peak_rss_bytes
    largest = stormy.peak_rss_bytes - calm.peak_rss_bytes
    return max(worker, largest) / (1 << 20)


def _bombs(size: int) -> dict[str, dict[str, Any]]:
    nested = [("gzip",) * 3, ("zstd", "gzip", "br"), ("br", "zstd", "deflate")]
    codings = [("gzip",), ("deflate",), ("raw-deflate",), ("br",), ("zstd",), *nested]
    script: dict[str, dict[str, Any]] = {}
    for number, names in enumerate(codings):
        script[f"page{number}.test"] = {"/": bomb(size, *names)}
        script[f"robots{number}.test"] = {"/robots.txt": bomb(size, *names), "/": page("Robots", "rules of zeros")}
    script["tags.test"] = {"/": bomb(size, "gzip", pattern="<b id=1>")}
    script["words.test"] = {"/": bomb(size, "br", pattern="太阳能电池 ")}
    return script


GOOD_PAGES = 20


def _crawled(script: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]) -> tuple[Result, int]:
    """Crawl the hosts of a script beside a good one; return the result, and how many good pages were taken."""
    links = [*[f"http://{host}/" for host in script], *[f"/{number}" for number in range(GOOD_PAGES)]]
    good = {"/": page("Good", "perovskite solar cells", links)}
    good |= {f"/{number}": page(f"Good {number}", f"solar cell number {number}") for number in range(GOOD_PAGES)}
    with recorder({**script, "good.test": good}) as w:
        result = crawl(w, [w.url("good.test")], settings, seconds=60, pages=len(script) + GOOD_PAGES + 1)
        return result, sum(url.startswith("http://good.test/") for url in result.urls)


@dataclass(frozen=True, kw_only=True)
class Body:
    """A body that is not what it should be, and whether something of it can be kept whole, in part or not at all."""

    answer: Answer
    kept: str


START = "<title>Kept</title><p>solar cells, and then</p>"
BODIES = {
    "endless": Body(answer=endless(), kept="truncated"),
    "endless-without-length": Body(answer=endless(framing="close"), kept="truncated"),
    "endless-packed": Body(answer=bomb(1 << 40, "gzip", pattern="<p>on and on</p>"), kept="truncated"),
    "declared-large": Body(answer=Answer(body=Fill(size=5 << 30, pattern="x ", start=START)), kept="truncated"),
    "longer-than-said": Body(answer=Answer(body=START * 5, content_length=len(START)), kept="done"),
    "shorter-than-said": Body(answer=Answer(body=START, content_length=9000), kept="truncated"),
    "shorter-and-open": Body(
        answer=Answer(body=START * 200, content_length=90_000, hang_after=len(START)), kept="truncated"
    ),
    "without-length": Body(answer=Answer(body=START, framing="close"), kept="done"),
    "chunked": Body(answer=Answer(body=START, framing="chunked"), kept="done"),
    "broken-chunks": Body(answer=Answer(body=START * 2000, framing="broken"), kept="truncated"),
    "closed-early": Body(answer=Answer(body=START * 2000, close_after=5000), kept="truncated"),
    "reset": Body(answer=Answer(body=START * 2000, reset_after=5000), kept="truncated"),
    "drops": Body(answer=drip(10), kept="truncated"),
    "packed-in-name-only": Body(answer=Answer(body=START, headers=[("Content-Encoding", "gzip")]), kept="failed"),
    "packed-four-times": Body(answer=bomb(1 << 20, "gzip", "gzip", "gzip", "gzip"), kept="failed"),
    "nothing": Body(answer=Answer(body="", content_length=100), kept="truncated"),
}


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How bodies without an end ended."""

    cases: int
    wrong: dict[str, str]
    longest_seconds: float
    most_mib: float


def bodies(timeout_seconds: float) -> Ended:
    """Crawl hosts whose bodies do not end as they should."""
    script: Script = {f"{name}.test": {"/": body.answer} for name, body in BODIES.items()}
    settings = {"engine": {"timeout_seconds": timeout_seconds, "lease_seconds": timeout_seconds + 10}}
    links = [f"http://{host}/" for host in script]
    with recorder({**script, "good.test": {"/": page("Good", "solar", links)}}) as w:
        result = crawl(w, [w.url("good.test")], settings, seconds=2 * timeout_seconds + 20)
        hits = [hit for hit in w.hits() if hit.path == "/" and hit.host != "good.test"]
        wrong = {name: seen for name in BODIES if BODIES[name].kept not in (seen := _became(result, w, name))}
        return Ended(
            cases=len(BODIES),
            wrong=wrong,
            longest_seconds=max((hit.end_ns - hit.start_ns) / 1e9 for hit in hits),
            most_mib=max(hit.sent_bytes for hit in hits) / (1 << 20),
        )


def _became(result: Result, w: Recorder, name: str) -> str:
    """Say what became of a case: done, truncated, failed, or what `why` says."""
    seen = result.why(w.url(f"{name}.test"))
    words = [word for word in ("truncated", "failed") if word in seen]
    return words[0] if words else "done" if "done" in seen else seen


def markup(scale: int = 1) -> dict[str, bytes]:
    """Return pages that are hard to parse, the largest ones cut as a download would be."""
    thousand = 1000 * scale
    attributes = " ".join(f"a{number}=1" for number in range(64 * thousand))
    pages = {
        "deep": b"<div>" * (10 * thousand) + b"deep",
        "deep, closed": b"<div>" * (100 * thousand) + b"</div>" * (100 * thousand),
        "spans under paragraphs": b"<span>" * (20 * thousand) + b"<div></div>" * (20 * thousand),
        "formatting left open": b"".join(b"<b id=%d>" % n for n in range(3 * thousand)) + b"<p>x</p>" * (3 * thousand),
        "tables in tables": b"<table><tr><td>" * (30 * thousand),
        "an attribute without end": b'<a href="' + b"x" * (50 << 20),
        "attributes": f"<p {attributes}>text".encode(),
        "attributes in small pages": f"<p {attributes[:60_000]}>".encode() * 4,
        "links": b"".join(b"<a href=/%d>link %d</a> " % (n, n) for n in range(1000 * thousand // 4)),
        "entities": b"&amp;&notit;&#1114112;" * (1000 * thousand // 3),
        "NULs": bytes(10 << 20),
        "NULs in tags": b"<a\0 hr\0ef='/\0x'>" * (100 * thousand),
        "brackets": b"<" * (10 << 20),
        "no words": b"\xff\xfe" * (5 << 20),
        "Chinese": "太阳能电池".encode() * (600 * thousand),
        "select": b"<select><option>" * (100 * thousand),
        "forms in tables": b"<table><form><input>" * (30 * thousand),
        "misnested": b"<a><b><i><p></a></b></i>" * (30 * thousand),
        "comments": b"<!-- - -- --!" * (100 * thousand),
        "templates": b"<template><svg><style>" * (30 * thousand),
    }
    return {name: body[: 10 << 20] for name, body in pages.items()}


@dataclass
class Parsed:
    """How parsing went, over all pages."""

    cases: int = 0
    given_up: list[str] = field(default_factory=list)
    longest_seconds: float = 0.0
    slowest: str = ""
    most_links: int = 0
    peak_mib: float = 0.0


def parsing(scale: int = 1) -> Parsed:
    """Parse hard pages as the line does: here or apart."""
    return asyncio.run(_parsing(markup(scale)))


async def _parsing(pages: Mapping[str, bytes]) -> Parsed:
    seen, apart = Parsed(), ParserProcess()
    await apart.parse("http://a.example/", b"started")
    try:
        for name, body in pages.items():
            seconds, links = await _timed(apart, body)
            seen.cases += 1
            if links is None:
                seen.given_up.append(name)
            seen.most_links = max(seen.most_links, links or 0)
            seen.longest_seconds, seen.slowest = max((seen.longest_seconds, seen.slowest), (seconds, name))
            child = apart._child
            seen.peak_mib = max(seen.peak_mib, peak_rss_bytes(child.pid) / (1 << 20) if child else 0.0)
    finally:
        apart.close()
    return seen


async def _timed(apart: ParserProcess, body: bytes) -> tuple[float, int | None]:
    """Return how much processor time a page took, in whichever process, and how many links it had."""
    child = apart._child.pid if apart._child else 0
    heavy, before = is_heavy(body), _cpu_seconds(child)
    start, links = time.process_time(), None
    try:
        found = await apart.parse("http://a.example/", body) if heavy else parse("http://a.example/", body)
        links = len(found.links)
    except Unparsable as error:
        if not error.final:
            raise
    own = time.process_time() - start
    now = apart._child.pid if apart._child else 0
    return max(own, _cpu_seconds(now) - before if now == child else 0.0), links


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Hung:
    """What a parser that never returns did to a crawl."""

    exit_code: int
    good_pages: int
    light: str
    heavy: str
    workers_ended: int


def hanging() -> Hung:
    """Crawl pages at which the parser hangs: a small one in the worker itself, a large one in its child."""
    script = {
        "light.test": {"/": page("Light", "hang here")},
        "heavy.test": {"/": Answer(body=Fill(size=1 << 19, pattern="hang here "))},
    }
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(HANGING)
    try:
        with recorder(script | _good_site(script)) as w:
            result = crawl(w, [w.url("good.test")], seconds=60, pages=GOOD_PAGES + 10)
            return Hung(
                exit_code=result.exit_code,
                good_pages=sum(url.startswith("http://good.test/") for url in result.urls),
                light=result.why(w.url("light.test")),
                heavy=result.why(w.url("heavy.test")),
                workers_ended=sum(hit.left for hit in w.hits("light.test", "/")),
            )
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _good_site(script: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    links = [*[f"http://{host}/" for host in script], *[f"/{number}" for number in range(GOOD_PAGES)]]
    good = {"/": page("Good", "perovskite solar cells", links)}
    good |= {f"/{number}": page(f"Good {number}", f"solar cell number {number}") for number in range(GOOD_PAGES)}
    return {"good.test": good, "robots.test": {"/robots.txt": text("User-agent: *\nAllow: /")}}


def h1() -> Outcome:
    """Bombs of 10 GiB, one by one and all at once."""
    grown = one_by_one(10 * GIBIBYTE)
    worst = max(grown, key=grown.__getitem__)
    seen = bombs(10 * GIBIBYTE)
    held = grown[worst] <= MAX_GROWTH_MIB and seen.good_pages == GOOD_PAGES + 1
    return Outcome(
        held=held,
        figure=f"{len(grown)} bombs, worker and parser at most +{grown[worst]:.0f} MiB for one ({worst}); all at once "
        f"+{seen.grown_mib:.0f} MiB, time +{seen.seconds:.0f} s; {seen.good_pages} of {GOOD_PAGES + 1} good pages",
    )


def h2() -> Outcome:
    """Bodies without an end, with the times of a crawl."""
    seen = bodies(30.0)
    held = not seen.wrong and seen.longest_seconds <= 31 and seen.most_mib <= 16
    wrong = f"; wrong: {', '.join(seen.wrong)}" if seen.wrong else ""
    return Outcome(
        held=held,
        figure=f"{seen.cases - len(seen.wrong)} of {seen.cases} right; longest {seen.longest_seconds:.1f} s, "
        f"most sent {seen.most_mib:.1f} MiB{wrong}",
    )


def h4() -> Outcome:
    """Hard pages, and a parser that never returns."""
    seen, hung = parsing(), hanging()
    survived = (
        hung.good_pages == GOOD_PAGES + 1 and "cannot be parsed" in hung.light and "cannot be parsed" in hung.heavy
    )
    held = seen.longest_seconds <= 2.5 and seen.most_links <= 5000 and survived
    return Outcome(
        held=held,
        figure=f"{seen.cases} pages: longest {seen.longest_seconds:.2f} s ({seen.slowest}), {len(seen.given_up)} given "
        f"up, at most {seen.most_links} links, child at most {seen.peak_mib:.0f} MiB; with a parser that never returns "
        f"{hung.good_pages} of {GOOD_PAGES + 1} other pages taken",
    )
