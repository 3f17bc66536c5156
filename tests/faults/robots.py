"""Robots and politeness, rows P4 to P8: what robots.txt answers, how rules are read, how long a host is left alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any

from testing.recording_server import Answer, Fill, Packed, busy, endless, hang, page, recorder, redirect, reset, text
from testing.recording_server.process import Recorder
from testing.recording_server.report import report
from tests.faults.driven import Drive, Reply, drive
from tests.faults.live import Result, crawl
from tests.faults.robots_cases import CASES, DIFFERENCES
from tests.faults.table import Outcome
from thresher.politeness.robots import RobotsCache, RobotsFile, robots_url
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

DAY = 24 * 3600.0
DELAY_SECONDS = 0.3
RULES = "User-agent: *\nDisallow: /shed\n"
NONE, OPEN, ALL = frozenset[str](), frozenset({"/"}), frozenset({"/", "/shed"})


# P4: forty answers to the request for robots.txt


@dataclass(frozen=True)
class Way:
    """One way to answer for robots.txt, and which of a host's two pages may be fetched then.

    Args:
        answers: What stands on the host beside its pages.
        asked: How often the host may be asked for rules.
    """

    name: str
    answers: dict[str, Any]
    fetched: frozenset[str]
    asked: int = 1


def way(name: str, answer: Any, fetched: frozenset[str], asked: int = 1, **more: Any) -> Way:
    """Write a way in one line; `more` is what else stands on the host, without its slash."""
    others = {f"/{place}": value for place, value in more.items()}
    return Way(name, {"/robots.txt": answer, **others}, fetched, asked)


def ways() -> list[Way]:
    """Return the forty ways; each is a host of its own."""
    long = RULES + "#" + "x" * 600 * 1024
    statuses = {200: OPEN, 203: OPEN, 401: ALL, 403: ALL, 404: ALL, 410: ALL, 451: ALL, 400: ALL}
    closed = dict.fromkeys([429, 500, 502, 503, 504], NONE)
    return [
        *(way(f"s{code}", text(RULES, status=code), pages) for code, pages in {**statuses, **closed}.items()),
        *(way(f"r{code}", redirect("/rules", code), OPEN, 2, rules=text(RULES)) for code in (301, 302, 303, 307, 308)),
        way("empty", text(""), ALL),
        way("five", redirect("/hop1", 301), OPEN, 6, **hops(5)),
        way("six", redirect("/hop1", 301), ALL, 6, **hops(6)),
        way("circle", redirect("/rules", 301), ALL, 2, rules=redirect("/robots.txt", 301)),
        way("itself", redirect("/robots.txt", 301), ALL),
        way("nowhere", Answer(status=301), ALL),
        way("scheme", redirect("ftp://a.test/robots.txt", 301), ALL),
        way("secure", redirect("https://secure.test/rules", 301), OPEN, 2, rules=text(RULES)),
        way("other", redirect("http://keeper.test/robots.txt", 301), OPEN),
        way("another", redirect("http://keeper.test/for-another", 301), OPEN),
        way("far", redirect("http://between.test/far", 301), OPEN),
        way("denied", redirect("http://forbidden.test/robots.txt", 301), NONE),
        way("missing", redirect("/rules", 301), ALL, 2),
        way("broken", redirect("/rules", 301), NONE, 2, rules=500),
        way("silent", hang(), NONE),
        way("reset", reset(), NONE),
        way("short", Answer(content_length=5000, body=RULES, content_type="text/plain"), NONE),
        way("stuck", Answer(hang_after=20, body=RULES, content_type="text/plain"), NONE),
        way("garbage", Answer(body=bytes(range(256)) * 8, content_type="text/plain"), ALL),
        way("html", page("Not found", "User-agent: * Disallow: /"), ALL),
        way("marked", text(b"\xef\xbb\xbf" + RULES.encode()), OPEN),
        way("long", text(long), OPEN),
        way("late", text("#" + "x" * 600 * 1024 + "\n" + RULES), ALL),
        way("endless", endless("#\n"), ALL),
        way("packed", Answer(body=Packed(body=RULES, codings=("gzip",)), content_type="text/plain"), OPEN),
        way("bomb", Answer(body=Packed(body=Fill(size=4 << 20, pattern=b"#"), codings=("gzip",))), ALL),
        way("typed", Answer(body=RULES, content_type="application/octet-stream"), OPEN),
        way("changed", [text(RULES), text("User-agent: *\nDisallow: /\n")], OPEN),
    ]


def hops(number: int) -> dict[str, Answer]:
    """Return the redirects behind a first one, `number` in all, and the rules behind them."""
    between = {f"hop{place}": redirect(f"/hop{place + 1}", 302) for place in range(1, number)}
    return {**between, f"hop{number}": text(RULES)}


@dataclass(frozen=True)
class Ways:
    """How the ways went: those that were right, what was wrong with the others, and the politeness of it all."""

    right: list[str]
    wrong: dict[str, str]
    gaps: int
    violations: int
    not_counted: int
    open_at_once: int
    parked: dict[str, str]
    exit_code: int
    stderr: str


def answer_in_all_ways(seconds: float = 40.0) -> Ways:
    """Crawl the hosts of all ways in one go."""
    cases = ways()
    script: dict[str, Any] = {f"{case.name}.test": {**_site(case.name), **case.answers} for case in cases}
    script |= {
        "keeper.test": {"/robots.txt": text(RULES), "/for-another": text(RULES), **_site("keeper")},
        "between.test": {"/far": redirect("http://keeper.test/far", 302), "/robots.txt": 404},
        "forbidden.test": _site("forbidden"),
    }
    script["keeper.test"]["/far"] = text(RULES)
    with recorder(script) as w:
        seeds = [w.url(f"{case.name}.test") for case in cases]
        settings = {
            "politeness": {"delay_seconds": DELAY_SECONDS},
            "scope": {"deny_hosts": ["forbidden.test"]},
            "engine": {"concurrency": 64, "timeout_seconds": 8.0, "lease_seconds": 20.0},
        }
        result = crawl(w, seeds, settings, seconds=seconds)
        wrong = {case.name: words for case in cases if (words := _what_is_wrong(w, case))}
        if w.hits("forbidden.test"):
            wrong["denied"] = "a denied host was asked"
        # where we broke off, the recording server learns late of the end: such hosts are no measure of gaps
        broken_off = {hit.host for hit in w.hits() if hit.left or not hit.status}
        reported = report([hit for hit in w.hits() if hit.host not in broken_off], DELAY_SECONDS)
    parked = {host: entry["parked"] for host, entry in result.hosts.items() if entry["parked"]}
    right = [case.name for case in cases if case.name not in wrong]
    return Ways(
        right=right,
        wrong=wrong,
        gaps=reported.gaps,
        violations=reported.violations,
        not_counted=len(broken_off),
        open_at_once=reported.open_at_once,
        parked=parked,
        exit_code=result.exit_code,
        stderr=result.stderr,
    )


def _site(name: str) -> dict[str, Any]:
    """Two pages unlike those of any other host, or they would be copies, whose links nobody follows."""
    return {"/": page("Solar", f"solar cells of {name}", ["/shed"]), "/shed": page("Shed", f"the shed of {name}")}


def _what_is_wrong(w: Recorder, case: Way) -> str:
    hits = w.hits(f"{case.name}.test")
    fetched = {hit.path for hit in hits} & ALL
    rules = sum(hit.path not in ALL for hit in hits)
    if fetched != case.fetched:
        return f"fetched {sorted(fetched)}, expected {sorted(case.fetched)}"
    return f"asked {rules} times for rules, expected {case.asked}" if rules != case.asked else ""


def p4() -> Outcome:
    """Fill the row."""
    went = answer_in_all_ways()
    cases = len(went.right) + len(went.wrong)
    figure = (
        f"{len(went.right)} of {cases} right; {went.open_at_once} open at once, {went.violations} of {went.gaps} gaps "
        f"shorter than {DELAY_SECONDS} s, {went.not_counted} hosts where we broke off not counted"
    )
    if went.wrong:
        figure += "; wrong: " + "; ".join(f"{name}: {words}" for name, words in went.wrong.items())
    return Outcome(held=not went.wrong and went.violations == 0 and cases >= 40, figure=figure)


# P5: what rules mean


def verdicts() -> tuple[int, list[str]]:
    """Return how many verdicts there are, and those that are not as they should be."""
    return asyncio.run(_verdicts())


async def _verdicts() -> tuple[int, list[str]]:
    number, wrong = 0, []
    for case in CASES:
        robots = RobotsCache(MemoryFrontier(), token="Thresher")
        await robots.learn(robots_url("http://farm.example/"), 200, case.text)
        file = await robots.file_for("http://farm.example/")
        assert isinstance(file, RobotsFile)
        for verdict in case.verdicts:
            number += 1
            if file.allows(f"http://farm.example{verdict[1:]}") != (verdict[0] == "+"):
                wrong.append(f"{case.name}: {verdict}")
    return number, wrong


def p5() -> Outcome:
    """Fill the row."""
    number, wrong = verdicts()
    figure = f"{number - len(wrong)} of {number} verdicts on {len(CASES)} files right"
    differences = "; ".join(f"{case.name}: {case.why}" for case in DIFFERENCES)
    listed = f"; wrong: {'; '.join(wrong)}" if wrong else ""
    return Outcome(held=not wrong, figure=f"{figure}{listed}. Where parsers disagree: {differences}")


# P6: robots.txt changes while the crawl goes on


def changing(ban_at: float, *, seconds: float, workers: int = 2) -> Drive:
    """Crawl one endless host for days; some seconds after the start its rules forbid everything."""
    start = Drive().now

    def web(url: str, now: float) -> Reply:
        if url.endswith("/robots.txt"):
            closed = now >= start + ban_at
            return Reply(200, f"User-agent: *\nDisallow: {'/' if closed else '/shed'}\n")
        number = int(url.rpartition("/")[2] or 0)
        return Reply(200, f"<p>page {number} <a href=/{2 * number + 1}>a</a> <a href=/{2 * number + 2}>b</a>")

    return asyncio.run(drive(web, ["http://a.example/"], seconds=seconds, delay_seconds=600.0, workers=workers))


def ban_figures(ban_at: float, seconds: float) -> dict[str, float]:
    """Measure how long a ban takes to be read, and what is fetched after it was."""
    reported = changing(ban_at, seconds=seconds)
    start = reported.asked[0].at
    readings = [asked.at - start for asked in reported.asked if asked.is_robots]
    read_at = next((at for at in readings if at >= ban_at), seconds)
    return {
        "pages": len(reported.pages()),
        "pages_after_reading": len(reported.pages(after=start + read_at)),
        "pages_after_a_day": len(reported.pages(after=start + ban_at + DAY + 600)),
        "readings": len(readings),
        "read_after_hours": (read_at - ban_at) / 3600,
    }


def p6() -> Outcome:
    """Fill the row."""
    reported = [ban_figures(hours * 3600.0, 3 * DAY) for hours in (1, 6, 12, 23, 25, 47)]
    after = int(sum(each["pages_after_reading"] + each["pages_after_a_day"] for each in reported))
    longest = max(each["read_after_hours"] for each in reported)
    pages = int(sum(each["pages"] for each in reported))
    figure = f"pages fetched after the ban was read: {after} of {pages}, in 6 crawls of 3 days by an injected clock; "
    return Outcome(held=after == 0 and longest <= 24.02, figure=f"{figure}a ban was read after {longest:.1f} h at most")


# P7: hosts that ask for time


@dataclass(frozen=True)
class Pace:
    """How one host was treated: the shortest gap, how many pages came, and why it is parked."""

    host: str
    least_seconds: float
    shortest_gap_seconds: float
    pages: int
    parked: str


def paces(*, long: bool = False, seconds: float = 28.0) -> tuple[list[Pace], Result]:
    """Crawl hosts with Crawl-delay, Request-rate and Retry-After; the long form has a delay of 20 s too."""
    delays = {
        "one": "Crawl-delay: 1",
        "rate": "Request-rate: 1/2",
        "minus": "Crawl-delay: -1",
        "nan": "Crawl-delay: NaN",
    }
    delays |= {"words": "Crawl-delay: as you like", "hour": "Crawl-delay: 3600"} | (
        {"twenty": "Crawl-delay: 20"} if long else {}
    )
    least = {"one": 1.0, "rate": 2.0, "twenty": 20.0, "seconds": 12.0, "past": 10.0, "junk": 10.0}
    date, clock = int(time.time()) + 14, time.monotonic() - time.time()
    named = {"date": formatdate(date, usegmt=True), "past": formatdate(0, usegmt=True)}
    waits = {"seconds": "12", **named, "junk": "a while", "absurd": "9" * 12}
    script: dict[str, Any] = {f"{name}.test": _paced(line) for name, line in delays.items()}
    script |= {f"{name}.test": {"/": [busy(503, value), page("Up", f"solar {name}")]} for name, value in waits.items()}
    with recorder(script) as w:
        result = crawl(
            w, [w.url(host) for host in script], {"politeness": {"delay_seconds": DELAY_SECONDS}}, seconds=seconds
        )
        hosts = w.report().hosts
        first = next(hit for hit in w.hits("date.test") if hit.path == "/")
        least["date"] = max(10.0, date + clock - first.sent_ns / 1e9)
        reported = [
            Pace(
                name,
                least.get(name, DELAY_SECONDS),
                _after_busy(w, f"{name}.test") if name in waits else hosts[f"{name}.test"].shortest_gap_seconds,
                sum(hit.status == 200 and hit.path != "/robots.txt" for hit in w.hits(f"{name}.test")),
                result.hosts[f"{name}.test"]["parked"],
            )
            for name in (*delays, *waits)
        ]
    return reported, result


def _paced(line: str) -> dict[str, Any]:
    pages = {f"/{number}": page(f"Page {number}", f"solar cells {number}") for number in range(3)}
    return {
        "/robots.txt": text(f"User-agent: *\n{line}\n"),
        "/": page("Solar", f"perovskite {line}", list(pages)),
        **pages,
    }


def _after_busy(w: Recorder, host: str) -> float:
    """Return the time from a refusal to the next request."""
    hits = [hit for hit in w.hits(host) if hit.path == "/"]
    return (hits[1].start_ns - hits[0].sent_ns) / 1e9 if len(hits) > 1 else float("inf")


def pace_violations(reported: list[Pace]) -> list[str]:
    """Return which hosts were not treated as they asked."""
    wrong = [
        f"{pace.host}: {pace.shortest_gap_seconds:.2f} s"
        for pace in reported
        if pace.shortest_gap_seconds < pace.least_seconds
    ]
    skipped = [pace for pace in reported if pace.host in ("hour", "absurd")]
    wrong += [f"{pace.host}: {pace.pages} pages, {pace.parked!r}" for pace in skipped if pace.pages or not pace.parked]
    obeyed = [pace for pace in reported if pace not in skipped]
    return wrong + [f"{pace.host}: parked, {pace.parked}" for pace in obeyed if pace.parked]


def p7() -> Outcome:
    """Fill the row."""
    reported, _ = paces(long=True, seconds=110.0)
    wrong = pace_violations(reported)
    left_alone = "; ".join(f"{pace.host}: {pace.parked}" for pace in reported if pace.parked)
    missing = [pace.host for pace in reported if not pace.pages and not pace.parked]
    figure = f"violations {len(wrong)} on {len(reported)} hosts; left alone: {left_alone}"
    figure += f"; no page came from: {', '.join(missing)}" if missing else ""
    return Outcome(held=not wrong and not missing, figure=figure + ("; " + "; ".join(wrong) if wrong else ""))


# P8: a host that has had enough


def storm(status: int, *, seconds: float, headers: dict[str, str] | None = None, workers: int = 2) -> Drive:
    """Crawl a host that gives three pages and then refuses everything, by a clock."""
    pages = {f"http://a.example/{number}" for number in range(2)} | {"http://a.example/"}

    def web(url: str, now: float) -> Reply:
        if url.endswith("/robots.txt"):
            return Reply(404)
        links = "".join(f"<a href=/{number}>{number}</a>" for number in range(200))
        return Reply(200, f"<p>{url} {links}") if url in pages else Reply(status, headers=headers or {})

    return asyncio.run(drive(web, ["http://a.example/"], seconds=seconds, workers=workers))


def refusals(reported: Drive, seconds: float) -> int:
    """Count the requests that were refused within some seconds from the first refusal."""
    refused = [
        asked.at
        for asked in reported.pages()
        if asked.url not in ("http://a.example/", "http://a.example/0", "http://a.example/1")
    ]
    return sum(at <= refused[0] + seconds for at in refused)


def live_storm(seconds: float) -> tuple[dict[int, list[float]], dict[str, str]]:
    """Crawl two hosts that refuse everything after a page; return the moments of the refusals, and what is parked."""
    links = [f"/{number}" for number in range(50)]
    hosts = {status: f"busy{status}.test" for status in (429, 503)}
    script: dict[str, Any] = {
        host: {"/": page("Up", host, links), "/*": busy(status)} for status, host in hosts.items()
    }
    for host in hosts.values():
        script[host]["/robots.txt"] = 404
    with recorder(script) as w:
        result = crawl(w, [w.url(host) for host in hosts.values()], seconds=seconds)
        moments = {
            status: [hit.start_ns / 1e9 for hit in w.hits(host) if hit.status == status]
            for status, host in hosts.items()
        }
        parked = {name: entry["parked"] for name, entry in result.hosts.items() if entry["parked"]}
    return moments, parked


def p8() -> Outcome:
    """Fill the row."""
    moments, parked = live_storm(600.0)
    reported: dict[str, Callable[[], Drive]] = {
        str(status): partial(storm, status, seconds=3 * DAY) for status in (429, 503)
    }
    day = max(refusals(run(), DAY) for run in reported.values())
    asked = {status: len(times) for status, times in moments.items()}
    figure = (
        f"requests in 10 min: {', '.join(f'{count} to a host of {status}' for status, count in asked.items())}, "
        f"then parked ({'; '.join(parked.values())}); at most {day} in a day, by an injected clock"
    )
    held = all(0 < count <= 6 for count in asked.values()) and len(parked) == len(asked) and day <= 12
    return Outcome(held=held, figure=figure)
