"""Redirects that lead nowhere: loops, chains, ever new hosts, and pages that refresh at once (H6)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from testing.recording_server import Answer, Generated, Request, Script, page, recorder, redirect
from tests.faults.live import crawl
from tests.faults.table import Outcome

MAX_HOPS = 10


def refreshing(request: Request, domain: str = "") -> Answer:
    """A page that sends its reader on: to the next number, or to a host that nobody has seen."""
    number = int(request.path.rpartition("/")[2] or 0) + 1
    host = f"http://r{number}-{request.host.partition('.')[0]}.{domain}" if domain else ""
    return Answer(body=f'<meta http-equiv="refresh" content="0; url={host}/to/{number}"><p>moved, part {number}</p>')


def asking_for_cookies(request: Request) -> Answer:
    """A page that sets another cookie each time, and sends its reader back to itself."""
    cookies = dict(request.headers).get("Cookie", "")
    return Answer(status=302, headers=[("Location", "/"), ("Set-Cookie", f"c{cookies.count('=')}=1")])


SCRIPT: Script = {
    "itself.test": {"/": redirect("/")},
    "loop.test": {"/": redirect("/a"), "/a": redirect("/b"), "/b": redirect("/")},
    "across1.test": {"/": redirect("http://across2.test/")},
    "across2.test": {"/": redirect("http://across1.test/")},
    "most.test": {"/": redirect("/hops/1"), "/hops/*": Generated("hops", {"count": MAX_HOPS})},
    "more.test": {"/": redirect("/hops/1"), "/hops/*": Generated("hops", {"count": MAX_HOPS + 1})},
    "new.test": {"/": Generated("ever_new_hosts", {"domain": "away.test"})},
    "*.away.test": {"/": Generated("ever_new_hosts", {"domain": "away.test"})},
    "refresh.test": {
        "/": Generated("tests.faults.hops:refreshing"),
        "/to/*": Generated("tests.faults.hops:refreshing"),
    },
    "refresh-loop.test": {
        "/": Answer(body='<meta http-equiv=refresh content="0;url=/b">a'),
        "/b": Answer(body='<meta http-equiv=refresh content="0;url=/">b'),
    },
    "refresh-away.test": {"/": Generated("tests.faults.hops:refreshing", {"domain": "on.test"})},
    "*.on.test": {"/to/*": Generated("tests.faults.hops:refreshing", {"domain": "on.test"})},
    "mixed.test": {
        **{f"/{number or ''}": redirect(f"/{number + 1}") for number in range(0, MAX_HOPS + 1, 2)},
        **{
            f"/{number}": Answer(body=f'<meta http-equiv=refresh content="0;url=/{number + 1}">')
            for number in range(1, MAX_HOPS + 1, 2)
        },
        f"/{MAX_HOPS + 1}": page("Never", "nobody comes here"),
    },
    "cookies.test": {"/": Generated("tests.faults.hops:asking_for_cookies")},
    "waits.test": {"/": Answer(body='<title>Waits</title><meta http-equiv=refresh content="30;url=/x"><p>solar')},
}
STARTS = {
    "itself": 1,
    "loop": 3,
    "across1": 2,
    "most": MAX_HOPS + 1,
    "more": MAX_HOPS + 1,
    "new": MAX_HOPS + 1,
    "refresh": MAX_HOPS + 1,
    "refresh-loop": 2,
    "refresh-away": MAX_HOPS + 1,
    "mixed": MAX_HOPS + 1,
    "cookies": MAX_HOPS + 1,
    "waits": 2,
}
"""Where to start, and how many requests that is worth."""
ARRIVED = {f"http://most.test/hops/{MAX_HOPS}", "http://waits.test/"}


@dataclass(frozen=True, kw_only=True)
class Hopped:
    """How many requests each start cost, robots.txt aside, and which pages were reached."""

    requests: dict[str, int]
    arrived: set[str]
    twice: int
    """How many requests repeated another one, where no cookie was the reason."""

    @property
    def wrong(self) -> dict[str, int]:
        """The starts that cost more or less than they are worth."""
        return {start: count for start, count in self.requests.items() if count != STARTS[start]}


def hops() -> Hopped:
    """Crawl from every start."""
    with recorder(SCRIPT) as w:
        starts = [w.url(f"{start}.test") for start in STARTS]
        result = crawl(w, starts, {"engine": {"timeout_seconds": 10, "lease_seconds": 16}}, seconds=40)
        hits = [hit for hit in w.hits() if hit.path != "/robots.txt"]
        hosts = Counter(_start(hit.host) for hit in hits)
        urls = Counter((hit.host, hit.path) for hit in hits)
        return Hopped(
            requests={start: hosts[start] for start in STARTS},
            arrived=result.urls,
            twice=sum(count - 1 for (host, _), count in urls.items() if host != "cookies.test"),
        )


def _start(host: str) -> str:
    """Say which start led to a host."""
    away = {".away.test": "new", ".on.test": "refresh-away", "across2.test": "across1"}
    return next((start for domain, start in away.items() if host.endswith(domain)), host.removesuffix(".test"))


def h6() -> Outcome:
    """All starts."""
    reported = hops()
    wrong = f"; wrong: {reported.wrong}" if reported.wrong else ""
    return Outcome(
        held=not reported.wrong and reported.arrived == ARRIVED and not reported.twice,
        figure=f"{len(STARTS)} starts: at most {max(reported.requests.values())} requests each, none twice "
        f"unless a cookie was set, {len(reported.arrived)} of {len(ARRIVED)} pages that exist reached{wrong}",
    )
