"""The records that the stages of the pipeline exchange.

    Lease ─► FetchedPage ─► ParsedPage ─► Judgement ─► Candidate ─► Settlement

All are immutable: each stage returns new records. Links and candidates are named tuples, since a page has dozens of
them and named tuples are created three times as fast. Times are seconds since the epoch by the store's clock; a
fingerprint is the signed 64-bit number of `urls.canonical.fingerprint`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from thresher.locale.translation import _
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
StrategyData = Mapping[str, Json]
"""A strategy's data about one URL: small JSON, stored by the frontier, returned with the lease."""

ScoreBreakdown = Mapping[str, float]
"""The named components of a score, which `thresher why` prints."""

ONE_TOPIC = ""
"""The name of the only topic of a crawl without `topics`; in a crawl of several it stands for all of them."""

EMPTY: dict[str, float] = {}
"""No breakdown, or no strategy data; shared, so it must not be changed."""


class Link(NamedTuple):
    """A link of a page.

    Args:
        url: Its absolute, canonical URL.
        anchor: Its text; the alternative text for an image.
        context: The words around it inside its block, without the anchor.
        heading: The nearest heading above it.
        tag_path: The elements it is nested in, outermost first, such as ``html/body/ul/li/a``.
        position: Its index among the page's links, from 0.
        nofollow: Whether crawlers should not follow it.
        block: The index of its block among the page's blocks; their number, for a link outside the text.
    """

    url: str
    anchor: str = ""
    context: str = ""
    heading: str = ""
    tag_path: str = ""
    position: int = 0
    nofollow: bool = False
    block: int = 0


class BlockKind(StrEnum):
    """The kinds of block pages: responses that stand in for the page that was requested."""

    CHALLENGE = "challenge"
    CONSENT = "consent"
    LOGIN = "login"
    PAYWALL = "paywall"
    PARKING = "parking"
    ERROR = "error"

    @property
    def reason(self) -> Reason:
        """The reason with which a lease is settled: one per kind, since failures are counted by host and reason."""
        return Reason.of(ReasonKind.BLOCK_PAGE, self)


class UsageSignal(NamedTuple):
    """A statement of a site on the uses of a page, as it was read; `parsing.opt_outs` knows what it denies.

    Args:
        source: Where it was read: ``robots.txt``, ``tdmrep.json``, ``header`` or ``markup``.
        statement: Its name, such as ``content-signal``.
        value: Its value, such as ``ai-train=no``.
    """

    source: str
    statement: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """A response; header names are in lower case.

    Args:
        header_lines: All header lines as received, for the WARC archive; empty without one.
        request_lines: The header lines of the request.
        rendered: Whether the body was rendered by a browser.
        host_signals: The usage signals for the URL in files of its host, such as robots.txt.
        certificate: What is wrong with the certificate of its server; empty when it is valid, or without TLS.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: float
    elapsed_seconds: float = 0.0
    truncated: bool = False
    header_lines: Sequence[tuple[str, str]] = ()
    request_lines: Sequence[tuple[str, str]] = ()
    rendered: bool = False
    host_signals: tuple[UsageSignal, ...] = ()
    certificate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPage:
    """A page as text and links.

    Args:
        text: Title and all visible text, anchors included.
        language: ``en``, ``zh`` or another code; empty when the page has too little text.
        noindex: The page should not be kept.
        nofollow: None of its links should be followed.
        refresh: The canonical target of a meta refresh without delay; empty without one.
        blocks: The text of each content block, headings with the text that follows them; white space is not collapsed.
        canonical: The URL of its canonical link; empty without a plausible one.
        signals: The usage signals that were found for it, of all sources.
        opt_outs: The uses that they deny, sorted: see `parsing.opt_outs`.
        feeds: The canonical URLs of the feeds that its head links to.
    """

    url: str
    title: str = ""
    headings: tuple[str, ...] = ()
    keywords: str = ""
    description: str = ""
    text: str = ""
    language: str = ""
    links: tuple[Link, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    refresh: str = ""
    blocks: tuple[str, ...] = ()
    canonical: str = ""
    signals: tuple[UsageSignal, ...] = ()
    opt_outs: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()


SAME = -1.0
"""Default of the reward: the same as the relevance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgement of a page.

    Args:
        relevance: How likely the page is about the topic, from 0 to 1. With a judge that estimates probabilities, seven
            of ten pages with 0.7 are about the topic; other judges return a score of their own.
        relevant: The verdict: whether the relevance reaches the judge's threshold.
        reward: What strategies learn from, from 0 to 1; by default the relevance.
        breakdown: The components of the relevance.
        final: Whether the judge will not revise this judgement.
        topics: The judgement for each topic of a crawl of several; in a revision only the topics that changed.
    """

    relevance: float
    relevant: bool
    reward: float = SAME
    breakdown: ScoreBreakdown = field(default_factory=dict)
    final: bool = True
    topics: Mapping[str, Judgement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reward == SAME:
            object.__setattr__(self, "reward", self.relevance)

    @classmethod
    def of_topics(cls, topics: Mapping[str, Judgement]) -> Judgement:
        """Combine the judgements for the topics: the maximum counts, and a page is relevant if it is for one."""
        if ONE_TOPIC in topics:
            return topics[ONE_TOPIC]
        best = topics[best_topic(topics)]
        return cls(
            relevance=best.relevance,
            relevant=any(judgement.relevant for judgement in topics.values()),
            reward=max(judgement.reward for judgement in topics.values()),
            breakdown=best.breakdown,
            final=all(judgement.final for judgement in topics.values()),
            topics=topics,
        )


def best_topic(topics: Mapping[str, Judgement]) -> str:
    """Return the topic with the highest relevance; the first of several."""
    return max(topics, key=lambda name: topics[name].relevance)


TOPIC_PART = "topic "
"""Prefix of the parts of a link's score that hold its score for each topic of a crawl of several."""
SEED_TOPICS = "seed of"
"""The key of a seed's strategy data with its topics, in a crawl of several."""

LABEL_PART = "label"
"""The part of a judgement with the page's label: 1 for yes, 0 for no, and between them the probability by a model."""
UNLABELLED_PART = "without label"
"""The part beside it with the judge's own probability, though it was trained with that label."""
LANGUAGE_PART = "other language"
"""The part of the judgement of a page that is rejected for its language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A changed judgement of a page that was judged before."""

    url: str
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class TermWeight:
    """A term that counted in a judgement: for the topic when its weight is positive, against it when negative."""

    term: str
    weight: float


class RequestKind(IntEnum):
    """What is requested with an entry of the frontier. Stores keep the number; the greater wins when found again."""

    PAGE = 0
    ROBOTS = 1
    """The robots.txt of another host, which a robots.txt redirects to."""
    SITEMAP = 2
    FEED = 3
    """A feed that a page links to; a feed among the seeds is a seed."""
    PROBE = 4
    """A page that cannot exist, to learn how its host responds."""
    TICKET = 5
    """A request that only the memory of a Scrapy spider has."""
    SEED = 6
    """A seed, or what it redirects to."""

    @property
    def is_page(self) -> bool:
        """Whether the response may be a page of the crawl; judge and strategy do not see those of other kinds."""
        return self in (RequestKind.PAGE, RequestKind.TICKET, RequestKind.SEED)

    @classmethod
    def at(cls, hops: int) -> RequestKind:
        """Return the kind of a page of which only the number of links from a seed is known."""
        return cls.PAGE if hops else cls.SEED


class Candidate(NamedTuple):
    """A URL to add to the frontier.

    Args:
        url: Absolute and canonical.
        score: Its priority; higher comes first, ties by age.
        breakdown: The components of the score.
        strategy_data: Data that the strategy gets back when the URL is leased.
        depth_left: How many pages a path may still tunnel through from here; when found again the maximum wins.
        hops: Links from a seed; when found again the minimum wins.
        redirects: Number of consecutive redirects before it.
        parent: Fingerprint of the page on which it was found; 0 for a seed.
        kind: What is requested.
        for_host: The host key for which a sitemap is read, if it is on another host; such an entry has no data.
    """

    url: str
    score: float
    breakdown: ScoreBreakdown = EMPTY
    strategy_data: StrategyData = EMPTY
    depth_left: int = 0
    hops: int = 0
    redirects: int = 0
    parent: int = 0
    kind: RequestKind = RequestKind.PAGE
    for_host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The exclusive right to fetch a URL until `until`; `fence` is the fencing token of the commit.

    Args:
        host: The host key whose budget this lease uses.
        tries: How often the URL was leased before without an outcome.
        host_pages: Pages that this crawl has fetched from the host so far, over all workers.
        host_relevant: How many of them were relevant.
        fetch_seconds: How long the fetch took; set by the pipeline when there is a page, else 0.
    """

    url: str
    host: str
    score: float
    fence: int
    until: float
    strategy_data: StrategyData = field(default_factory=dict)
    depth_left: int = 0
    hops: int = 0
    redirects: int = 0
    parent: int = 0
    kind: RequestKind = RequestKind.PAGE
    for_host: str = ""
    tries: int = 0
    host_pages: int = 0
    host_relevant: int = 0
    fetch_seconds: float = 0.0


class Merge(StrEnum):
    """How the score of a waiting URL changes when the URL is found again; chosen by the strategy."""

    MAX = "max"
    MEAN = "mean"
    FIRST = "first"


class Outcome(StrEnum):
    """How a lease ended.

    DONE and FAILED are final. RETRY returns the URL to the frontier and counts the try.
    """

    DONE = "done"
    FAILED = "failed"
    RETRY = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """An interval for the number of relevant pages among the waiting URLs.

    The interval contained the number in at least 90 % of the lab's crawls (docs/measurements/judges.md). Pages that no
    fetched page links to are not counted.

    Args:
        pages: Pages of the crawl when this was computed.
        least: The lower end of the interval.
        most: The upper end; at least 1 while URLs wait.
    """

    pages: int
    least: int
    most: int

    @property
    def interval(self) -> str:
        return _("{least:,} to {most:,}", least=self.least, most=self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """All changes by one processed URL, committed atomically.

    Args:
        lease: The lease that this settles.
        outcome: The outcome of the lease.
        reason: Why it failed, is retried or gave no complete page; none when done.
        links: The candidates found on the page.
        delay_seconds: The delay before the next request to the host.
        page: Whether a page was fetched (a redirect or an error is not a page).
        relevant: Whether that page was relevant.
        park: Why the host is to be parked; none when it is not.
        content: Hash of the page's text, to find later duplicates; 0 for none.
    """

    lease: Lease
    outcome: Outcome
    reason: Reason = NO_REASON
    links: Sequence[Candidate] = ()
    delay_seconds: float = 0.0
    page: bool = False
    relevant: bool = False
    park: Reason = NO_REASON
    content: int = 0
