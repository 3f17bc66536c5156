"""Why a URL is where it is: what the frontier and the page store know of it, one sentence for it, and the details.

The sentence comes first wherever a URL is explained: ``thresher why``, the page screen, ``Crawl.why``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from inspect import signature
from typing import Any, Protocol
from urllib.parse import urlsplit

from thresher import registry
from thresher.archive.collection import Collection, Hop
from thresher.archive.pages import PageRecord
from thresher.build import Crawl
from thresher.errors import ConfigError
from thresher.failures import duration, plain_reason, some
from thresher.frontier.base import HostEntry, UrlEntry, UrlState
from thresher.records import TOLD, Outcome, Parts
from thresher.urls.canonical import canonicalize, fingerprint
from thresher.urls.host import host_key
from thresher.urls.traps import trap

STRONGEST_PARTS = 3
"""So many parts of a score are printed, unless all are asked for."""
LOG_ODDS_STRATEGY = "thresher"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What the frontier knows of a URL.

    Args:
        entry: Where it stands; None when it never got there.
        host: Its host; None when that is unknown.
        robots_at: When the robots.txt of its host could not be read last, in seconds since the epoch; 0 when it could.
        robots_tries: How often it could not, in a row.
    """

    entry: UrlEntry | None = None
    host: HostEntry | None = None
    robots_at: float = 0.0
    robots_tries: int = 0


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """All that is known of a URL.

    Args:
        path: From the seed to it, or to the page it was found on when it was not fetched yet.
        history: Every time it was settled, oldest first.
        outside: Why the crawl's rules leave it out; empty when they do not.
        anchor: The words of the link by which it was found, when it was not fetched yet.
        threshold: The relevance from which a page is relevant; None where the judge has no such number.
        is_log_odds: Whether the parts of link scores are log-odds.
    """

    url: str
    standing: Standing
    path: list[Hop]
    history: list[PageRecord]
    outside: str
    anchor: str = ""
    threshold: float | None = None
    is_log_odds: bool = False

    @property
    def entry(self) -> UrlEntry | None:
        """Where the URL stands in the frontier; None when it never got there."""
        return self.standing.entry

    @property
    def last_try(self) -> float | None:
        """When the URL, or the robots.txt of its host, was asked for last; None when nobody did."""
        settled = [record.fetched_at for record in self.history]
        return max([*settled, self.standing.robots_at]) or None if settled or self.standing.robots_at else None

    @property
    def tries(self) -> int:
        """How often the URL, or the robots.txt of its host, was asked for in vain."""
        tried = self.entry.tries if self.entry else 0
        return tried + self.standing.robots_tries if self.entry and self.entry.state is UrlState.WAITING else tried

    @property
    def trouble(self) -> str:
        """Say in plain words why a waiting URL was not fetched yet; empty when its turn has simply not come."""
        host, entry = self.standing.host, self.entry
        if entry is None or entry.state is not UrlState.WAITING:
            return ""
        reason = (host.parked if host else "") or (entry.reason if entry.tries else "")
        return plain_reason(reason) if reason else ""

    @property
    def next_try_seconds(self) -> float | None:
        """Return the seconds until the host of a waiting URL may be asked; None when nobody can say."""
        host = self.standing.host
        if host is None or self.entry is None or self.entry.state is not UrlState.WAITING:
            return None
        return None if host.parked and not host.next_seconds else host.next_seconds

    @property
    def summary(self) -> str:
        """Say in one or two plain sentences where the URL stands and how it was found."""
        return " ".join(filter(None, [self._state(), self._origin()]))

    def _state(self) -> str:
        entry = self.entry
        if entry is None and not self.history:
            return f"Never queued: {self.outside or 'no fetched page links to it'}."
        page = next((record for record in reversed(self.history) if record.page), None)
        if page is not None:
            return _verdict(page, self.threshold)
        if entry is not None and entry.state is UrlState.WAITING:
            return self._waiting(entry)
        if entry is not None and entry.state is UrlState.LEASED:
            return "It is being fetched now."
        return self._settled()

    def _waiting(self, entry: UrlEntry) -> str:
        if not self.trouble:
            return f"Waiting for its first try, with score {entry.score:.3f}."
        tried = f", {some(self.tries, 'failed try').replace('trys', 'tries')}" if self.tries else ""
        last = f", the last at {moment(self.last_try)}" if tried and self.last_try else ""
        seconds = self.next_try_seconds
        parked = self.standing.host is not None and self.standing.host.parked
        after = "" if seconds is None else "now" if seconds < 1 else f"in {duration(seconds)}"
        retry = f"The next try is possible {after}." if after else "Its host stays parked until released."
        return (
            f"Not fetched yet: {self.trouble} ({entry.host}{tried}{last}). {retry if parked or after else ''}".rstrip()
        )

    def _settled(self) -> str:
        last = self.history[-1] if self.history else None
        reason = last.reason if last else self.entry.reason if self.entry else ""
        when = f", at {moment(last.fetched_at)}" if last and last.fetched_at else ""
        if last and last.outcome is Outcome.DONE:
            return f"It brought no page of its own: {reason}{when}." if reason else f"Done{when}."
        if reason or (self.entry and self.entry.state is UrlState.FAILED):
            return f"Failed: {plain_reason(reason)}{when}."
        return "Done; what it brought is in the page store of another machine."

    def _origin(self) -> str:
        if not self.path:
            return "It is a seed." if self.entry and not self.entry.parent and not self.entry.hops else ""
        own = self.path[-1].record.fingerprint == fingerprint(self.url)
        if own and len(self.path) == 1:
            return "It is a seed." if not self.path[0].record.parent else ""
        found_on = self.path[-2 if own else -1].record
        anchor = self.path[-1].anchor if own else self.anchor
        how = f" by the link “{anchor}”" if anchor else ""
        hops = len(self.path) - own  # by the path that is printed; a shorter one may have been found later
        return f"Found on {found_on.url}{how}, {some(hops, 'link')} from the seed {self.path[0].record.url}."

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "url": self.url,
            "summary": self.summary,
            "state": str(self.entry.state) if self.entry else "unknown",
            "reason": self.entry.reason if self.entry else self.outside,
            "trouble": self.trouble,
            "anchor": self.anchor,
            "parked": self.standing.host.parked if self.standing.host else "",
            "tries": self.tries,
            "last_try": self.last_try,
            "next_try_seconds": self.next_try_seconds,
            "threshold": self.threshold,
            "frontier": asdict(self.entry) if self.entry else None,
            "path": [_hop(hop) for hop in self.path],
            "history": [_settled(record) for record in self.history],
        }

    def lines(self, *, all_parts: bool = False) -> list[str]:
        """Return it as lines for people: the sentence, then the path.

        Args:
            all_parts: Print every part of every score, not only the strongest few and those of the page itself.
        """
        lines = [self.url, self.summary]
        if self.path:
            lines += ["", "Path from the seed:" if self.history else "Path from the seed to the page that links to it:"]
        for number, hop in enumerate(self.path):
            is_last = number == len(self.path) - 1
            lines += self._hop_lines(number, hop, all_parts=all_parts, with_relevance=all_parts or is_last)
        if len(self.history) > 1:
            lines += ["", "Settled several times:"]
            lines += [f"  {moment(record.fetched_at)}  {_outcome(record)}" for record in self.history]
        return lines

    def _hop_lines(self, number: int, hop: Hop, *, all_parts: bool, with_relevance: bool) -> Iterator[str]:
        record = hop.record
        yield f"  {number}. {record.url}"
        if record.page:
            yield f"     {record.title or '(no title)'}"
        yield f"     {_outcome(record)}"
        if not number:
            yield f"     a seed, score {record.score:.3f}"
        elif hop.anchor or hop.parts:
            yield f"     by the link “{hop.anchor}”, score {hop.score:.3f}"
            yield from self._part_lines(hop.parts, all_parts=all_parts)
        else:
            yield "     by redirect"
        if record.page:
            yield f"     {_verdict(record, None).rstrip('.').lower()}"
            if with_relevance and record.parts:
                yield "     the relevance was computed from (not a sum):"
                yield from _listed(record.parts)

    def _part_lines(self, parts: Parts, *, all_parts: bool) -> Iterator[str]:
        if not parts:
            return
        shown = parts if all_parts else strongest(parts)
        what = "parts of the link score"
        unit = " as log-odds, above 0 for the link, below 0 against it" if self.is_log_odds else ""
        fewer = f", the strongest {len(shown)} of {len(parts)}" if len(shown) < len(parts) else ""
        yield f"     {what}{unit}{fewer}:"
        yield from _listed(shown, signed=self.is_log_odds)


def strongest(parts: Parts, number: int = STRONGEST_PARTS) -> dict[str, float]:
    """Return the parts that count most, the strongest first."""
    return dict(sorted(parts.items(), key=lambda part: -abs(part[1]))[:number])


def moment(seconds: float | None) -> str:
    """Write a time of the day and its date."""
    return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _verdict(record: PageRecord, threshold: float | None) -> str:
    verdict = "Relevant" if record.relevant else "Not relevant"
    by = ", labelled by a person" if TOLD in record.parts else ""
    copy = ", a copy of another page" if record.duplicate_of else ""
    part = f", {record.reason}" if record.reason else ""
    limit = "" if threshold is None else f" (threshold {threshold:.2f})"
    return f"{verdict}: relevance {record.relevance:.2f}{limit}{by}{copy}{part}."


def _outcome(record: PageRecord) -> str:
    """Write how a fetch ended, in the words that were stored."""
    status = f", HTTP {record.status}" if record.status else ""
    return f"{record.outcome}: {record.reason}" if record.reason else f"{record.outcome}{status}"


def _listed(parts: Parts, *, signed: bool = False) -> Iterator[str]:
    width = max(map(len, parts))
    for name, value in parts.items():
        yield f"       {name:<{width}}  {value:{'+' if signed else ''}.3f}"


def _hop(hop: Hop) -> dict[str, Any]:
    link = {"anchor": hop.anchor, "score": hop.score, "score_parts": dict(hop.parts)}
    return {**_settled(hop.record), **link}


def _settled(record: PageRecord) -> dict[str, Any]:
    kept = (
        "url",
        "status",
        "reason",
        "title",
        "language",
        "relevance",
        "relevant",
        "depth",
        "fetched_at",
    )
    return {
        **{name: getattr(record, name) for name in kept},
        "outcome": str(record.outcome),
        "relevance_parts": dict(record.parts),
    }


class _Asked(Protocol):
    async def find(self, url: str) -> UrlEntry | None: ...

    async def find_host(self, host: str) -> HostEntry | None: ...

    async def recall(self, host: str, kind: str) -> str | None: ...


async def standing_of(frontier: _Asked, url: str) -> Standing:
    """Ask a frontier for all it knows of a canonical URL."""
    host, entry = host_key(url), await frontier.find(url)
    parts = urlsplit(url)
    note = await frontier.recall(host, f"{parts.scheme}://{parts.netloc}/robots.txt")
    try:
        robots = json.loads(note) if note else {}
        tries = int(robots.get("tries", 0))
        robots_at = float(robots.get("read_at", 0.0)) if tries else 0.0
    except (ValueError, TypeError, AttributeError):  # another version wrote it
        tries, robots_at = 0, 0.0
    return Standing(
        entry=entry,
        host=await frontier.find_host(host),
        robots_at=robots_at,
        robots_tries=tries,
    )


def threshold_of(crawl: Crawl) -> float | None:
    """Return the relevance from which the judge calls a page relevant; None when it has no such parameter."""
    judge = crawl.config.judge
    parameter = signature(registry.find("judge", judge.name)).parameters.get("threshold")
    threshold = judge.parameters.get("threshold", parameter.default if parameter else None)
    return float(threshold) if isinstance(threshold, int | float) else None


def explanation_of(crawl: Crawl, url: str, standing: Standing, collection: Collection) -> Explanation:
    """Put together what the frontier and the page store know of a canonical URL."""
    entry, number = standing.entry, fingerprint(url)
    path, anchor = collection.path(number), ""
    if not path and entry and entry.parent:
        path = collection.path(entry.parent)
        link = collection.link_between(entry.parent, url)
        anchor = link.anchor if link else ""
    return Explanation(
        url=url,
        standing=standing,
        path=path,
        history=collection.history(number),
        outside="" if entry else crawl.rules().scope.allows(url, 0) or trap(url),
        anchor=anchor,
        threshold=threshold_of(crawl) if path else None,
        is_log_odds=crawl.config.strategy.name == LOG_ODDS_STRATEGY,
    )


async def explain(crawl: Crawl, text: str) -> Explanation:
    """Gather all that is known of a URL.

    Raises:
        ConfigError: The text is no http or https URL.
    """
    url = canonicalize(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL")
    frontier = crawl.look()
    try:
        standing = await standing_of(frontier, url)
    finally:
        await frontier.close()
    with Collection(crawl.folder.pages) as collection:
        return explanation_of(crawl, url, standing, collection)
