"""Tarpits among good hosts (H3): slow-loris heads and bodies that come drop by drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from testing.recording_server import Hit, Script, drip, hang, page, recorder, slow_head
from tests.faults.live import crawl
from tests.faults.table import Outcome

MIN_SHARE = 0.8
SLOTS = 32
DELAY_SECONDS = 0.25


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How fast good hosts were crawled, with tarpits among them and without.

    Args:
        alone, among: Pages a second.
        tarpit_requests: Requests that tarpits got.
    """

    alone: float
    among: float
    tarpits: int
    tarpit_requests: int

    @property
    def share(self) -> float:
        """What is left of the speed."""
        return self.among / self.alone


def tarpits(number: int, *, good_hosts: int, pages_each: int, seconds: float, settings: dict[str, Any]) -> Pace:
    """Crawl good hosts, then the same among `number` tarpits, each for `seconds` at most."""
    good = {f"good{host}.test": _good(host, pages_each) for host in range(good_hosts)}
    slow = {f"slow{host}.test": _TARPITS[host % len(_TARPITS)] for host in range(number)}
    alone, _ = _crawled(good, [*good], settings, seconds)
    mixed = [name for pair in zip(_spread(good, number), slow, strict=True) for name in pair if name]
    among, hits = _crawled({**good, **slow}, mixed, settings, seconds)
    tarpit_hits = [hit for hit in hits if hit.host.startswith("slow")]
    return Pace(
        alone=alone,
        among=among,
        tarpits=number,
        tarpit_requests=len(tarpit_hits),
    )


SPARE_PAGES = 8

_TARPITS = [
    {"/robots.txt": slow_head(1), "/": slow_head(1)},
    {"/": slow_head(1)},
    {"/": drip(1)},
    {"/robots.txt": drip(1), "/": hang()},
]


def _good(host: int, pages: int) -> dict[str, Any]:
    links = [f"/{number}" for number in range(pages - 1)]
    site = {"/": page(f"Host {host}", f"solar cells of host {host}", links)}
    return site | {link: page(f"Page {link}", f"solar cell {link} of host {host}") for link in links}


def _spread(good: dict[str, Any], number: int) -> list[str]:
    """Put the good hosts among `number` places, evenly; at least one each."""
    step = max(1, number // len(good))
    names = iter(good)
    return [next(names, "") if place % step == 0 else "" for place in range(number)]


def _crawled(script: Script, hosts: Sequence[str], settings: dict[str, Any], seconds: float) -> tuple[float, list[Hit]]:
    """Crawl until every good page is taken; return how many of them a second, and all requests.

    A limit of exactly the good pages would let the last of them wait for a tarpit, which might yet become a page.
    """
    good = sum(len(paths) for host, paths in script.items() if host.startswith("good")) + SPARE_PAGES
    config = {"politeness": {"delay_seconds": DELAY_SECONDS}, "engine": {"concurrency": SLOTS}, **settings}
    with recorder(script) as w:
        crawl(w, [w.url(host) for host in hosts], config, pages=good, seconds=seconds)
        hits = w.hits()
    taken = [hit for hit in hits if hit.host.startswith("good")]
    return len(taken) / ((max(hit.end_ns for hit in taken) - min(hit.start_ns for hit in hits)) / 1e9), hits


def h3() -> Outcome:
    """200 tarpits among 20 good hosts, with the times of a crawl."""
    engine = {"concurrency": SLOTS, "timeout_seconds": 30.0, "lease_seconds": 60.0}
    reported = tarpits(200, good_hosts=20, pages_each=100, seconds=75, settings={"engine": engine})
    return Outcome(
        held=reported.share >= MIN_SHARE,
        figure=f"2,000 good pages: {reported.among:.1f} pages/s against {reported.alone:.1f} without tarpits: "
        f"{reported.share:.0%}; {reported.tarpits} tarpits got {reported.tarpit_requests} requests",
    )
