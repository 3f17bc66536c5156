"""The records that travel along the line, one per arrow.

    Lease ─► FetchedPage ─► ParsedPage ─► Judgement ─► Candidate ─► Settlement

None can be changed: a part reads what it is given and answers with a record of its own. Links and candidates are named
tuples, since a page has dozens of them and these are made three times as fast. Times are seconds since the
epoch by the store's clock; a fingerprint is the signed 64-bit number of `urls.canonical.fingerprint`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Carry = Mapping[str, Json]
"""What a strategy remembers about one URL: small plain JSON, stored by the frontier, handed back with the lease."""

Parts = Mapping[str, float]
"""The named values that a score was made of, so that `thresher why` can print them."""

NOTHING: dict[str, float] = {}
"""No parts, nothing to carry; nobody writes into it."""


class Link(NamedTuple):
    """A link as it stands on its page.

    Args:
        url: Where it leads: absolute, canonical.
        anchor: Its own words; the alternative text for an image.
        context: The words around it inside its block, without the anchor.
        heading: The nearest heading above it.
        tag_path: The elements it is nested in, outermost first, such as ``html/body/ul/li/a``.
        position: Its number among the page's links, from 0.
        nofollow: Whether the page asks crawlers not to follow it.
        block: The number of its block among the page's blocks.
    """

    url: str
    anchor: str = ""
    context: str = ""
    heading: str = ""
    tag_path: str = ""
    position: int = 0
    nofollow: bool = False
    block: int = 0


RENDERED = "through a browser"
"""The reason in the record of a whole page that a browser made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """What a server answered; header names are in lower case.

    Args:
        header_lines: All header lines as they came, for the archive; empty where nobody keeps them.
        request_lines: The header lines that were sent.
        rendered: The body is what a browser made of the answer.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPage:
    """A page as text and links.

    Args:
        text: Title and all visible text, anchors included.
        language: ``en``, ``zh`` or another code; empty when the page has too little text to tell.
        noindex: The page asks not to be kept.
        nofollow: The page asks that none of its links be followed.
        refresh: Where it sends its reader at once, canonical; empty when it does not.
        blocks: The text of each content block, headings with what follows them; white space as it comes.
        canonical: The address that the page names as the one to keep; empty when it names none that can be believed.
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


SAME = -1.0
"""A reward that is not given: the relevance is the reward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How well a page fits the topic.

    Args:
        relevance: How likely the page is about the topic, from 0 to 1. A judge that estimates probabilities is right in
            seven of ten pages with 0.7; others give their own score.
        relevant: The verdict: whether the relevance reaches the judge's threshold.
        reward: What strategies learn from, from 0 to 1; the relevance unless the judge gives another.
        parts: What the relevance was made of.
        final: Whether the judge will not think again about this page.
    """

    relevance: float
    relevant: bool
    reward: float = SAME
    parts: Parts = field(default_factory=dict)
    final: bool = True

    def __post_init__(self) -> None:
        if self.reward == SAME:
            object.__setattr__(self, "reward", self.relevance)


TOLD = "told"
"""Among the parts of a judgement: a person said so; 1 for yes, 0 for no."""
UNAIDED = "unaided"
"""Beside it: the probability that the judge itself gives, though it has learned from that word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A second thought about a page that was judged before."""

    url: str
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A term that counted in a judgement: for the topic when its weight is positive, against it when negative."""

    term: str
    weight: float


class Candidate(NamedTuple):
    """A URL on its way into the frontier.

    Args:
        url: Absolute and canonical.
        score: Its place in the queue; higher comes first, ties by age.
        parts: What the score was made of.
        carry: What the strategy wants back when the URL is leased.
        depth_left: How many pages a path may still tunnel from here; when found again the maximum wins.
        hops: Links from a seed; when found again the minimum wins.
        redirects: How many redirects in a row led here.
        parent: Fingerprint of the page on which it was found; 0 for a seed.
    """

    url: str
    score: float
    parts: Parts = NOTHING
    carry: Carry = NOTHING
    depth_left: int = 0
    hops: int = 0
    redirects: int = 0
    parent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A URL that is ours until `until`; `fence` proves it when the outcome is handed in.

    Args:
        host: The host key whose budget this lease occupies.
        tries: How often the URL was leased before without an outcome.
        host_pages: Pages that this crawl has taken from the host so far, over all workers.
        host_relevant: How many of them were relevant.
    """

    url: str
    host: str
    score: float
    fence: int
    until: float
    carry: Carry = field(default_factory=dict)
    depth_left: int = 0
    hops: int = 0
    redirects: int = 0
    parent: int = 0
    tries: int = 0
    host_pages: int = 0
    host_relevant: int = 0


class Merge(StrEnum):
    """What becomes of the score when a waiting URL is found again; each strategy names its own."""

    MAX = "max"
    MEAN = "mean"
    FIRST = "first"


class Outcome(StrEnum):
    """How a lease ended.

    DONE and FAILED are final. RETRY puts the URL back with one more try on its account.
    """

    DONE = "done"
    FAILED = "failed"
    RETRY = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """An interval for the number of relevant pages among the URLs that wait now.

    The number lay between both ends in at least 90 % of the lab's crawls (docs/explanation/forecast.md). Pages that no
    fetched page links to are not counted.

    Args:
        pages: Pages that the crawl had when this was computed.
        least: The lower end of the interval.
        most: The upper end; at least 1 while URLs wait.
    """

    pages: int
    least: int
    most: int

    @property
    def interval(self) -> str:
        """Both ends in words."""
        return f"{self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """All that one processed URL changes, committed in one step.

    Args:
        lease: The lease that this settles.
        outcome: What becomes of the URL.
        reason: Why it failed, is tried again or brought no whole page; empty when done.
        links: The candidates found on the page.
        delay_seconds: How long the host must now be left alone.
        page: Whether a page was taken (a redirect or an error is not a page).
        relevant: Whether that page was relevant.
        park: Why the host should be asked no more; empty when it may go on.
        content: Hash of the page's text, by which a later page is known as its duplicate; 0 for none.
    """

    lease: Lease
    outcome: Outcome
    reason: str = ""
    links: Sequence[Candidate] = ()
    delay_seconds: float = 0.0
    page: bool = False
    relevant: bool = False
    park: str = ""
    content: int = 0
