"""Explain a URL from the frontier, the page store and the judge.

`explanation_of` computes everything. `Explanation.lines` renders it in at most `MAX_LINES` lines: the verdict or the
state in one sentence, words, the nearest example, the shortest path from a seed; `Explanation.detail_lines` has every
number. ``thresher why``, ``Crawl.why``, the dashboard and the MCP server show these.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from thresher.assembly import build_judge
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, ThresherError
from thresher.frontier.base import Counts, HostEntry, UrlEntry, UrlState
from thresher.judges.base import Judge
from thresher.locale.translation import COMMA, ENGLISH, SEMICOLON, Translatable, _, joined, translated
from thresher.monitoring.failures import SHOWN_IN_FULL, duration, plain_reason
from thresher.operations.verdict import PageVerdict, fit, listed, titled, verdict_of, wrapped
from thresher.reasons.reason import NO_REASON, describe, with_messages
from thresher.records import Outcome, ParsedPage
from thresher.storage.page_store import FoundLink, PageRecord
from thresher.storage.reader import PageStoreReader, PathHop, kept_judgement
from thresher.traps.detector import trap
from thresher.urls.canonical import canonicalize, fingerprint, host_key

logger = logging.getLogger(__name__)

MAX_LINES = 15
QUEUE_SEEN = 1000
"""The rank of a waiting URL is known down to this one."""
SPACE = " "
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
        rank: Its place in the queue over all hosts; 0 when it does not wait, or is not among the first `QUEUE_SEEN`.
        waiting: Number of waiting URLs; 0 when it does not wait.
    """

    entry: UrlEntry | None = None
    host: HostEntry | None = None
    robots_at: float = 0.0
    robots_tries: int = 0
    rank: int = 0
    waiting: int = 0


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Everything known about a URL.

    Args:
        verdict: On its page; None when it has none.
        path: The shortest known one from a seed to it, or to a page that links to it when it was not fetched yet.
        found_on: The page by whose link it got its score; None for a seed.
        link: That link, with its score when it was found; None for a seed or a redirect.
        history: Every time it was settled, oldest first.
        outside: Why it is outside the scope; empty when it is not.
        next_link: The link from the end of the path to it, when it was not fetched yet.
        is_log_odds: Whether the parts of link scores are log-odds.
    """

    url: str
    frontier_info: FrontierInfo
    path: list[PathHop]
    history: list[PageRecord]
    outside: str = ""
    verdict: PageVerdict | None = None
    found_on: PageRecord | None = None
    link: FoundLink | None = None
    next_link: FoundLink | None = None
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
        reason = (host.parked if host else NO_REASON) or (entry.reason if entry.tries else NO_REASON)
        return plain_reason(reason) if reason else ""

    @property
    def next_try_seconds(self) -> float | None:
        """Seconds until the host of a waiting URL may be fetched from; None when unknown."""
        host = self.frontier_info.host
        if host is None or self.entry is None or self.entry.state is not UrlState.WAITING:
            return None
        return None if host.parked and not host.next_seconds else host.next_seconds

    @property
    def page(self) -> PageRecord | None:
        """The last record with a page."""
        return next((record for record in reversed(self.history) if record.page), None)

    @property
    def state(self) -> str:
        return str(self.entry.state) if self.entry else "unknown"

    @property
    def reason(self) -> str:
        """Why it failed, or why it is not crawled; else empty."""
        return describe(self.entry.reason) if self.entry else self.outside

    @property
    def score(self) -> float | None:
        """Its score when it was fetched, as `export` has it; before, that in the queue; None when never queued."""
        record = self.page or (self.history[-1] if self.history else None)
        return record.score if record else self.entry.score if self.entry else None

    @property
    def summary(self) -> str:
        """The verdict or the state of the URL, and how it is reached, in some sentences."""
        return joined(SPACE, filter(None, [self.sentence, self._origin()]))

    @property
    def sentence(self) -> str:
        """The verdict or the state of the URL."""
        return joined(SPACE, filter(None, [self._state(), self._notes()]))

    def _notes(self) -> str:
        """Return what a later visit met in place of a stored page, and the uses that its site opts out of."""
        page = self.page
        if page is None:
            return ""
        last = self.history[-1]
        at, reason = moment(last.fetched_at), describe(last.reason)
        met = _("The visit at {at} was {reason}; the page is from before.", at=at, reason=reason)
        opt_outs = _("Its site opts out of: {uses}.", uses=joined(COMMA, page.opt_outs))
        return joined(SPACE, [*([met] if last.blocked else []), *([opt_outs] if page.opt_outs else [])])

    def _state(self) -> str:
        entry = self.entry
        if entry is None and not self.history:
            return _("Never queued: {reason}.", reason=self.outside or _("no fetched page links to it"))
        if self.verdict is not None:
            return self.verdict.sentence
        if entry is not None and entry.state is UrlState.WAITING:
            return self._waiting(entry)
        if entry is not None and entry.state is UrlState.LEASED:
            return _("It is being fetched now.")
        return self._settled()

    def _waiting(self, entry: UrlEntry) -> str:
        info = self.frontier_info
        rank = _("not among the first {number:,}", number=QUEUE_SEEN)
        queue = _(
            "Waiting with score {score:.3f}: {rank} of {waiting:,} in the queue.",
            score=entry.score,
            rank=_("rank {rank:,}", rank=info.rank) if info.rank else rank,
            waiting=info.waiting,
        )
        if not self.trouble:
            return queue
        seconds, host = self.next_try_seconds, self.frontier_info.host
        retry = _("Its host stays parked until released.") if host is not None and host.parked else None
        if seconds is not None:
            retry = _("The next try is possible in {time}.", time=duration(seconds))
            if seconds < 1:
                retry = _("The next try is possible now.")
        return joined(SPACE, filter(None, [self._not_yet(entry), retry, queue]))

    def _not_yet(self, entry: UrlEntry) -> Translatable:
        """Return why a waiting URL was not fetched, and how often and when that was tried."""
        where: list[str] = [entry.host]
        if self.tries:
            where.append(_("{n:,} failed try", "{n:,} failed tries", n=self.tries))
        if self.tries and self.last_try:
            where.append(_("the last at {at}", at=moment(self.last_try)))
        return _("Not fetched yet: {reason} ({where}).", reason=self.trouble, where=joined(COMMA, where))

    def _settled(self) -> str:
        last = self.history[-1] if self.history else None
        reason = last.reason if last else self.entry.reason if self.entry else NO_REASON
        when = last.fetched_at if last else 0.0
        if last and last.outcome is Outcome.DONE:
            what = _("It has no page of its own: {reason}", reason=describe(reason)) if reason else _("Done")
            return _at(what, when)
        if reason or (self.entry and self.entry.state is UrlState.FAILED):
            is_whole = (last and last.blocked) or reason.kind in SHOWN_IN_FULL  # the plain words leave out the detail
            shown = describe(reason) if is_whole else plain_reason(reason)
            return _at(_("Failed: {reason}", reason=shown), when)
        return _("Done; its page is in the page store of another machine.")

    @property
    def links_away(self) -> int:
        """Number of links from the seed on the path."""
        return len(self.path) - self._has_own_hop

    @property
    def _has_own_hop(self) -> bool:
        return bool(self.path) and self.path[-1].record.fingerprint == fingerprint(self.url)

    @property
    def anchor(self) -> str:
        """The words of the last link of the path."""
        if self._has_own_hop:
            return self.path[-1].anchor
        return self.next_link.anchor if self.next_link else ""

    def _origin(self) -> str:
        if not self.links_away:
            is_seed = not self.path[0].record.parent if self.path else self.entry and not self.entry.parent
            return _("It is a seed.") if is_seed else ""
        by = self.path[-2 if self._has_own_hop else -1].record
        how = _("{url} by the link “{anchor}”", url=by.url, anchor=self.anchor) if self.anchor else by.url
        return _(
            "Found on {page}, {n:,} link from the seed {seed}.",
            "Found on {page}, {n:,} links from the seed {seed}.",
            page=how,
            n=self.links_away,
            seed=self.path[0].record.url,
        )

    def lines(self, language: str = ENGLISH) -> list[str]:
        """Return a short explanation, of at most `MAX_LINES` lines."""
        lines = [fit(self.url)]
        if self.page:
            title = _("Title:    {title}", title=self.page.title or _("(none)"))
            lines.append(fit(translated(title, language)))
        if self.verdict:
            notes = translated(self._notes(), language)
            lines += [*self.verdict.lines(language), *(wrapped(notes) if notes else ())]
        else:
            lines += list(wrapped(translated(self.sentence, language)))[:4]
        return [*lines, *(translated(line, language) for line in self._path_lines(MAX_LINES - len(lines), language))]

    def _path_lines(self, room: int, language: str) -> list[str]:
        if not self.links_away:
            return [origin] if (origin := self._origin()) else []
        start = self.path[0].record
        lines: list[str] = [titled("  ", start.title, start.url), *(self._step(hop, language) for hop in self.path[1:])]
        if not self._has_own_hop:
            lines.append(_("  “{anchor}” → this URL", anchor=fit(self.anchor, 30)))
        if len(lines) >= room:
            kept = max(room - 3, 1)
            left_out = len(lines) - 1 - kept
            more = _("  … {n:,} page more (--details) …", "  … {n:,} pages more (--details) …", n=left_out)
            lines = [lines[0], more, *lines[-kept:]]
        return [_("Path, {n:,} link from a seed:", "Path, {n:,} links from a seed:", n=self.links_away), *lines]

    def _step(self, hop: PathHop, language: str) -> str:
        how = translated(_("  redirects to "), language)
        if hop.anchor or hop.parts:
            how = f"  “{fit(hop.anchor, 30)}” → "
        if hop.record.fingerprint == fingerprint(self.url):
            return _("{how}this page", how=how)
        return titled(how, hop.record.title, hop.record.url)

    def detail_lines(self, language: str = ENGLISH) -> Iterator[str]:
        """Yield all numbers: scores and their parts, words with weights, every page of the path, every visit."""
        return (translated(line, language) for line in self._detail_lines(language))

    def _detail_lines(self, language: str) -> Iterator[str]:
        yield from ("", _("Details"), _("  URL: {url}", url=self.url))
        yield from self._score_lines(language)
        if self.verdict:
            yield from self.verdict.detail_lines(language)
        if self.path:
            yield _("  Shortest known path, with the score and the relevance of each page:")
        for number, hop in enumerate(self.path):
            yield from self._hop_lines(number, hop)
        if self.history and (signals := self.history[-1].signals):
            yield _("  Usage signals, by where they were read:")
            yield from (f"    {signal.source:<13} {signal.statement}: {signal.value}" for signal in signals)
        if self.history:
            yield _("  Visits:")
            yield from (
                _("    {at}  {outcome}", at=moment(record.fetched_at), outcome=_outcome(record))
                for record in self.history
            )

    def _score_lines(self, language: str) -> Iterator[str]:
        if self.score is None:
            return
        if self.history:
            yield _("  Score when it was fetched: {score:.3f}", score=self.score)
        else:
            yield _("  Score in the queue: {score:.3f}", score=self.score)
        if self.found_on is None:
            return
        page = self.found_on.url
        if self.link:
            page = _("{url} by the link “{anchor}”", url=page, anchor=self.link.anchor)
        yield _("  Found with the best score on {page}", page=page)
        if self.link is None:
            return
        yield _("  Score when that link was found: {score:.3f}", score=self.link.score)
        if self.link.parts and self.is_log_odds:
            yield _("  Parts of the link score as log-odds, above 0 for the link, below 0 against it:")
        elif self.link.parts:
            yield _("  Parts of the link score:")
        if self.link.parts:
            yield from listed(self.link.parts, language, signed=self.is_log_odds)

    def _hop_lines(self, number: int, hop: PathHop) -> Iterator[str]:
        record = hop.record
        yield f"    {number}. {record.url}"
        yield _("       {title}, {outcome}", title=record.title or _("(no title)"), outcome=_outcome(record))
        if not number:
            yield _("       a seed, score {score:.3f}", score=record.score)
        elif hop.anchor or hop.parts:
            yield _("       by the link “{anchor}”, score {score:.3f}", anchor=hop.anchor, score=hop.score)
        else:
            yield _("       by redirect")
        if record.page and record.relevant:
            yield _("       relevant, relevance {relevance:.3f}", relevance=record.relevance)
        elif record.page:
            yield _("       not relevant, relevance {relevance:.3f}", relevance=record.relevance)

    def as_json(self, *, details: bool = False) -> dict[str, Any]:
        """Return plain values; with `details`, all of them, under that key."""
        verdict = self.verdict.as_json() if self.verdict else dict.fromkeys(_VERDICT_KEYS)
        page = self.page
        short = {
            "url": self.url,
            "title": page.title if page else "",
            "state": self.state,
            "summary": self.summary,
            "reason": self.reason,
            **verdict,
            "score": self.score,
            "queue_rank": self.frontier_info.rank or None,
            "anchor": self.anchor,
            "path": [{"url": hop.record.url, "title": hop.record.title, "anchor": hop.anchor} for hop in self.path],
        }
        return {**short, "details": self.details()} if details else short

    def details(self) -> dict[str, Any]:
        """Return the plain values behind `detail_lines`."""
        host, link = self.frontier_info.host, self.link
        return {
            "trouble": self.trouble,
            "parked": str(host.parked) if host else "",
            "tries": self.tries,
            "last_try": self.last_try,
            "next_try_seconds": self.next_try_seconds,
            "frontier": asdict(self.entry, dict_factory=with_messages) if self.entry else None,
            "found_on": self.found_on.url if self.found_on else "",
            "link": {**link._asdict(), "parts": dict(link.parts)} if link else None,
            "words": [asdict(word) for word in self.verdict.words] if self.verdict else [],
            "path": [_hop(hop) for hop in self.path],
            "history": [_visit(record) for record in self.history],
        }


_VERDICT_KEYS = ("relevance", "relevant", "threshold", "rank", "pages", "words_for", "words_against", "nearest")


def moment(seconds: float | None) -> str:
    """Format a time in UTC."""
    return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _at(what: str, seconds: float) -> Translatable:
    """Return a sentence about what happened, with the time where it is known."""
    return _("{what}, at {moment}.", what=what, moment=moment(seconds)) if seconds else _("{what}.", what=what)


def _outcome(record: PageRecord) -> Translatable:
    """Format the outcome of a fetch as it was stored."""
    outcome = _(str(record.outcome))
    if record.reason:
        return _("{outcome}: {reason}", outcome=outcome, reason=describe(record.reason))
    return _("{outcome}, HTTP {status}", outcome=outcome, status=record.status) if record.status else outcome


def _hop(hop: PathHop) -> dict[str, Any]:
    link = {"anchor": hop.anchor, "score": hop.score, "score_parts": dict(hop.parts)}
    return {**_visit(hop.record), **link}


def _visit(record: PageRecord) -> dict[str, Any]:
    kept = (
        "url",
        "status",
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
        "reason": describe(record.reason),
        "outcome": str(record.outcome),
        "opt_outs": list(record.opt_outs),
        "signals": [signal._asdict() for signal in record.signals],
        "relevance_parts": dict(record.parts),
        **({"topics": topics} if topics else {}),
    }


class _FrontierQueries(Protocol):
    async def find(self, url: str) -> UrlEntry | None: ...

    async def find_host(self, host: str) -> HostEntry | None: ...

    async def get_state(self, host: str, kind: str) -> str | None: ...

    async def peek(self, limit: int) -> list[UrlEntry]: ...

    async def counts(self) -> Counts: ...


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
    info = FrontierInfo(
        entry=entry,
        host=await frontier.find_host(host),
        robots_at=robots_at,
        robots_tries=tries,
    )
    if entry is None or entry.state is not UrlState.WAITING:
        return info
    queue = [waiting.url for waiting in await frontier.peek(QUEUE_SEEN)]
    rank = queue.index(url) + 1 if url in queue else 0
    return replace(info, rank=rank, waiting=(await frontier.counts()).waiting)


def explanation_of(
    crawl: CrawlSetup,
    url: str,
    frontier_info: FrontierInfo,
    collection: PageStoreReader,
    judge: Judge | None,
) -> Explanation:
    """Combine what the frontier, the page store and the judge know of a canonical URL."""
    entry, number = frontier_info.entry, fingerprint(url)
    record, path, next_link = collection.find(number), collection.path(number), None
    parent = record.parent if record else entry.parent if entry else 0
    if entry and parent and not path:
        nearest, next_link = collection.first_link(url, entry.hops, parent)
        path = collection.path(nearest)
    return Explanation(
        url=url,
        frontier_info=frontier_info,
        path=path,
        history=collection.history(number),
        outside="" if entry else _(crawl.rules().scope.allows(url, 0) or trap(url)),
        verdict=_stored_verdict(crawl, record, collection, judge) if record and record.page else None,
        found_on=collection.find(parent) if parent else None,
        link=collection.link_between(parent, url) if parent else None,
        next_link=next_link,
        is_log_odds=crawl.config.strategy.name == LOG_ODDS_STRATEGY,
    )


def _stored_verdict(
    crawl: CrawlSetup, record: PageRecord, collection: PageStoreReader, judge: Judge | None
) -> PageVerdict:
    """Explain the judgement of a stored page; where its text was not kept, by its term vector."""
    number = record.fingerprint
    text, vector = collection.text(number), collection.terms(number)
    if not text and vector:  # only for the written forms of the words
        text = " ".join([record.title, *(link.anchor for link in collection.links(number))])
    copy = _("a copy of another page") if record.duplicate_of else ""
    return verdict_of(
        judge,
        ParsedPage(url=record.url, title=record.title, text=text, language=record.language),
        kept_judgement(record),
        vector=vector,
        threshold=crawl.threshold(),
        title_of=lambda url: found.title if (found := collection.find(fingerprint(url))) else "",
        rank=(0, 0) if copy else collection.rank(record.relevance),
        note=joined(SEMICOLON, filter(None, [copy, describe(record.reason)])),
    )


def judge_of(crawl: CrawlSetup) -> Judge | None:
    """Load the judge of a crawl; None when it cannot be loaded, which the log records."""
    try:
        return build_judge(crawl)
    except ThresherError:
        logger.warning("the judge of %s cannot be loaded", crawl.name, exc_info=True)
        return None


async def explain(crawl: CrawlSetup, text: str) -> Explanation:
    """Explain a URL.

    Raises:
        ConfigError: The text is not an http or https URL.
    """
    url = canonicalize(text)
    if url is None:
        raise ConfigError(_("{text!r} is not an http or https URL, such as https://example.org/page", text=text))
    async with crawl.connect() as connected:
        frontier_info = await frontier_info_of(connected.frontier_reader, url)
    with PageStoreReader(crawl.folder.pages) as collection:
        record = collection.find(fingerprint(url))
        judge = judge_of(crawl) if record and record.page else None
        return explanation_of(crawl, url, frontier_info, collection, judge)
