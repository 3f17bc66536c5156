"""Why URLs failed or wait: the kind of each reason, a plain message for it, and all failures of a crawl in groups.

The details of a reason have parts from untrusted sources: a content type, an address. The label of a metric must come
from a closed set, or one hostile site fills the memory of the collector; that set is `FailureKind`.

`failure_report` is the one place where reasons are grouped: the closing summary of a run, ``status``, ``why``, the
dashboard and the Python API show what it returns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from thresher.frontier.base import LOST_WITH_FILES, Counts, FailureCount
from thresher.locale.translation import COMMA, SEMICOLON, Translatable, _, joined
from thresher.reasons.reason import MESSAGES, NO_REASON, Reason, ReasonKind, describe
from thresher.records import BlockKind

EXAMPLE_HOSTS = 3
MAX_GROUPS = 50
"""Groups that are listed in JSON at most."""
UNLISTED = _("reason not listed")
_MAX_MESSAGE_CHARACTERS = 100


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


_FAILURE_KINDS: Mapping[ReasonKind, FailureKind] = {
    ReasonKind.TIMEOUT: FailureKind.TIMEOUT,
    ReasonKind.SLOW: FailureKind.SLOW,
    ReasonKind.CONNECTION_REFUSED: FailureKind.CONNECTION,
    ReasonKind.CONNECTION: FailureKind.CONNECTION,
    ReasonKind.EXCEPTION: FailureKind.CONNECTION,
    ReasonKind.CERTIFICATE: FailureKind.CONNECTION,
    ReasonKind.TLS: FailureKind.CONNECTION,
    ReasonKind.DNS: FailureKind.NO_SUCH_HOST,
    ReasonKind.DNS_OR_PROXY: FailureKind.NO_SUCH_HOST,
    ReasonKind.HEADER_LINE: FailureKind.PROTOCOL,
    ReasonKind.UNSUPPORTED_URL: FailureKind.PROTOCOL,
    ReasonKind.INVALID_URL: FailureKind.PROTOCOL,
    ReasonKind.NOT_HTTP: FailureKind.PROTOCOL,
    ReasonKind.HEAD_TOO_LONG: FailureKind.PROTOCOL,
    ReasonKind.COMPRESSION: FailureKind.PROTOCOL,
    ReasonKind.NO_BODY: FailureKind.PROTOCOL,
    ReasonKind.TRUNCATED: FailureKind.PROTOCOL,
    ReasonKind.BAD_REDIRECT: FailureKind.REDIRECT,
    ReasonKind.REDIRECT: FailureKind.REDIRECT,
    ReasonKind.REFRESH: FailureKind.REDIRECT,
    ReasonKind.REDIRECT_TO_ITSELF: FailureKind.REDIRECT,
    ReasonKind.TWO_ADDRESSES: FailureKind.REDIRECT,
    ReasonKind.TOO_MANY_REDIRECTS: FailureKind.REDIRECT,
    ReasonKind.NOT_A_PAGE: FailureKind.NOT_A_PAGE,
    ReasonKind.SOFT_404: FailureKind.SOFT_404,
    ReasonKind.BLOCK_PAGE: FailureKind.BLOCKED,
    ReasonKind.OPTED_OUT: FailureKind.OPTED_OUT,
    ReasonKind.ROBOTS: FailureKind.ROBOTS,
    ReasonKind.ROBOTS_UNREADABLE: FailureKind.ROBOTS,
    ReasonKind.ROBOTS_ELSEWHERE: FailureKind.ROBOTS,
    ReasonKind.PRIVATE_ADDRESS: FailureKind.ADDRESS,
    ReasonKind.REFUSED_ADDRESS: FailureKind.ADDRESS,
    ReasonKind.MAZE: FailureKind.TRAP,
    ReasonKind.NOTHING_NEW: FailureKind.TRAP,
    ReasonKind.VARIANTS: FailureKind.TRAP,
    ReasonKind.FACETS: FailureKind.TRAP,
    ReasonKind.SCOPE: FailureKind.SCOPE,
    ReasonKind.UNPARSABLE: FailureKind.UNPARSABLE,
    ReasonKind.PROCESSING: FailureKind.UNPARSABLE,
}
_HTTP = {3: FailureKind.REDIRECT, 4: FailureKind.HTTP_4XX, 5: FailureKind.HTTP_5XX}
_RULES = frozenset(
    {
        ReasonKind.BLOCKED_BY_USER,
        ReasonKind.BUDGET,
        ReasonKind.LOW_HARVEST,
        ReasonKind.CRAWL_DELAY,
        ReasonKind.POLITENESS,
        ReasonKind.ROBOTS_ELSEWHERE,
        ReasonKind.MAZE,
        ReasonKind.NOTHING_NEW,
        ReasonKind.VARIANTS,
        ReasonKind.FACETS,
    }
)
_SILENT = {
    FailureKind.TIMEOUT,
    FailureKind.SLOW,
    FailureKind.CONNECTION,
    FailureKind.NO_SUCH_HOST,
    FailureKind.PROTOCOL,
}
_BUSY = frozenset({408, 425, 429})
_BRIEF = frozenset(
    {
        ReasonKind.REDIRECT,
        ReasonKind.OPTED_OUT,
        ReasonKind.ROBOTS_ELSEWHERE,
        ReasonKind.CRAWL_DELAY,
        ReasonKind.MAZE,
        ReasonKind.NOTHING_NEW,
        ReasonKind.SCOPE,
        ReasonKind.WORKER_LOST,
        ReasonKind.LEASE_EXPIRED,
        ReasonKind.BLOCKED_BY_USER,
        ReasonKind.BUDGET,
        ReasonKind.TRUNCATED,
        ReasonKind.RENDERED,
    }
)
"""Kinds whose reasons are one group, whatever their details."""
_GROUPS: Mapping[ReasonKind, ReasonKind] = {
    ReasonKind.REFRESH: ReasonKind.REDIRECT,
    ReasonKind.DNS_OR_PROXY: ReasonKind.DNS,
    ReasonKind.LOW_HARVEST: ReasonKind.BUDGET,
    ReasonKind.VARIANTS: ReasonKind.NOTHING_NEW,
    ReasonKind.FACETS: ReasonKind.NOTHING_NEW,
}
SHOWN_IN_FULL = frozenset(kind for kind, message in MESSAGES.items() if not message.short_en) | {ReasonKind.SCOPE}
"""The kinds whose message is shown in full though their short message leaves out details."""


def kind_of(reason: Reason) -> FailureKind:
    """Return the kind of a failure."""
    if reason.kind is ReasonKind.ROBOTS_UNREADABLE:
        return FailureKind.ROBOTS
    inner = reason.inner
    if inner.kind is ReasonKind.HTTP:
        return _HTTP.get(_status(inner) // 100, FailureKind.OTHER)
    return _FAILURE_KINDS.get(inner.kind, FailureKind.OTHER)


def block_kind_of(reason: Reason) -> BlockKind | None:
    """Return the kind of block page that a reason is about; None when it is about something else."""
    inner = reason.inner
    if inner.kind is not ReasonKind.BLOCK_PAGE:
        return None
    return next((kind for kind in BlockKind if kind in inner.fields[:1]), None)


def _status(reason: Reason) -> int:
    return int(reason.detail) if reason.detail.isdigit() else 0


def group_of(reason: Reason) -> Reason:
    """Return the reason that stands for all reasons that mean the same; its short message is their plain message."""
    inner = reason.inner
    if reason.kind is ReasonKind.ROBOTS_UNREADABLE and kind_of(inner) not in _SILENT:
        return Reason.around(reason.kind, 1, group_of(inner))
    if block := block_kind_of(inner):
        return Reason.around(ReasonKind.REPEATED, 1, block.reason) if inner != reason else block.reason
    kind = _GROUPS.get(inner.kind, inner.kind)
    return Reason(kind) if kind in _BRIEF else Reason(kind, inner.detail)


def plain_reason(reason: Reason) -> str:
    """Return a plain message why a URL failed or waits; reasons that mean the same have the same message."""
    message = describe(group_of(reason), short=True)
    return (message if len(message) <= _MAX_MESSAGE_CHARACTERS else message[:_MAX_MESSAGE_CHARACTERS]) or UNLISTED


def cause_of(reason: Reason) -> Cause:
    """Return what a reason is due to: the host, the crawl's own rules or the page."""
    inner, is_silence = reason.inner, reason.kind in (ReasonKind.NO_PAGE, ReasonKind.ROBOTS_UNREADABLE)
    if inner.kind in _RULES:
        return Cause.RULES
    if inner.kind is ReasonKind.BLOCK_PAGE:
        return Cause.BLOCKED
    if _is_busy(inner):
        return Cause.BUSY
    return Cause.UNREACHABLE if is_silence or kind_of(inner) in _SILENT else Cause.PAGE


def _is_busy(reason: Reason) -> bool:
    return reason.kind is ReasonKind.HTTP and (_status(reason) in _BUSY or _status(reason) >= 500)


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
        urls, reason = _("{n:,} URL", "{n:,} URLs", n=self.urls), self.reason
        if self.examples:
            examples = ", ".join(self.examples) + (", …" if self.hosts > len(self.examples) else "")
            reason = _("{reason} ({examples})", reason=reason, examples=examples)
        if self.hosts:
            hosts = _("{n:,} host", "{n:,} hosts", n=self.hosts)
            return self._with_retry(_("{urls} on {hosts}: {reason}", urls=urls, hosts=hosts, reason=reason))
        return self._with_retry(_("{urls}: {reason}", urls=urls, reason=reason))

    def _with_retry(self, line: str) -> str:
        if not self.waiting or self.retry_seconds is None:
            return line
        after = duration(self.retry_seconds)
        if not self.failed:
            return _("{line}, next try in {after}", line=line, after=after)
        return _("{line}, next try of {waiting:,} in {after}", line=line, waiting=self.waiting, after=after)


@dataclass(frozen=True, kw_only=True)
class FailureReport:
    """All failures of a crawl in groups, those with most URLs first, those by the crawl's own rules last.

    Args:
        blocked: How many URLs gave a block page, by its kind; URLs that are tried again do not count.
    """

    groups: Sequence[FailureGroup] = ()
    blocked: Mapping[str, int] = field(default_factory=dict)

    def top(self, number: int = 3) -> list[FailureGroup]:
        """Return the most frequent failures; those by the crawl's own rules come last."""
        return [group for group in self.groups if group.failed or group.cause is not Cause.RULES][:number]

    def lines(self, number: int = 3) -> list[str]:
        return [str(group) for group in self.top(number)]

    @property
    def has_silent_hosts(self) -> bool:
        """Whether URLs wait for hosts that do not answer or are busy."""
        return any(group.waiting for group in self.groups if group.cause in (Cause.UNREACHABLE, Cause.BUSY))

    def remaining(self) -> Translatable:
        """Return a phrase about the URLs that wait and their hosts; empty when none waits."""
        waiting = _by_adjective(group for group in self.groups if group.waiting)
        if not waiting:
            return _("")
        numbers = [sum(group.waiting for group in groups) for groups in waiting.values()]
        parts = [_remaining(adjective, groups) for adjective, groups in waiting.items()]
        if len(parts) == 1:
            return _("{n:,} URL remains {where}", "{n:,} URLs remain {where}", n=sum(numbers), where=parts[0])
        listed = joined(
            COMMA,
            [_("{number:,} {where}", number=number, where=part) for number, part in zip(numbers, parts, strict=True)],
        )
        return _("{n:,} URL remains: {listed}", "{n:,} URLs remain: {listed}", n=sum(numbers), listed=listed)

    def advice(self) -> str:
        """Return a sentence about when to run again to retry the waiting URLs; empty when none waits."""
        waiting = [group for group in self.groups if group.waiting]
        seconds = [group.retry_seconds for group in waiting if group.retry_seconds is not None]
        if not waiting:
            return ""
        if not seconds:
            return _("They stay parked until released: thresher hosts.")
        if min(seconds) < 1:
            return _("Re-run to retry.")
        return _("Re-run in {after} to retry.", after=duration(min(seconds)))

    def as_json(self) -> list[dict[str, Any]]:
        """Return the groups as plain values, each with its line of text."""
        return [{**asdict(group), "words": str(group)} for group in self.groups[:MAX_GROUPS]]


class _Counted(Protocol):
    async def counts(self) -> Counts: ...

    async def failures(self) -> list[FailureCount]: ...


async def failure_report(frontier: _Counted) -> FailureReport:
    """Group the failures of a crawl by reason; failed URLs whose reason is not listed are a group of their own."""
    counts = await frontier.failures()
    listed = sum(count.urls for count in counts if not count.waiting and count.reason != LOST_WITH_FILES)
    unlisted = (await frontier.counts()).failed - listed
    if unlisted > 0:
        counts = [*counts, FailureCount(host="", reason=NO_REASON, urls=unlisted)]
    return grouped(counts)


def grouped(counts: Iterable[FailureCount]) -> FailureReport:
    """Group failures by their plain messages; URLs that were lost come first, because the user can get them back."""
    by_reason: dict[tuple[Reason, Cause], list[FailureCount]] = defaultdict(list)
    blocked: Counter[str] = Counter()
    for count in counts:
        by_reason[group_of(count.reason), cause_of(count.reason)].append(count)
        if not count.waiting and (kind := block_kind_of(count.reason)):
            blocked[str(kind)] += count.urls
    groups = [(why == LOST_WITH_FILES, _group(why, cause, found)) for (why, cause), found in by_reason.items()]
    groups.sort(key=lambda each: (not each[0], each[1].cause is Cause.RULES, -each[1].urls, each[1].reason))
    return FailureReport(groups=[group for _, group in groups], blocked=blocked)


def _group(reason: Reason, cause: Cause, counts: Sequence[FailureCount]) -> FailureGroup:
    hosts: dict[str, int] = defaultdict(int)
    for count in counts:
        if count.host:
            hosts[count.host] += count.urls
    waiting = sum(count.urls for count in counts if count.waiting)
    urls = sum(count.urls for count in counts)
    return FailureGroup(
        reason=plain_reason(reason),
        cause=cause,
        urls=urls,
        failed=urls - waiting,
        waiting=waiting,
        hosts=len(hosts),
        examples=sorted(hosts, key=lambda host: (-hosts[host], host))[:EXAMPLE_HOSTS],
        retry_seconds=min((count.retry_seconds for count in counts if count.retry_seconds is not None), default=None),
    )


_ADJECTIVES = {
    Cause.UNREACHABLE: _("unreachable"),
    Cause.BUSY: _("busy"),
    Cause.BLOCKED: _("blocking"),
    Cause.RULES: _("parked"),
    Cause.PAGE: _("parked"),
}


def _by_adjective(groups: Iterable[FailureGroup]) -> dict[str, list[FailureGroup]]:
    found: dict[str, list[FailureGroup]] = defaultdict(list)
    for group in groups:
        found[_ADJECTIVES[group.cause]].append(group)
    return found


def _remaining(adjective: str, groups: Sequence[FailureGroup]) -> str:
    hosts = sum(group.hosts for group in groups)
    reasons = [group.reason for group in groups]
    return _(
        "on {n:,} {adjective} host ({reasons})",
        "on {n:,} {adjective} hosts ({reasons})",
        n=hosts,
        adjective=adjective,
        reasons=joined(SEMICOLON, reasons[:EXAMPLE_HOSTS] + ["…"] * (len(reasons) > EXAMPLE_HOSTS)),
    )


def pluralize(number: int, what: str) -> str:
    """Format a number with its noun, in the plural where needed."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


_LENGTHS = ((86_400, _("{time:.0f} d")), (3_600, _("{time:.0f} h")), (60, _("{time:.0f} min")))


def duration(seconds: float) -> Translatable:
    """Format a time in its largest fitting unit, rounded up, so that what is due after it is due by then."""
    for length, unit in _LENGTHS:
        if seconds > 2 * length or (length == 60 and seconds > length):
            return _(unit, time=-(-seconds // length))
    return _("{time:.0f} s", time=-(-seconds // 1))
