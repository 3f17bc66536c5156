"""Feeds: RSS, RSS 1.0 (RDF), Atom and JSON Feed, as a source of URLs.

A feed is read within limits, XML without entities. Of each entry only the URL, the title, the beginning of the summary
and the date are kept. Feeds are read that are seeds, and those that the first page of a host links to.

A feed is a URL of the frontier like any other: its host's delay, robots.txt and the address guard apply to it. Its
entries are scored by the strategy as links with the title as anchor and the summary as context, the newest first; those
of a feed that the user gave as a seed as links of a relevant page.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.parsing.markup import decode
from thresher.parsing.xml_events import XmlFlaw, cut, read_xml
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, FetchedPage, Judgement, Lease, Link, ParsedPage, RequestKind
from thresher.sitemaps.parser import MAX_ADDRESS_CHARACTERS, w3c_time
from thresher.sitemaps.source import MAX_REDIRECTS, SitemapHosts, score_listed
from thresher.strategies.base import Strategy
from thresher.urls.canonical import canonicalize, fingerprint, host_key

MAX_FEEDS_PER_HOST = 3
MAX_ENTRIES = 1_000
MAX_JSON_BYTES = 1 << 20
"""Larger JSON is not read: it is held in memory as a whole."""
MAX_DEPTH = 100
"""Nested elements; entries may hold XHTML."""
MAX_TITLE_CHARACTERS = 300
MAX_SUMMARY_CHARACTERS = 1_000

_DATES = ("published", "pubdate", "issued", "date", "date_published", "updated", "modified", "date_modified")
_SUMMARIES = ("summary", "description", "content", "encoded", "summary", "content_text", "content_html")
_TEXTS = frozenset({"title", "link", "guid", "id", *_DATES, *_SUMMARIES})
_TAG = re.compile(r"<[^<>]{0,2000}>").sub


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of a feed: its URL as written, and when it was published; 0 when that is unknown or in the future."""

    address: str
    title: str = ""
    summary: str = ""
    published_at: float = 0.0


@dataclass
class Feed:
    """The content of a feed; `flaw` says why it was not read to its end."""

    entries: list[FeedEntry] = field(default_factory=list)
    flaw: str = ""


def read_feed(body: bytes, content_type: str = "", *, now: float) -> Feed:
    """Parse a feed; what comes before a flaw is kept."""
    text = decode(body, content_type).lstrip()
    return _read_json(text, now) if text.startswith("{") else _read_xml(text, now)


def _read_json(text: str, now: float) -> Feed:
    if len(text) > MAX_JSON_BYTES:
        return Feed(flaw=f"JSON larger than {MAX_JSON_BYTES >> 20} MiB")
    try:
        items = json.loads(text).get("items", [])
        entries = [_entry({"link": item.get("url") or item.get("id"), **item}, now) for item in items[:MAX_ENTRIES]]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return Feed(flaw="not a JSON feed")
    return Feed([entry for entry in entries if entry.address])


def _read_xml(text: str, now: float) -> Feed:
    reader, feed = _Reader(now), Feed()
    source = text.encode("utf-8", "replace")
    try:
        read_xml(
            cut(source), start=reader.start, end=reader.end, text=reader.text, max_depth=MAX_DEPTH, encoding="utf-8"
        )
    except XmlFlaw as flaw:
        feed.flaw = str(flaw)
    feed.entries = reader.entries
    return feed


class _Reader:
    """The entries found so far, and the fields of the open one."""

    def __init__(self, now: float) -> None:
        self.entries: list[FeedEntry] = []
        self._now = now
        self._open: list[str] = []
        self._entry_depth = 0
        self._values: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        name = name.lower()
        self._open.append(name)
        if name in ("item", "entry") and not self._entry_depth:
            self._entry_depth, self._values = len(self._open), {}
        elif self._is_field and name == "link" and "href" in attributes and _is_alternate(attributes):
            self._values.setdefault("link", attributes["href"][:MAX_ADDRESS_CHARACTERS])

    @property
    def _is_field(self) -> bool:
        return self._entry_depth > 0 and len(self._open) == self._entry_depth + 1

    def text(self, text: str) -> None:
        if not self._entry_depth or len(self._open) <= self._entry_depth:
            return
        name = self._open[self._entry_depth]
        if name in _TEXTS:
            self._values[name] = (self._values.get(name, "") + text)[:MAX_ADDRESS_CHARACTERS]

    def end(self, _: str) -> None:
        if len(self._open) == self._entry_depth:
            if (entry := _entry(self._values, self._now)).address:
                self.entries.append(entry)
                if len(self.entries) >= MAX_ENTRIES:
                    raise XmlFlaw(f"more than {MAX_ENTRIES:,} entries")
            self._entry_depth = 0
        self._open.pop()


def _is_alternate(attributes: Mapping[str, str]) -> bool:
    return attributes.get("rel", "alternate") == "alternate"


def _entry(values: Mapping[str, Any], now: float) -> FeedEntry:
    permanent = next((value for key in ("guid", "id") if _is_url(value := values.get(key))), "")
    date = next((str(values[key]) for key in _DATES if values.get(key)), "")
    return FeedEntry(
        str(values.get("link") or permanent).strip()[:MAX_ADDRESS_CHARACTERS],
        _plain([values.get("title")], MAX_TITLE_CHARACTERS),
        _plain((values.get(key) for key in _SUMMARIES), MAX_SUMMARY_CHARACTERS),
        _time(date, now),
    )


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and value.strip().startswith(("http://", "https://"))


def _plain(values: Iterable[Any], limit: int) -> str:
    """Return the first text of several, without markup."""
    text = next((value for value in values if isinstance(value, str) and value.strip()), "")
    return " ".join(_TAG(" ", text[: 4 * limit]).split())[:limit]


def _time(text: str, now: float) -> float:
    """Parse the date of an e-mail, as in RSS, or a W3C date; 0 for none, and for one in the future."""
    if seconds := w3c_time(text, now=now):
        return seconds
    try:
        seconds = email.utils.parsedate_to_datetime(text.strip()).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return 0.0
    return seconds if 0 < seconds <= now else 0.0


class FeedSource:
    """Turns pages into feeds, and feeds into candidates; `wanted` is None when only seeds may be feeds."""

    def __init__(self, strategy: Strategy, wanted: SitemapHosts | None) -> None:
        self._strategy = strategy
        self._wanted = wanted

    def is_wanted(self, lease: Lease) -> bool:
        """Return whether a response that is a feed is read."""
        return lease.kind is RequestKind.SEED or (self._wanted is not None and lease.host in self._wanted)

    def of_page(self, lease: Lease, page: ParsedPage) -> list[Candidate]:
        """Return the feeds that the first page of a host links to, on the same host."""
        if self._wanted is None or lease.host_pages or lease.host not in self._wanted:
            return []
        own = [url for url in page.feeds if host_key(url) == lease.host]
        return [_feed(url, lease) for url in own[:MAX_FEEDS_PER_HOST]]

    def moved(self, lease: Lease, target: str) -> list[Candidate]:
        """Return the target of a feed's redirect, if it is on the same host."""
        if host_key(target) != lease.host or lease.redirects >= MAX_REDIRECTS:
            return []
        return [_feed(target, lease)._replace(redirects=lease.redirects + 1)]

    async def read(self, lease: Lease, fetched: FetchedPage) -> tuple[Reason, list[Candidate], list[Candidate]]:
        """Return a summary, no side requests, and the pages that a feed lists."""
        content_type = fetched.headers.get("content-type", "")
        feed = await asyncio.to_thread(read_feed, fetched.body, content_type, now=fetched.fetched_at)
        links = _links(feed.entries, lease.url)
        judgement = Judgement(relevance=1.0, relevant=True) if lease.kind is RequestKind.SEED else None
        summary = Reason.of(ReasonKind.FEED, len(links), len(feed.entries), *filter(None, [feed.flaw]))
        candidates = list(score_listed(self._strategy, links, lease, judgement))
        return summary, [], candidates


def _feed(url: str, lease: Lease) -> Candidate:
    parent = fingerprint(lease.url)
    return Candidate(url=url, score=lease.score, hops=lease.hops, parent=parent, kind=RequestKind.FEED)


def _links(entries: Sequence[FeedEntry], base: str) -> list[Link]:
    """Return the entries as links, the newest first; each URL once."""
    links: dict[str, Link] = {}
    for entry in sorted(entries, key=lambda entry: -entry.published_at):
        url = canonicalize(entry.address, base)
        if url and url not in links:
            links[url] = Link(url=url, anchor=entry.title, context=entry.summary, position=len(links))
    return list(links.values())
