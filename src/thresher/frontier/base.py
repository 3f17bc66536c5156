"""The frontier interface, and what every backend guarantees.

The states of a URL, and what moves it:

                 add                    lease
    (unknown) ─────────►  waiting  ───────────────►  leased
        ▲                  ▲    ▲                     │ │ │
        │ evicted from     │    └─────────────────────┘ │ │
        │ a full host      │      retry, release,       │ │
        └──────────────────┘      or the lease ends     │ │
                                                  done ◄┘ └► failed(reason)

The states of a host: ready (may be requested now), held (as many leases open as it allows), delayed (until its next
time), parked (until it is unparked, or for a given time). A host without waiting URLs is none of these.

Promises, each with a test in `tests/contract/`:

1. Score.   `lease` returns the best waiting URL over all ready hosts; ties by age. A URL found again while it waits is
            merged by the strategy's `Merge`; its data and parent follow the winning score, the greater `depth_left`,
            the smaller `hops` and the greater kind are kept independently. Finding a leased, done or failed URL again
            changes nothing. A lease has the kind of its candidate.
2. Lease.   A leased URL belongs to one worker until the lease expires. Every lease has a fence, greater than all
            before; a commit or release with an old fence, or after the lease has expired, changes nothing.
3. Host.    Over all workers: at most `leases_per_host` leases open, and at least the host's delay between the end
            of one lease and the start of the next. An expired lease ends at its expiry time.
4. Atomic.  `add`, `lease`, `commit`, `release`, `park` and `rescore` are each applied completely or not at all.
5. Seen.    A URL enters once, identified by its 64-bit fingerprint.
6. Bounded. A host keeps at most `waiting_per_host` waiting URLs; the worst (lowest score, then youngest) are
            evicted, counted as dropped, forgotten except for a record of the eviction, and may be added again when
            found again.
7. Flat.    The cost of a step grows at most with the logarithm of the number of waiting URLs.
8. Rescore. Waiting URLs can be listed best first in bounded batches and given new scores, on condition that their
            scores are still those that the new ones were computed from.
9. Content. The first URL that was settled with a content hash stays its owner.
10. State.  What one worker stores about a host can be read by all workers until it expires.
11. Verdicts. The number of relevant pages of a host, and of the crawl, is corrected when pages are judged again.
12. Locks.  A lock (for an address that many hosts share, for example) has one holder at a time; the next one gets it
            no earlier than the delay set when it was released.
13. Identity. The first id that a crawl is given is kept. A frontier that is opened with an id that the store does not
            have raises `StoreLost`, and so does one whose store loses it later.
14. Reopen. A settled URL can be made to wait again, with no try counted, as if it had never been settled.
15. Tries.  A try is a settlement to be retried, or a lease that expired after `begin` had reported its request. After
            `MAX_TRIES` the URL has failed. A lease that expired before that is no try: perhaps no worker ever had it.
            Such leases are counted apart, and after `MAX_UNBEGUN` the URL has failed too. So a client that sends
            requests calls `begin` for each; one that settles leases without requests need not.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from struct import Struct
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import Candidate, Json, Lease, Merge, Settlement

SAME_SCORE = 1e-6
"""Scores that differ by less are equal up to rounding."""


def check_scores(scores: Iterable[float]) -> None:
    """Check scores before anything is changed.

    Raises:
        ValueError: One of them is not a finite number.
    """
    for score in scores:
        if not isfinite(score):
            raise ValueError(f"a score must be a finite number, got {score}")


def unpack_data(data: Any) -> tuple[dict[str, Json], str]:
    """Return strategy data and `for_host` of a Candidate; stores keep the one that is not empty, as JSON."""
    return ({}, data) if isinstance(data, str) else (data or {}, "")


def entry_url(url: str, mark: str) -> str:
    """Return the URL of an entry beside the page of that URL, with a fragment that canonical URLs do not have."""
    return f"{url}#{mark}"


def plain_url(url: str) -> str:
    """Return the URL to request for the URL of an entry."""
    return url.partition("#")[0]


_FLOAT32 = Struct("f")


def as_float32(score: float) -> float:
    """Round a score from -1 to 1 to a 32-bit float: the eighth digit never matters, and it takes half the space."""
    return float(_FLOAT32.unpack(_FLOAT32.pack(score))[0]) if -1.0 <= score <= 1.0 else score


def is_same_score(one: float, other: float) -> bool:
    """Return whether two scores are equal up to rounding."""
    return abs(one - other) < SAME_SCORE


__all__ = [
    "COLD_FAILURE",
    "CRAWL_WIDE",
    "LOST_WITH_FILES",
    "MAX_TRIES",
    "MAX_UNBEGUN",
    "Counts",
    "FailureCount",
    "Frontier",
    "HostEntry",
    "Merge",
    "UrlEntry",
    "UrlState",
]

MAX_TRIES = 5
"""A URL that was tried this often has failed, so a page that crashes workers is given up."""
MAX_UNBEGUN = 20
"""A URL whose lease expired this often before a request was reported has failed, so nothing is leased for ever."""
UNBEGUN = 8
"""Stores keep both counts of a URL in one small number: its tries, plus this for each lease that expired unbegun."""
MAX_FAILURES = 50_000
"""Maximum number of listed pairs of host and reason, for failed URLs and for parked hosts each."""
LOST_WITH_FILES = Reason(ReasonKind.LOST_FILES)
"""Reason of URLs that neither wait nor failed."""
CRAWL_WIDE = ""
"""Host key of shared state that is about the whole crawl."""
COLD_FAILURE = "cold storage fails"
"""Kind of the shared state that says why the cold storage failed within the last minute."""


PROVISIONAL_PAGES = 100
"""Below this many pages verdicts are provisional: the judge has too few background pages."""


class UrlState(StrEnum):
    """State of a URL."""

    WAITING = "waiting"
    LEASED = "leased"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlEntry:
    """A URL of the frontier, for display."""

    url: str
    host: str
    state: UrlState
    score: float
    hops: int
    depth_left: int
    parent: int
    tries: int
    reason: Reason = NO_REASON


class Absence(StrEnum):
    """Why a frontier does not have a URL that was found."""

    EVICTED = "evicted"
    """It was evicted from the full queue of its host, and was not added again since."""
    FILTERED = "filtered"
    """The filters of cold URLs take it for one of them."""


class HostMiscount(NamedTuple):
    """A host whose count differs from the URLs that are there.

    Args:
        host: Host key; empty for a sum over all hosts.
        kind: What is counted, such as ``waiting``.
    """

    host: str
    kind: str
    counted: int
    there: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAudit:
    """The counts of a frontier against its URLs.

    Args:
        unrecorded: Evictions by an earlier Thresher, which counted them and did not record the URLs.
    """

    miscounts: Sequence[HostMiscount] = ()
    unrecorded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEntry:
    """A host of the frontier, for display.

    Args:
        next_seconds: Seconds until it may be requested again; 0 when it may be now.
        leased: Open leases.
        parked: Why it is parked; none when it is not.
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
    parked: Reason = NO_REASON


class FailureCount(NamedTuple):
    """Number of URLs of a host that gave no page for one reason.

    Args:
        host: Host key; empty when the store did not keep it.
        reason: Reason of the settlement; none when the store did not keep it.
        waiting: Whether they wait for a parked host; otherwise they have failed permanently.
        retry_seconds: Seconds until a parked host may be requested again; None without an end, or for failed URLs.
    """

    host: str
    reason: Reason
    urls: int
    waiting: bool = False
    retry_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Statistics of the frontier; read every second, so no backend may scan its URLs for them.

    Args:
        waiting: URLs in the queue, those of parked hosts included.
        leased: URLs that are fetched now.
        done: URLs that were fetched, redirects included.
        failed: URLs that could not be fetched.
        dropped: URLs that were removed from the full queue of a host.
        pages: Pages of the crawl.
        relevant: Relevant pages, duplicates left out.
        hosts: Hosts.
        ready: Hosts that may be requested now.
        delayed: Hosts that wait for their delay.
        parked: Hosts with waiting URLs that are parked.
        pause_seconds: Seconds until URLs are leased again, after a restart of the store.
        duplicates: Pages with the text of another page; 0 where the pages cannot be read.
        expected: Sum of the relevances of the pages; null where they cannot be read.
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
    pause_seconds: int = 0
    duplicates: int = 0
    expected: float | None = None

    @property
    def provisional(self) -> bool:
        """Whether there are too few pages for reliable verdicts."""
        return self.pages < PROVISIONAL_PAGES

    @property
    def harvest_rate(self) -> float:
        """Relevant pages per page."""
        return self.relevant / self.pages if self.pages else 0.0


class Closable(Protocol):
    """What is opened, such as a frontier or a connection, and has to be closed."""

    async def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


@asynccontextmanager
async def async_closing(resource: C) -> AsyncIterator[C]:
    """Give what was opened for the duration of a block, and close it then."""
    try:
        yield resource
    finally:
        await resource.close()


class StateReader(Protocol):
    """Shared state for parts that only read it."""

    async def get_state(self, host: str, kind: str) -> str | None:
        """Return a value stored for a host; None when there is none or it has expired."""
        ...


class SharedState(StateReader, Protocol):
    """Key-value data of all workers of a crawl, with a time to live, and locks.

    robots.txt, backoff, budgets, traps, sitemaps, run control and forecasts are kept here, by host and kind.
    """

    async def content_owner(self, content: int) -> int:
        """Return the fingerprint of the URL that was settled first with this content; 0 when there is none."""
        ...

    async def put_state(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        """Store a value about a host (its robots.txt, for example) for all workers, with a TTL in seconds."""
        ...

    async def acquire_lock(self, name: str, *, seconds: float) -> float:
        """Acquire a lock that expires after `seconds`; return 0, or the seconds to wait while it is held."""
        ...

    async def release_lock(self, name: str, *, delay_seconds: float) -> None:
        """Release a lock; it can be acquired again after the delay."""
        ...


class Frontier(Protocol):
    """The queue of a crawl: scores, leases and one budget per host."""

    async def add(self, candidates: Sequence[Candidate]) -> int:
        """Add URLs, the first one being the oldest; return how many were new."""
        ...

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        """Lease up to `limit` of the best URLs of ready hosts, best first.

        With `pages`, never more than would let the crawl exceed that many pages, counting the leases of all workers.
        """
        ...

    async def begin(self, leases: Sequence[Lease]) -> None:
        """Record that the requests of leases are sent now; leases that are not held are ignored.

        Called before each request is sent; its sender does not wait for it.
        """
        ...

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Settle leases and add their links; False where the lease was no longer held."""
        ...

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        """Return leases unused: the URLs wait again, and no try is counted."""
        ...

    async def park(self, host: str, reason: Reason, *, seconds: float | None = None) -> None:
        """Stop requests to a host, for some seconds or until it is unparked."""
        ...

    async def unpark(self, host: str) -> None:
        """Allow requests to a parked host again."""
        ...

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        """Set new scores of waiting URLs, regardless of `Merge`; return how many still waited.

        With `was`, a URL whose score differs from the one given there is not changed: another worker changed it.
        """
        ...

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        """Change the number of relevant pages of hosts, after pages were judged again.

        Unknown hosts are ignored; the number is kept between 0 and the host's pages.
        """
        ...

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        """List the best waiting URLs over all hosts, parked ones included, with scores below `below`."""
        ...

    async def find(self, url: str) -> UrlEntry | None:
        """Return a URL with its state; None when it was never added, or was evicted."""
        ...

    async def counts(self) -> Counts:
        """Return statistics of the frontier."""
        ...

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        """List hosts, those with most pages first."""
        ...

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host by its key; None when it is unknown."""
        ...

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts, unordered.

        Bounded by `MAX_FAILURES` of each kind, and no backend may scan its waiting URLs for it.
        """
        ...

    async def next_hosts(self, limit: int) -> list[str]:
        """List ready hosts, in the order of their best URLs."""
        ...

    async def seconds_to_next(self) -> float | None:
        """Return the seconds until `lease` may return something; None when nothing waits or is leased.

        Hosts parked without an end do not count: waiting does not make them ready.
        """
        ...

    async def identify(self, crawl_id: str) -> str:
        """Set the id of the crawl unless the store has one; return the stored id."""
        ...

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        """Queue done and failed URLs again; return how many there were. URLs in other states are not changed."""
        ...

    async def close(self) -> None:
        """Close files and connections; nothing that was committed is lost."""
        ...


class CrawlStore(Frontier, SharedState, Protocol):
    """Interface of a backend: the frontier of a crawl and the state that its workers share."""


@runtime_checkable
class AuditedFrontier(Protocol):
    """What a stored frontier also answers, so that every URL can be accounted for."""

    async def find_all(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        """Find many URLs at once."""
        ...

    async def absences(self, urls: Sequence[str]) -> list[Absence | None]:
        """Return why URLs that are unknown are not there; None where nothing explains it."""
        ...

    async def audit(self, *, repair: bool = False) -> CountAudit:
        """Compare the counts with the URLs.

        With `repair`, the counts are corrected, and unrecorded evictions are no longer counted as such: the caller must
        add all URLs that are missing.
        """
        ...
