"""Why URLs failed or wait: the kind of each reason, a plain message for it, and all failures of a crawl in groups.

The reason in a settlement is text with parts from untrusted sources: a content type, an address. The label of a metric
must come from a closed set, or one hostile site fills the memory of the collector; that set is `FailureKind`.

`failure_report` is the one place where reasons are grouped: the closing summary of a run, ``status``, ``why``, the
dashboard and the Python API show what it returns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol

from thresher.frontier.base import LOST_WITH_FILES, Counts, FailureCount
from thresher.records import BLOCKED, OPTED_OUT, BlockKind

EXAMPLE_HOSTS = 3
MOST_GROUPS = 50
"""Groups that are listed in JSON at most."""
UNLISTED = "reason not listed"
_LONGEST_WORDS = 100


class FailureKind(StrEnum):
    """The kind of a failure; labels of a metric."""

    TIMEOUT = "timeout"
    SLOW = "slow"
    CONNECTION = "connection"
    NO_SUCH_HOST = "no_such_host"
    PROTOCOL = "protocol"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    REDIRECT = "redirect"
    NOT_A_PAGE = "not_a_page"
    SOFT_404 = "soft_404"
    BLOCKED = "blocked"
    OPTED_OUT = "opted_out"
    ROBOTS = "robots"
    ADDRESS = "address"
    TRAP = "trap"
    SCOPE = "scope"
    UNPARSABLE = "unparsable"
    OTHER = "other"


class Cause(StrEnum):
    """What keeps URLs from being fetched.

    UNREACHABLE: the host does not answer. BUSY: it answers that it is overloaded. BLOCKED: it answers with block pages.
    RULES: the crawl's own limits, or its user. PAGE: the page itself; a retry would have the same result.
    """

    UNREACHABLE = "unreachable"
    BUSY = "busy"
    BLOCKED = "blocked"
    RULES = "rules"
    PAGE = "page"


_BEGINNINGS = {
    "timeout": (FailureKind.TIMEOUT, "timeout"),
    "slower than others": (FailureKind.SLOW, "too slow"),
    "connection refused": (FailureKind.CONNECTION, "connection refused"),
    "connection failed": (FailureKind.CONNECTION, "connection failed"),
    "its certificate ": (FailureKind.CONNECTION, ""),
    "no TLS version": (FailureKind.CONNECTION, ""),
    "sends a header line": (FailureKind.PROTOCOL, ""),
    "no such host": (FailureKind.NO_SUCH_HOST, "DNS lookup failed"),
    "not http": (FailureKind.PROTOCOL, "not an http URL"),
    "not a valid URL": (FailureKind.PROTOCOL, "not a valid URL"),
    "does not speak HTTP": (FailureKind.PROTOCOL, "not an HTTP server"),
    "too many headers": (FailureKind.PROTOCOL, "too many headers"),
    "cannot be decompressed": (FailureKind.PROTOCOL, "cannot be decompressed"),
    "truncated": (FailureKind.PROTOCOL, "truncated before its first byte"),
    "http 3": (FailureKind.REDIRECT, ""),
    "http 4": (FailureKind.HTTP_4XX, ""),
    "http 5": (FailureKind.HTTP_5XX, ""),
    "redirected to ": (FailureKind.REDIRECT, "redirected to a URL outside the crawl"),
    "redirect": (FailureKind.REDIRECT, ""),
    "refreshes to ": (FailureKind.REDIRECT, "redirected to a URL outside the crawl"),
    "more than 10 redirects": (FailureKind.REDIRECT, "more than 10 redirects"),
    "not a page": (FailureKind.NOT_A_PAGE, ""),
    "soft 404": (FailureKind.SOFT_404, "error page without an error status (soft 404)"),
    BLOCKED: (FailureKind.BLOCKED, ""),
    OPTED_OUT: (FailureKind.OPTED_OUT, "AI opt-out of the site"),
    "robots.txt": (FailureKind.ROBOTS, ""),
    "refused: ": (FailureKind.ADDRESS, ""),
    "a maze: ": (FailureKind.TRAP, "crawler trap"),
    "out of scope: ": (FailureKind.SCOPE, "out of scope"),
    "cannot be parsed": (FailureKind.UNPARSABLE, ""),
    "broke the line": (FailureKind.UNPARSABLE, "processing failed, see crawl.log.jsonl"),
    "lost with its worker": (FailureKind.OTHER, "worker lost"),
    "its lease expired": (FailureKind.OTHER, "leased again and again, and never requested"),
    "blocked by hand": (FailureKind.OTHER, "blocked by the user"),
    "gave ": (FailureKind.OTHER, "page budget of the host used up"),
    "asks for a delay": (FailureKind.OTHER, "crawl delay longer than allowed"),
    "asked a moment ago": (FailureKind.OTHER, "politeness delay"),
}
_WITHIN = {" pages like ": (FailureKind.TRAP, "too many similar URLs")}
_RULES = ("blocked by hand", "gave ", "asks for a delay", "asked a moment ago", "robots.txt is on ")
_SILENT = {
    FailureKind.TIMEOUT,
    FailureKind.SLOW,
    FailureKind.CONNECTION,
    FailureKind.NO_SUCH_HOST,
    FailureKind.PROTOCOL,
}
_WRAPPED = re.compile(r"(?:no page in \d+ tries|robots\.txt cannot be read): ")
_BUSY = re.compile(r"http (?:408|425|429|5\d\d)\b")
_STATUS = re.compile(r"^http (\d+)(?:, .*)?")
_REPEATED = re.compile(r", \d+ times in a row$")


def kind_of(reason: str) -> FailureKind:
    """Return the kind of a failure, by the beginning of its reason."""
    return _known(reason)[0]


def block_kind_of(reason: str) -> BlockKind | None:
    """Return the kind of block page that a reason is about; None when it is about something else."""
    if not reason.startswith(BLOCKED):
        return None
    return next((kind for kind in BlockKind if reason.startswith(kind.reason)), None)


def _known(reason: str) -> tuple[FailureKind, str]:
    for words, known in _BEGINNINGS.items():
        if reason.startswith(words):
            return known
    for words, known in _WITHIN.items():
        if words in reason:
            return known
    if reason.isalpha() and reason[:1].isupper():  # the name of an exception: the connection failed in another way
        return FailureKind.CONNECTION, f"connection failed ({reason})"
    return FailureKind.OTHER, ""


@lru_cache(maxsize=4096)
def plain_reason(reason: str) -> str:
    """Return a plain message why a URL failed or waits; reasons that mean the same have the same message."""
    if reason == "robots.txt":
        return "disallowed by robots.txt"
    inner = _REPEATED.sub("", _WRAPPED.sub("", reason))
    if reason.startswith("robots.txt cannot be read: ") and kind_of(inner) not in _SILENT:
        return f"robots.txt cannot be read ({plain_reason(inner)})"
    if reason.startswith("robots.txt is on "):
        return "waiting for the robots.txt of another host"
    if kind := block_kind_of(inner):
        return f"{kind.reason}, several in a row" if inner != reason else kind.reason
    if inner.startswith("not a page: "):
        return f"not a web page ({inner.removeprefix('not a page: ')})"
    words = _known(inner)[1] or _STATUS.sub(r"HTTP \1", inner)
    return words[:_LONGEST_WORDS] or UNLISTED


@lru_cache(maxsize=4096)
def cause_of(reason: str) -> Cause:
    """Return what a reason is due to: the host, the crawl's own rules or the page."""
    inner = _WRAPPED.sub("", reason)
    if inner.startswith(_RULES) or " pages like " in inner or inner.startswith("a maze: "):
        return Cause.RULES
    if inner.startswith(BLOCKED):
        return Cause.BLOCKED
    if kind_of(inner) in _SILENT or (inner != reason and not _BUSY.match(inner)):
        return Cause.UNREACHABLE
    return Cause.BUSY if _BUSY.match(inner) else Cause.PAGE


@dataclass(frozen=True, kw_only=True)
class FailureGroup:
    """The URLs that failed or wait for one reason.

    Args:
        reason: A plain message.
        urls: Number of URLs; those that `failed` for good and those that are `waiting` for their host.
        hosts: Number of hosts.
        examples: Some of the hosts, those with most URLs first.
        retry_seconds: Until the first retry of a waiting one; None when there is none without the user.
    """

    reason: str
    cause: Cause
    urls: int
    failed: int
    waiting: int
    hosts: int
    examples: list[str]
    retry_seconds: float | None

    def __str__(self) -> str:
        where = f" on {some(self.hosts, 'host')}" if self.hosts else ""
        more = ", …" if self.hosts > len(self.examples) else ""
        named = f" ({', '.join(self.examples)}{more})" if self.examples else ""
        return f"{some(self.urls, 'URL')}{where}: {self.reason}{named}{self._retry}"

    @property
    def _retry(self) -> str:
        if not self.waiting or self.retry_seconds is None:
            return ""
        which = "next try" if not self.failed else f"next try of {self.waiting:,}"
        return f", {which} in {duration(self.retry_seconds)}"


@dataclass(frozen=True, kw_only=True)
class FailureReport:
    """All failures of a crawl in groups, those with most URLs first, those by the crawl's own rules last."""

    groups: Sequence[FailureGroup] = ()

    def top(self, number: int = 3) -> list[FailureGroup]:
        """Return the most frequent failures; those by the crawl's own rules come last."""
        return [group for group in self.groups if group.failed or group.cause is not Cause.RULES][:number]

    def lines(self, number: int = 3) -> list[str]:
        return [str(group) for group in self.top(number)]

    @property
    def has_silent_hosts(self) -> bool:
        """Whether URLs wait for hosts that do not answer or are busy."""
        return any(group.waiting for group in self.groups if group.cause in (Cause.UNREACHABLE, Cause.BUSY))

    @property
    def blocked(self) -> dict[str, int]:
        """How many URLs gave a block page, by its kind; URLs that are tried again do not count."""
        kinds = [(block_kind_of(group.reason), group.failed) for group in self.groups]
        return {str(kind): failed for kind, failed in kinds if kind and failed}

    def remaining(self) -> str:
        """Return a phrase about the URLs that wait and their hosts; empty when none waits."""
        waiting = _by_adjective(group for group in self.groups if group.waiting)
        if not waiting:
            return ""
        numbers = [sum(group.waiting for group in groups) for groups in waiting.values()]
        head = f"{some(sum(numbers), 'URL')} {'remains' if sum(numbers) == 1 else 'remain'}"
        parts = [_remaining(adjective, groups) for adjective, groups in waiting.items()]
        if len(parts) == 1:
            return f"{head} {parts[0]}"
        listed = ", ".join(f"{number:,} {part}" for number, part in zip(numbers, parts, strict=True))
        return f"{head}: {listed}"

    def advice(self) -> str:
        """Return a sentence about when to run again to retry the waiting URLs; empty when none waits."""
        waiting = [group for group in self.groups if group.waiting]
        seconds = [group.retry_seconds for group in waiting if group.retry_seconds is not None]
        if not waiting:
            return ""
        if not seconds:
            return "They stay parked until released: thresher hosts."
        return "Re-run to retry." if min(seconds) < 1 else f"Re-run in {duration(min(seconds))} to retry."

    def as_json(self) -> list[dict[str, Any]]:
        """Return the groups as plain values, each with its line of text."""
        return [{**asdict(group), "words": str(group)} for group in self.groups[:MOST_GROUPS]]


class _Counted(Protocol):
    async def counts(self) -> Counts: ...

    async def failures(self) -> list[FailureCount]: ...


async def failure_report(frontier: _Counted) -> FailureReport:
    """Group the failures of a crawl by reason; failed URLs whose reason is not listed are a group of their own."""
    counts = await frontier.failures()
    listed = sum(count.urls for count in counts if not count.waiting and count.reason != LOST_WITH_FILES)
    unlisted = (await frontier.counts()).failed - listed
    if unlisted > 0:
        counts = [*counts, FailureCount(host="", reason="", urls=unlisted)]
    return grouped(counts)


def grouped(counts: Iterable[FailureCount]) -> FailureReport:
    """Group failures by their plain messages; URLs that were lost come first, because the user can get them back."""
    by_reason: dict[tuple[str, Cause], list[FailureCount]] = defaultdict(list)
    for count in counts:
        by_reason[plain_reason(count.reason), cause_of(count.reason)].append(count)
    groups = [_group(reason, cause, listed) for (reason, cause), listed in by_reason.items()]
    return FailureReport(
        groups=sorted(
            groups,
            key=lambda group: (
                group.reason != LOST_WITH_FILES,
                group.cause is Cause.RULES,
                -group.urls,
                group.reason,
            ),
        )
    )


def _group(reason: str, cause: Cause, counts: Sequence[FailureCount]) -> FailureGroup:
    hosts: dict[str, int] = defaultdict(int)
    for count in counts:
        if count.host:
            hosts[count.host] += count.urls
    waiting = sum(count.urls for count in counts if count.waiting)
    urls = sum(count.urls for count in counts)
    return FailureGroup(
        reason=reason,
        cause=cause,
        urls=urls,
        failed=urls - waiting,
        waiting=waiting,
        hosts=len(hosts),
        examples=sorted(hosts, key=lambda host: (-hosts[host], host))[:EXAMPLE_HOSTS],
        retry_seconds=min((count.retry_seconds for count in counts if count.retry_seconds is not None), default=None),
    )


_ADJECTIVES = {
    Cause.UNREACHABLE: "unreachable",
    Cause.BUSY: "busy",
    Cause.BLOCKED: "blocking",
    Cause.RULES: "parked",
    Cause.PAGE: "parked",
}


def _by_adjective(groups: Iterable[FailureGroup]) -> dict[str, list[FailureGroup]]:
    found: dict[str, list[FailureGroup]] = defaultdict(list)
    for group in groups:
        found[_ADJECTIVES[group.cause]].append(group)
    return found


def _remaining(adjective: str, groups: Sequence[FailureGroup]) -> str:
    hosts = sum(group.hosts for group in groups)
    reasons = [group.reason for group in groups]
    named = "; ".join(reasons[:EXAMPLE_HOSTS]) + ("; …" if len(reasons) > EXAMPLE_HOSTS else "")
    return f"on {some(hosts, f'{adjective} host')} ({named})"


def some(number: int, what: str) -> str:
    """Format a number with its noun, in the plural where needed."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def duration(seconds: float) -> str:
    """Format a time in its largest fitting unit, rounded up, so that what is due after it is due by then."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds > 2 * length or (unit == "min" and seconds > length):
            return f"{-(-seconds // length):.0f} {unit}"
    return f"{-(-seconds // 1):.0f} s"
