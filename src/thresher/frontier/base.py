"""What every frontier promises.

The states of a URL, and what moves it:

                 add                    lease
    (unknown) ─────────►  waiting  ───────────────►  leased
        ▲                  ▲    ▲                     │ │ │
        │ pushed out       │    └─────────────────────┘ │ │
        │ of a full host   │      retry, release,       │ │
        └──────────────────┘      or the lease ends     │ │
                                                  done ◄┘ └► failed(reason)

The states of a host: ready (may be asked now), held (as many leases open as it allows), delayed (until its next
time), parked (until somebody unparks it, or for a given time). A host without waiting URLs is none of these.

Promises, each with a test in `tests/contract/`:

1. Score.   `lease` hands out the best waiting URL over all hosts that may be asked now; ties by age. A URL found
            again while it waits is merged as the strategy says (`Merge`); carry and parent follow the winning score,
            the greater `depth_left` and the smaller `hops` are kept on their own. What is leased, done or failed
            is not changed by finding it again.
2. Lease.   A leased URL is nobody else's until its time ends. Every lease has a fence, greater than any before it;
            a commit or release with an old fence, or after the lease's end, changes nothing.
3. Host.    Over all workers: at most `leases_per_host` leases open, and at least the host's delay between the end
            of one lease and the start of the next. An expired lease counts as ended at its end.
4. Atomic.  `add`, `lease`, `commit`, `release`, `park` and `rescore` each happen whole or not at all.
5. Seen.    A URL enters once, by its 64-bit fingerprint.
6. Bounded. A host keeps at most `waiting_per_host` waiting URLs; the worst (lowest score, then youngest) are
            pushed out, counted as dropped, forgotten, and may return when found again.
7. Flat.    The cost of a step grows at most with the logarithm of the number of waiting URLs.
8. Rescore. Waiting URLs can be listed best first in bounded batches and given new scores, on the condition that
            their scores are still those that the new ones were made from.
9. Content. The first URL that was settled with a content hash stays its owner.
10. Notes.  What one worker learned about a host is there for all of them until its time ends.
11. Verdicts. The number of relevant pages of a host, and of the crawl, follows the pages that are judged again.
12. Gates.  Through a gate (of an address that many hosts share, say) goes one at a time, the next not before the time
            that was set when the last one left.
13. Identity. The first id that a crawl is given stays. A frontier that is opened with an id that the store does not
            have raises `StoreLost`, and so does one whose store loses it later.
14. Reopen. A settled URL can be made to wait again, with no try counted, as if it had never been settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from thresher.records import RENDERED, Candidate, Lease, Merge, Settlement

__all__ = [
    "EVERYBODY",
    "MAX_TRIES",
    "PAGE_REASONS",
    "Counts",
    "FailureCount",
    "Frontier",
    "HostEntry",
    "Merge",
    "UrlEntry",
    "UrlState",
]

MAX_TRIES = 5
"""A URL whose lease was lost or retried this often has failed; a page that kills workers cannot do so forever."""
MOST_FAILURES = 50_000
"""How many pairs of host and reason are listed at most, of failed URLs and of parked hosts each."""
PAGE_REASONS = ("", "truncated", RENDERED)
"""The reasons with which a page is settled as done; redirects and the like have others."""
EVERYBODY = ""
"""No host: what is remembered of it is about the whole crawl, and told to all who work for it."""


PROVISIONAL_PAGES = 100
"""Below this many pages verdicts are provisional: the judge knows too little of what is ordinary."""


class UrlState(StrEnum):
    """Where a URL stands."""

    WAITING = "waiting"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlEntry:
    """One URL as the frontier knows it, for people to read."""

    url: str
    host: str
    state: UrlState
    score: float
    hops: int
    depth_left: int
    parent: int
    tries: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEntry:
    """One host as the frontier knows it, for people to read.

    Args:
        next_seconds: Until it may be asked again; 0 when it may be asked now.
        leased: How many leases are open.
        parked: Why it is parked; empty when it is not.
    """

    host: str
    waiting: int
    leased: int
    pages: int
    relevant: int
    failed: int
    delay_seconds: float
    next_seconds: float
    best: float | None
    parked: str = ""


class FailureCount(NamedTuple):
    """How many URLs of a host brought no page for one reason.

    Args:
        host: The host key; empty when the store did not keep it.
        reason: Why, as it was settled; empty when the store did not keep it.
        waiting: Whether they wait for a parked host; else they have failed for good.
        retry_seconds: Until a parked host may be asked again; None when it stays parked, or the URLs have failed.
    """

    host: str
    reason: str
    urls: int
    waiting: bool = False
    retry_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The frontier in numbers; asked every second, so no backend may walk its URLs for it.

    Args:
        waiting: URLs in the queue, those of parked hosts included.
        dropped: URLs pushed out of full hosts.
        pages: Pages of the crawl.
        relevant: Relevant pages, duplicates left out.
        ready: Hosts that may be asked now.
        delayed: Hosts with waiting URLs that wait for their next time.
        parked: Hosts with waiting URLs that are parked.
        duplicates: Pages with the text of another one; 0 where only the frontier was asked, which does not know.
        expected: The sum of the relevances of the pages; None where only the frontier was asked.
    """

    waiting: int = 0
    leased: int = 0
    done: int = 0
    failed: int = 0
    dropped: int = 0
    pages: int = 0
    relevant: int = 0
    hosts: int = 0
    ready: int = 0
    delayed: int = 0
    parked: int = 0
    duplicates: int = 0
    expected: float | None = None

    @classmethod
    def of(cls, row: Iterable[int]) -> Counts:
        """Read the numbers as a backend gives them: in the order above, up to the parked hosts."""
        return cls(**dict(zip(cls.__slots__[:-2], row, strict=True)))

    @property
    def is_provisional(self) -> bool:
        """Whether the judge has seen too few pages for verdicts that last."""
        return self.pages < PROVISIONAL_PAGES

    @property
    def harvest_rate(self) -> float:
        """The share of relevant pages."""
        return self.relevant / self.pages if self.pages else 0.0


class Frontier(Protocol):
    """The queue of a crawl: scores, leases and one budget per host."""

    async def add(self, candidates: Sequence[Candidate]) -> int:
        """Let URLs in, in this order of age; return how many were new."""
        ...

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        """Hand out up to `limit` of the best URLs of hosts that may be asked now, best first.

        With `pages`, never more than could bring the crawl above that many pages, whatever other workers hold.
        """
        ...

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Settle leases and let their links in; False where the lease was no longer held."""
        ...

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        """Give leases back unused: the URLs wait again with no try counted."""
        ...

    async def park(self, host: str, reason: str, *, seconds: float | None = None) -> None:
        """Ask a host no more, for some seconds or until it is unparked."""
        ...

    async def unpark(self, host: str) -> None:
        """Let a parked host be asked again."""
        ...

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        """Give waiting URLs new scores whatever the merge; return how many still waited.

        With `was`, a URL whose score is no longer what it says is left as it is: somebody else knew better.
        """
        ...

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        """Add to the number of relevant pages of hosts, after pages were judged again.

        A host that is unknown is left out; the number stays between 0 and the host's pages.
        """
        ...

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        """List the best waiting URLs over all hosts, parked ones included, with scores below `below`."""
        ...

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands; None when it was never let in (or was pushed out)."""
        ...

    async def counts(self) -> Counts:
        """Return the frontier in numbers."""
        ...

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        """List hosts, those with most pages first."""
        ...

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host by its key; None when it is unknown."""
        ...

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts, in no order.

        Bounded by `MOST_FAILURES` of each kind, and no backend may walk its waiting URLs for it.
        """
        ...

    async def next_hosts(self, limit: int) -> list[str]:
        """List hosts that may be asked now, in the order of their best URLs."""
        ...

    async def seconds_to_next(self) -> float | None:
        """Return the seconds until `lease` may have something to hand out; None when nothing waits or is leased.

        Hosts parked without an end do not count: nothing comes from them by waiting.
        """
        ...

    async def first_with(self, content: int) -> int:
        """Return the fingerprint of the URL whose settlement brought this content first; 0 when none did."""
        ...

    async def remember(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        """Keep what a worker learned about a host (its robots.txt, say) for all workers, for some seconds."""
        ...

    async def recall(self, host: str, kind: str) -> str | None:
        """Return what was remembered about a host, unless its time is over."""
        ...

    async def enter(self, gate: str, *, seconds: float) -> float:
        """Go through a gate, and shut it for so long unless `leave` is called; the seconds to wait when it is shut."""
        ...

    async def leave(self, gate: str, *, delay_seconds: float) -> None:
        """Let the gate open again after a delay."""
        ...

    async def identify(self, crawl_id: str) -> str:
        """Keep the id of the crawl unless the store has one; return the one that it has."""
        ...

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        """Let URLs that are done or failed wait again; return how many were. Others stay as they are."""
        ...

    async def close(self) -> None:
        """Let go of files and connections; nothing that was committed is lost."""
        ...
