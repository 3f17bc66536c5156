"""What the log of the recording server proves: pure functions from hits to figures.

**Open at once.** A request is open from `start_ns` up to, not including, `end_ns`. Tolerance 0: one nanosecond of
overlap on a host counts as two at once.

**Gap.** For every request to a host but the first: its `start_ns` minus the latest `sent_ns` of all requests to that
host that started before it. The client learns of the end of a response after `sent_ns` and sends the next request
before the recording server reads it at `start_ns`; so a client that waits d seconds shows a gap of at least d,
strictly, and a gap below d proves that it did not wait. `end_ns` would be the wrong mark: under load the kernel runs
the client first and lets the recording server look at its clock some milliseconds later. Requests for robots.txt count
like any other. After a request that the client broke off the gap counts from the moment the recording server learnt of
it, which may be some milliseconds late: such a gap may read that much too short, never too long.

**Refetch.** A second answer to a URL already answered. It is excused by a kill that fell between the start of the
earlier request and the start of the later one; the first such kill has to answer for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from math import inf

from testing.recording_server.log import Hit

NANOSECONDS = 1_000_000_000
ROBOTS_PATH = "/robots.txt"


@dataclass(frozen=True, slots=True)
class Gap:
    """The time that a host was left alone before a request; negative when an earlier one was still open."""

    host: str
    seconds: float
    before: Hit
    after: Hit


@dataclass(frozen=True, slots=True)
class Repeat:
    """A page asked for again; `kill` is the number of the kill that excuses it, None when there is none."""

    before: Hit
    after: Hit
    kill: int | None


@dataclass(frozen=True, slots=True)
class HostReport:
    """How one host was treated; the shortest gap is infinite when it was asked once only."""

    host: str
    requests: int
    open_at_once: int
    shortest_gap_seconds: float
    violations: int


@dataclass(frozen=True, slots=True)
class Report:
    """How all hosts were treated, against one delay."""

    delay_seconds: float
    hosts: dict[str, HostReport]

    @property
    def requests(self) -> int:
        """Requests to all hosts, robots.txt included."""
        return sum(host.requests for host in self.hosts.values())

    @property
    def gaps(self) -> int:
        """How often a host was asked again."""
        return self.requests - len(self.hosts)

    @property
    def open_at_once(self) -> int:
        """The most requests that were open at once on one host."""
        return max((host.open_at_once for host in self.hosts.values()), default=0)

    @property
    def shortest_gap_seconds(self) -> float:
        """The shortest of all gaps."""
        return min((host.shortest_gap_seconds for host in self.hosts.values()), default=inf)

    @property
    def violations(self) -> int:
        """Gaps shorter than the delay."""
        return sum(host.violations for host in self.hosts.values())


def report(hits: Iterable[Hit], delay_seconds: float = 0.0, *, by_address: bool = False) -> Report:
    """Return how politely hosts were treated, or, `by_address`, the addresses that they share."""
    if by_address:
        hits = [replace(hit, host=hit.address or hit.host) for hit in hits]
    return Report(delay_seconds, {host: _of_host(host, group, delay_seconds) for host, group in _by_host(hits).items()})


def _of_host(host: str, group: Sequence[Hit], delay_seconds: float) -> HostReport:
    measured = gaps(group)
    return HostReport(
        host=host,
        requests=len(group),
        open_at_once=max_parallel(group)[host],
        shortest_gap_seconds=min((gap.seconds for gap in measured), default=inf),
        violations=len(violations(measured, delay_seconds)),
    )


def pages(hits: Iterable[Hit]) -> list[Hit]:
    """Return the requests that were answered with a page."""
    return [hit for hit in hits if hit.status == 200 and hit.path != ROBOTS_PATH]


def lost(keys: Set[str], hits: Iterable[Hit]) -> set[str]:
    """Return the pages that nobody got an answer for."""
    return set(keys) - {hit.key for hit in pages(hits)}


def max_parallel(hits: Iterable[Hit]) -> dict[str, int]:
    """Return the most requests open at once, by host."""
    most = {}
    for host, group in _by_host(hits).items():
        events = sorted([(hit.start_ns, 1) for hit in group] + [(hit.end_ns, -1) for hit in group])
        most[host] = _highest(change for _, change in events)
    return most


def gaps(hits: Iterable[Hit]) -> list[Gap]:
    """Return the gap before every request but the first of its host."""
    return [gap for group in _by_host(hits).values() for gap in _gaps_of_host(group)]


def violations(measured: Iterable[Gap], delay_seconds: float) -> list[Gap]:
    """Return the gaps that are shorter than the delay, by however little."""
    return [gap for gap in measured if gap.seconds < delay_seconds]


def in_flight(hits: Iterable[Hit], at_ns: int) -> int:
    """Return how many requests were open at a moment."""
    return sum(hit.start_ns <= at_ns < hit.end_ns for hit in hits)


def refetches(hits: Iterable[Hit], kills_ns: Sequence[int] = ()) -> list[Repeat]:
    """Return every repeated answer with the kill that excuses it; `kills_ns` are moments in their order."""
    return repeats(pages(hits), kills_ns)


def repeats(hits: Iterable[Hit], kills_ns: Sequence[int] = ()) -> list[Repeat]:
    """Return every request for what was requested before, answered or not."""
    last: dict[str, Hit] = {}
    found = []
    for hit in sorted(hits, key=lambda hit: hit.start_ns):
        if before := last.get(hit.key):
            found.append(Repeat(before, hit, _first_between(kills_ns, before.start_ns, hit.start_ns)))
        last[hit.key] = hit
    return found


def pages_per_second(hits: Iterable[Hit]) -> float:
    """Return the rate from the first start to the last end."""
    answered = pages(hits)
    if not answered:
        return 0.0
    seconds = (max(hit.end_ns for hit in answered) - min(hit.start_ns for hit in answered)) / NANOSECONDS
    return len(answered) / seconds


def _by_host(hits: Iterable[Hit]) -> dict[str, list[Hit]]:
    groups: dict[str, list[Hit]] = defaultdict(list)
    for hit in sorted(hits, key=lambda hit: hit.start_ns):
        groups[hit.host].append(hit)
    return groups


def _highest(changes: Iterable[int]) -> int:
    level = highest = 0
    for change in changes:  # at equal times -1 sorts before 1: an end at the same nanosecond comes first
        level += change
        highest = max(highest, level)
    return highest


def _gaps_of_host(group: Sequence[Hit]) -> Iterator[Gap]:
    latest = group[0]
    for hit in group[1:]:
        yield Gap(hit.host, (hit.start_ns - latest.sent_ns) / NANOSECONDS, latest, hit)
        latest = max(latest, hit, key=lambda each: each.sent_ns)


def _first_between(kills_ns: Sequence[int], start_ns: int, end_ns: int) -> int | None:
    return next((number for number, kill_ns in enumerate(kills_ns) if start_ns <= kill_ns <= end_ns), None)
