"""Explain a URL from the frontier and the page store: a summary sentence, then its path and scores.

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
from thresher.errors import ConfigError
from thresher.frontier.base import HostEntry, UrlEntry, UrlState
from thresher.monitoring.failures import duration, plain_reason, some
from thresher.project import CrawlProject
from thresher.records import LABEL_PART, LANGUAGE_PART, TOPIC_PART, Outcome, Parts
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader, PathHop
from thresher.traps.detector import trap
from thresher.urls.canonical import canonicalize, fingerprint, host_key

STRONGEST_PARTS = 3
"""Number of parts of a score that are printed by default."""
LOG_ODDS_STRATEGY = "thresher"


@dataclass(frozen=True, kw_only=True)
class FrontierInfo:
    """The state of a URL in the frontier.

    Args:
        entry: Its entry; None when it was never queued.
        host: Its host; None when unknown.
        robots_at: Time of the last failed fetch of the robots.txt of its host, in seconds since the epoch; 0 when the
            last one succeeded.
        robots_tries: Number of failed fetches in a row.
    """

    entry: UrlEntry | None = None
    host: HostEntry | None = None
    robots_at: float = 0.0
    robots_tries: int = 0


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Everything known about a URL.

    Args:
        path: From the seed to it, or to the page it was found on when it was not fetched yet.
        history: Every time it was settled, oldest first.
        outside: Why it is outside the scope; empty when it is not.
        anchor: The words of the link by which it was found, when it was not fetched yet.
        threshold: The relevance from which a page is relevant; None where the judge has no such number.
        is_log_odds: Whether the parts of link scores are log-odds.
    """

    url: str
    frontier_info: FrontierInfo
    path: list[PathHop]
    history: list[PageRecord]
    outside: str
    anchor: str = ""
    threshold: float | None = None
    is_log_odds: bool = False

    @property
    def entry(self) -> UrlEntry | None:
        """Its entry in the frontier; None when it was never queued."""
        return self.frontier_info.entry

    @property
    def last_try(self) -> float | None:
        """Time of the last request for the URL or for the robots.txt of its host; None without one."""
        settled = [record.fetched_at for record in self.history]
        return (
            max([*settled, self.frontier_info.robots_at]) or None if settled or self.frontier_info.robots_at else None
        )

    @property
    def tries(self) -> int:
        """Number of failed requests for the URL or for the robots.txt of its host."""
        tried = self.entry.tries if self.entry else 0
        return tried + self.frontier_info.robots_tries if self.entry and self.entry.state is UrlState.WAITING else tried

    @property
    def trouble(self) -> str:
        """Why a waiting URL was not fetched yet, in words; empty when its turn has not come."""
        host, entry = self.frontier_info.host, self.entry
        if entry is None or entry.state is not UrlState.WAITING:
            return ""
        reason = (host.parked if host else "") or (entry.reason if entry.tries else "")
        return plain_reason(reason) if reason else ""

    @property
    def next_try_seconds(self) -> float | None:
        """Seconds until the host of a waiting URL may be fetched from; None when unknown."""
        host = self.frontier_info.host
        if host is None or self.entry is None or self.entry.state is not UrlState.WAITING:
            return None
        return None if host.parked and not host.next_seconds else host.next_seconds

    @property
    def summary(self) -> str:
        """The state of the URL and how it was found, in one or two sentences."""
        return " ".join(filter(None, [self._state(), self._notes(), self._origin()]))

    def _notes(self) -> str:
        """Return what a later visit met in place of a stored page, and the uses that its site opts out of."""
        page = next((record for record in reversed(self.history) if record.page), None)
        if page is None:
            return ""
        last = self.history[-1]
        at = moment(last.fetched_at)
        met = f"The visit at {at} was {last.reason}; the page is from before." if last.blocked else ""
        opt_outs = f"Its site opts out of: {', '.join(page.opt_outs)}." if page.opt_outs else ""
        return " ".join(filter(None, [met, opt_outs]))

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
        parked = self.frontier_info.host is not None and self.frontier_info.host.parked
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
            return f"It has no page of its own: {reason}{when}." if reason else f"Done{when}."
        if reason or (self.entry and self.entry.state is UrlState.FAILED):
            return f"Failed: {reason if last and last.blocked else plain_reason(reason)}{when}."
        return "Done; its page is in the page store of another machine."

    def _origin(self) -> str:
        if not self.path:
            return "It is a seed." if self.entry and not self.entry.parent and not self.entry.hops else ""
        own = self.path[-1].record.fingerprint == fingerprint(self.url)
        if own and len(self.path) == 1:
            return "It is a seed." if not self.path[0].record.parent else ""
        found_on = self.path[-2 if own else -1].record
        anchor = self.path[-1].anchor if own else self.anchor
        how = f" by the link “{anchor}”" if anchor else ""
        hops = len(self.path) - own  # of the printed path, which takes the best link to each page
        fewest = self.path[-1].record.depth if own else self.entry.hops if self.entry else hops
        shorter = f" A shorter path has {some(fewest, 'link')}." if 0 < fewest < hops else ""
        return f"Found on {found_on.url}{how}, {some(hops, 'link')} from the seed {self.path[0].record.url}.{shorter}"

    def as_json(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "summary": self.summary,
            "state": str(self.entry.state) if self.entry else "unknown",
            "reason": self.entry.reason if self.entry else self.outside,
            "trouble": self.trouble,
            "anchor": self.anchor,
            "parked": self.frontier_info.host.parked if self.frontier_info.host else "",
            "tries": self.tries,
            "last_try": self.last_try,
            "next_try_seconds": self.next_try_seconds,
            "threshold": self.threshold,
            "frontier": asdict(self.entry) if self.entry else None,
            "path": [_hop(hop) for hop in self.path],
            "history": [_settled(record) for record in self.history],
        }

    def lines(self, *, all_parts: bool = False) -> list[str]:
        """Return lines of text: the summary, then the path.

        Args:
            all_parts: Include every part of every score, not only the strongest few and those of the page itself.
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

    def _hop_lines(self, number: int, hop: PathHop, *, all_parts: bool, with_relevance: bool) -> Iterator[str]:
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
            if record.topics:
                yield "     relevance by topic:"
                yield from _listed({name: judgement.relevance for name, judgement in record.topics.items()})
            if with_relevance and record.parts:
                yield "     the relevance was computed from (not a sum):"
                yield from _listed(record.parts)

    def _part_lines(self, parts: Parts, *, all_parts: bool) -> Iterator[str]:
        if not parts:
            return
        topics = {name: score for name, score in parts.items() if name.startswith(TOPIC_PART)}
        if topics:
            yield "     link score by topic, before weighting by need:"
            yield from _listed(topics)
            parts = {name: score for name, score in parts.items() if name not in topics}
        if not parts:
            return
        shown = parts if all_parts else strongest(parts)
        what = "parts of the link score"
        unit = " as log-odds, above 0 for the link, below 0 against it" if self.is_log_odds else ""
        fewer = f", the strongest {len(shown)} of {len(parts)}" if len(shown) < len(parts) else ""
        yield f"     {what}{unit}{fewer}:"
        yield from _listed(shown, signed=self.is_log_odds)


def strongest(parts: Parts, number: int = STRONGEST_PARTS) -> dict[str, float]:
    """Return the parts with the largest absolute values, the largest first."""
    return dict(sorted(parts.items(), key=lambda part: -abs(part[1]))[:number])


def moment(seconds: float | None) -> str:
    """Format a time in UTC."""
    return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _verdict(record: PageRecord, threshold: float | None) -> str:
    verdict = "Relevant" if record.relevant else "Not relevant"
    label = record.parts.get(LABEL_PART)
    by = "" if label is None else f", labelled by a {'person' if label in (0.0, 1.0) else 'model'}"
    copy = ", a copy of another page" if record.duplicate_of else ""
    part = f", {record.reason}" if record.reason else ""
    if LANGUAGE_PART in record.parts:
        return f"{verdict}: its language, {record.language}, is not a wanted one (languages in topic.yaml){copy}{part}."
    limit = "" if threshold is None else f" (threshold {threshold:.2f})"
    return f"{verdict}{_topics_in_words(record)}: relevance {record.relevance:.2f}{limit}{by}{copy}{part}."


def _topics_in_words(record: PageRecord) -> str:
    """Name the topics that a page is relevant to, of several."""
    relevant = [name for name, judgement in record.topics.items() if judgement.relevant]
    return f" to {' and '.join(relevant)}" if relevant else ""


def _outcome(record: PageRecord) -> str:
    """Format the outcome of a fetch as it was stored."""
    status = f", HTTP {record.status}" if record.status else ""
    return f"{record.outcome}: {record.reason}" if record.reason else f"{record.outcome}{status}"


def _listed(parts: Parts, *, signed: bool = False) -> Iterator[str]:
    width = max(map(len, parts))
    for name, value in parts.items():
        yield f"       {name:<{width}}  {value:{'+' if signed else ''}.3f}"


def _hop(hop: PathHop) -> dict[str, Any]:
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
        "blocked",
    )
    topics = {name: judgement.relevance for name, judgement in record.topics.items()}
    return {
        **{name: getattr(record, name) for name in kept},
        "outcome": str(record.outcome),
        "opt_outs": list(record.opt_outs),
        "relevance_parts": dict(record.parts),
        **({"topics": topics} if topics else {}),
    }


class _FrontierQueries(Protocol):
    async def find(self, url: str) -> UrlEntry | None: ...

    async def find_host(self, host: str) -> HostEntry | None: ...

    async def get_state(self, host: str, kind: str) -> str | None: ...


async def frontier_info_of(frontier: _FrontierQueries, url: str) -> FrontierInfo:
    """Read the state of a canonical URL from a frontier."""
    host, entry = host_key(url), await frontier.find(url)
    parts = urlsplit(url)
    stored = await frontier.get_state(host, f"{parts.scheme}://{parts.netloc}/robots.txt")
    try:
        robots = json.loads(stored) if stored else {}
        tries = int(robots.get("tries", 0))
        robots_at = float(robots.get("read_at", 0.0)) if tries else 0.0
    except (ValueError, TypeError, AttributeError):  # written by another version
        tries, robots_at = 0, 0.0
    return FrontierInfo(
        entry=entry,
        host=await frontier.find_host(host),
        robots_at=robots_at,
        robots_tries=tries,
    )


def threshold_of(crawl: CrawlProject) -> float | None:
    """Return the relevance from which the judge calls a page relevant; None when it has no such parameter."""
    judge = crawl.config.judge
    parameter = signature(registry.find("judge", judge.name)).parameters.get("threshold")
    threshold = judge.parameters.get("threshold", parameter.default if parameter else None)
    return float(threshold) if isinstance(threshold, int | float) else None


def explanation_of(
    crawl: CrawlProject, url: str, frontier_info: FrontierInfo, collection: PageStoreReader
) -> Explanation:
    """Combine the frontier's and the page store's knowledge of a canonical URL."""
    entry, number = frontier_info.entry, fingerprint(url)
    path, anchor = collection.path(number), ""
    if not path and entry and entry.parent:
        path = collection.path(entry.parent)
        link = collection.link_between(entry.parent, url)
        anchor = link.anchor if link else ""
    return Explanation(
        url=url,
        frontier_info=frontier_info,
        path=path,
        history=collection.history(number),
        outside="" if entry else crawl.rules().scope.allows(url, 0) or trap(url),
        anchor=anchor,
        threshold=threshold_of(crawl) if path else None,
        is_log_odds=crawl.config.strategy.name == LOG_ODDS_STRATEGY,
    )


async def explain(crawl: CrawlProject, text: str) -> Explanation:
    """Explain a URL.

    Raises:
        ConfigError: The text is not an http or https URL.
    """
    url = canonicalize(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL, such as https://example.org/page")
    frontier = crawl.frontier_reader()
    try:
        frontier_info = await frontier_info_of(frontier, url)
    finally:
        await frontier.close()
    with PageStoreReader(crawl.folder.pages) as collection:
        return explanation_of(crawl, url, frontier_info, collection)
