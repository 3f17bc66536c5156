"""Reading the page store: all segments of a crawl as one collection, also while workers write.

`kept_page` rebuilds a parsed page from its row: its text, and the links that it added to the frontier. The context of a
link is taken from the text around its anchor; elements and headings are not stored.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.parsing.opt_outs import AI_OPT_OUTS
from thresher.reasons.legacy import stored_in
from thresher.reasons.reason import MOVED
from thresher.records import LANGUAGE_PART, Judgement, Link, Outcome, ParsedPage, ScoreBreakdown, best_topic
from thresher.sqlite_files import open_to_read, readable_uri
from thresher.storage.latest import LatestRows
from thresher.storage.migrations import check_version, read_as_newest
from thresher.storage.page_store import (
    FoundLink,
    PageRecord,
    StoredContent,
    segment_files,
    unpacked_links,
    unpacked_parts,
    unpacked_signals,
    unpacked_text,
    unpacked_topics,
)
from thresher.storage.visits import GONE_STATUSES
from thresher.urls.canonical import fingerprint as fingerprint_of
from thresher.urls.canonical import host_key

if TYPE_CHECKING:
    from thresher.parsing.main_content import PageContent

_CONTENTS = ("text", "main", "markup", "links", "terms")
_COLUMNS = ", ".join(["reason_kind", *(name for name in PageRecord.__slots__ if name not in _CONTENTS)])
_RANKED = (
    f"SELECT id, {_COLUMNS} FROM page WHERE page = 1 AND relevance >= ? AND id <= ? "  # noqa: S608 - our own names
    "ORDER BY relevance DESC, fetched_at, id"
)
_RANKED_BY_TOPIC = (
    f"SELECT id, {_COLUMNS} FROM page WHERE page = 1 AND json_extract(topics, :topic) >= :least AND id <= :last "  # noqa: S608 - our own names
    "ORDER BY json_extract(topics, :topic) DESC, fetched_at, id"
)


_VERDICTS = "SELECT id, url, duplicate_of, relevant, relevance FROM page WHERE page = 1 AND id <= ?"


_TALLY = (
    "SELECT count(*), coalesce(sum(duplicate_of <> 0), 0), coalesce(sum(relevant AND duplicate_of = 0), 0), "
    "coalesce(sum(iif(duplicate_of = 0, relevance, 0)), 0.0) FROM page WHERE page = 1 AND "
)


_TOPICS = "SELECT topics FROM page WHERE page = 1 AND duplicate_of = 0 AND topics IS NOT NULL AND "


MAX_LINKING = 20_000
"""Rows whose links are searched for a nearer page than the stored one: a second, at some 50 µs each."""


class PageOrder(Enum):
    """Orders of pages, as SQL."""

    BEST = "relevance DESC"
    UNSURE = "abs(relevance - 0.5)"
    ANY = "fingerprint"


@dataclass(frozen=True, kw_only=True)
class PathHop:
    """One step of the path from a seed: a page, and the link that led to it.

    Args:
        record: The fetch.
        anchor: The anchor text of the link; empty for a seed or a redirect.
        score: The score of that link.
        parts: The components of the score.
    """

    record: PageRecord
    anchor: str = ""
    score: float = 0.0
    parts: ScoreBreakdown = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PageTally:
    """Counts of pages, each URL once, by their current judgements.

    Args:
        pages: URLs with a page, duplicates included.
        duplicates: Those of them with the text of another page.
        relevant: Relevant pages without duplicates.
        expected: The sum of the relevances without duplicates: the expected number of pages on topic.
    """

    pages: int = 0
    duplicates: int = 0
    relevant: int = 0
    expected: float = 0.0

    def __add__(self, other: PageTally) -> PageTally:
        return PageTally(
            pages=self.pages + other.pages,
            duplicates=self.duplicates + other.duplicates,
            relevant=self.relevant + other.relevant,
            expected=self.expected + other.expected,
        )

    def __sub__(self, other: PageTally) -> PageTally:
        return self + PageTally(
            pages=-other.pages, duplicates=-other.duplicates, relevant=-other.relevant, expected=-other.expected
        )


class PageStoreReader:
    """All pages of a crawl, over the segments of all workers.

    Args:
        without_opt_outs: Whether `ranked` leaves out pages with an AI opt-out.
    """

    def __init__(self, folder: Path, *, without_opt_outs: bool = False) -> None:
        self._without_opt_outs = without_opt_outs
        self._paths = segment_files(folder)
        opened: dict[str, sqlite3.Connection] = {}
        with ExitStack() as half_open:
            for path in self._paths:
                if (segment := _open(path)) is not None:
                    half_open.callback(segment.close)
                    opened[path.stem] = segment
            half_open.pop_all()
        self.names = list(opened)
        """Names of the workers whose segments are open, in the order of `segments`."""
        self._segments = list(opened.values())

    @property
    def segments(self) -> Sequence[sqlite3.Connection]:
        """The open segments; to be used in the thread that opened them."""
        return self._segments

    def record(self, segment: int, row_id: int) -> PageRecord | None:
        query = f"SELECT {_COLUMNS} FROM page WHERE id = ?"  # noqa: S608 - our own names
        row = self._segments[segment].execute(query, [row_id]).fetchone()
        return _record(row) if row else None

    def close(self) -> None:
        for segment in self._segments:
            segment.close()

    def __enter__(self) -> PageStoreReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ranked(
        self, *, min_relevance: float = 0.0, relevant: bool = False, duplicates: bool = False, topic: str = ""
    ) -> Iterator[PageRecord]:
        """Yield the pages, most relevant first, each URL once by its last row, without text and links.

        With a topic, of several, all of this is by the judgements for this topic.

        Args:
            min_relevance: Skip pages below it.
            relevant: Skip pages that are not relevant.
            duplicates: Also yield pages with the text of another page.
            topic: A topic of a crawl of several; its judgements replace those of the records.
        """
        repeats = self.repeats()
        try:
            numbers = range(len(self._segments))
            streams = [self._ranked_segment(repeats, number, min_relevance, topic) for number in numbers]
            for record in heapq.merge(*streams, key=_rank):
                is_chosen = (duplicates or not record.duplicate_of) and (record.relevant or not relevant)
                if is_chosen and not (self._without_opt_outs and self._has_opted_out(record, repeats)):
                    yield record
        finally:
            repeats.close()

    def _ranked_segment(
        self, repeats: LatestRows, number: int, min_relevance: float, topic: str
    ) -> Iterator[PageRecord]:
        segment, last = self._segments[number], repeats.last[number]
        if topic:
            values = {"topic": _topic_path(topic), "least": min_relevance, "last": last}
            found = segment.execute(_RANKED_BY_TOPIC, values)
        else:
            found = segment.execute(_RANKED, [min_relevance, last])
        for row in found:
            if not repeats.is_stale(number, row["id"]):
                yield for_topic(_record(row), topic)

    def latest(self, columns: Sequence[str]) -> Iterator[tuple[str, sqlite3.Row]]:
        """Yield some columns of all pages, each URL once by its last row, with the name of its segment.

        The order is that of the segments and of their rows; contents are as they are stored, packed.
        """
        query = f"SELECT id, {', '.join(columns)} FROM page WHERE page = 1 AND id <= ?"  # noqa: S608 - our own names
        with closing(self.repeats()) as repeats:
            for number, (name, segment) in enumerate(zip(self.names, self._segments, strict=True)):
                for row in segment.execute(query, [repeats.last[number]]):
                    if not repeats.is_stale(number, row["id"]):
                        yield name, row

    def _has_opted_out(self, record: PageRecord, repeats: LatestRows) -> bool:
        if repeats.has_several(record.fingerprint):
            return self.is_opted_out(record.fingerprint)
        return not AI_OPT_OUTS.isdisjoint(record.opt_outs)

    def is_opted_out(self, fingerprint: int) -> bool:
        """Return whether a page has an AI opt-out, by its last version and by every later visit."""
        found = self.history(fingerprint)
        last = max((place for place, record in enumerate(found) if record.page), default=0)
        return any(not AI_OPT_OUTS.isdisjoint(record.opt_outs) for record in found[last:])

    def repeats(self) -> LatestRows:
        """Return which URLs have several rows, and which rows count; the caller closes it."""
        return LatestRows(self._segments, self.scratch())

    def scratch(self) -> sqlite3.Connection:
        """Return a connection for temporary tables; they are in an unnamed file until it is closed."""
        place = readable_uri(self._paths[0]) if self._paths else "file::memory:"
        return sqlite3.connect(place, uri=True, isolation_level=None)

    def tally(self) -> PageTally:
        with closing(self.repeats()) as repeats:
            total = PageTally()
            for place, segment in enumerate(self._segments):
                total += _tally(segment, "id <= ?", repeats.last[place])
                for row_id in repeats.stale(place):
                    total -= _tally(segment, "id = ?", row_id)
        return total

    def count_other_languages(self) -> int:
        """Count the pages that were rejected for their language."""
        query = "SELECT DISTINCT fingerprint FROM page WHERE page = 1 AND instr(parts, ?)"
        return len({row[0] for segment in self._segments for row in segment.execute(query, [f'"{LANGUAGE_PART}"'])})

    def topic_tallies(self) -> dict[str, int]:
        """Return the number of relevant pages of each topic; a page that is relevant to two counts for both."""
        found: Counter[str] = Counter()
        with closing(self.repeats()) as repeats:
            for place, segment in enumerate(self._segments):
                found.update(_relevant_topics(segment, "id <= ?", repeats.last[place]))
                for row_id in repeats.stale(place):
                    found.subtract(_relevant_topics(segment, "id = ?", row_id))
        return dict(found)

    def host_tallies(self) -> dict[str, PageTally]:
        found: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0, 0.0])
        with closing(self.repeats()) as repeats:
            for place, segment in enumerate(self._segments):
                for row in segment.execute(_VERDICTS, [repeats.last[place]]):
                    if not repeats.is_stale(place, row["id"]):
                        counts = bool(row["duplicate_of"] == 0)
                        parts = (1, not counts, counts and row["relevant"], row["relevance"] if counts else 0.0)
                        host = found[host_key(row["url"])]
                        host[:] = [old + new for old, new in zip(host, parts, strict=True)]
        return {
            host: PageTally(pages=int(pages), duplicates=int(copies), relevant=int(relevant), expected=expected)
            for host, (pages, copies, relevant, expected) in found.items()
        }

    def some(self, order: PageOrder, limit: int) -> list[PageRecord]:
        """Return the first pages of each segment in an order: of those with a stored text, without duplicates."""
        query = (
            f"SELECT {_COLUMNS} FROM page WHERE id IN (SELECT id FROM page WHERE page = 1 AND duplicate_of = 0 "  # noqa: S608 - our own names
            f"AND text IS NOT NULL ORDER BY {order.value} LIMIT ?)"
        )
        return [_record(row) for segment in self._segments for row in segment.execute(query, [limit])]

    def near(self, relevance: float, limit: int, *, topic: str = "") -> list[PageRecord]:
        """Return the pages of each segment nearest to a relevance, `limit` on each side, filtered as by `some`.

        Args:
            topic: A topic of a crawl of several; its judgements replace those of the records.
        """
        value = _relevance_of(topic)
        sides = (f"{value} >= :relevance ORDER BY {value}", f"{value} < :relevance ORDER BY {value} DESC")
        queries = [
            f"SELECT {_COLUMNS} FROM page WHERE page = 1 AND duplicate_of = 0 AND text IS NOT NULL AND {side} LIMIT :limit"  # noqa: S608, E501 - our own names
            for side in sides
        ]
        values = {"relevance": relevance, "limit": limit, "topic": _topic_path(topic)}
        return [
            for_topic(_record(row), topic)
            for segment in self._segments
            for query in queries
            for row in segment.execute(query, values)
        ]

    def rank(self, relevance: float, *, topic: str = "") -> tuple[int, int]:
        """Return the place of a relevance among the pages, 1 for the highest, and their number; without duplicates."""
        query = (
            f"SELECT coalesce(sum({_relevance_of(topic)} > :relevance), 0), count(*) FROM page "  # noqa: S608 - our own names
            "WHERE page = 1 AND duplicate_of = 0 AND id BETWEEN :first AND :last"
        )
        values = {"relevance": relevance, "topic": _topic_path(topic)}
        above = pages = 0
        with closing(self.repeats()) as repeats:
            for place, segment in enumerate(self._segments):
                counted = [(1, 0, repeats.last[place]), *((-1, row_id, row_id) for row_id in repeats.stale(place))]
                for sign, first, last in counted:
                    found = segment.execute(query, {**values, "first": first, "last": last}).fetchone()
                    above, pages = above + sign * found[0], pages + sign * found[1]
        return above + 1, pages

    def find(self, fingerprint: int) -> PageRecord | None:
        """Return the last record of a URL with a page; without any page, the last record."""
        rows = [row for segment in reversed(self._segments) if (row := _last(segment, fingerprint, _COLUMNS))]
        return max(map(_record, rows), key=lambda record: (record.page, record.fetched_at), default=None)

    def history(self, fingerprint: int) -> list[PageRecord]:
        """Return all records of a URL, oldest first: attempts, redirects, failures."""
        query = f"SELECT {_COLUMNS} FROM page WHERE fingerprint = ?"  # noqa: S608 - our own names
        rows = [row for segment in self._segments for row in segment.execute(query, [fingerprint])]
        return sorted(map(_record, rows), key=lambda record: record.fetched_at)

    def settled_since(self, since: float) -> Iterator[int]:
        """Yield the fingerprints of the URLs that were settled since a time, each once."""
        query = "SELECT DISTINCT fingerprint FROM page WHERE fetched_at >= ? ORDER BY fingerprint"
        streams = [(row[0] for row in segment.execute(query, [since])) for segment in self._segments]
        return (fingerprint for fingerprint, _ in groupby(heapq.merge(*streams)))

    def gone_or_moved(self) -> Iterator[int]:
        """Yield the fingerprints of URLs of which some visit found no page, but 404, 410 or a redirect, each once."""
        gone = f"status IN {_places(GONE_STATUSES)} OR reason_kind IN {_places(MOVED)}"
        query = f"SELECT DISTINCT fingerprint FROM page WHERE page = 0 AND ({gone}) ORDER BY fingerprint"  # noqa: S608
        values = [*GONE_STATUSES, *MOVED]
        streams = [(row[0] for row in segment.execute(query, values)) for segment in self._segments]
        return (fingerprint for fingerprint, _ in groupby(heapq.merge(*streams)))

    def texts(self, fingerprint: int) -> list[str]:
        """Return all stored texts of a page, oldest first."""
        query = "SELECT fetched_at, text FROM page WHERE fingerprint = ? AND text IS NOT NULL"
        rows = [tuple(row) for segment in self._segments for row in segment.execute(query, [fingerprint])]
        return [unpacked_text(text) for _, text in sorted(rows)]

    def text(self, fingerprint: int) -> str:
        """Return the text of a page; empty when it was not stored."""
        return unpacked_text(self._blob(fingerprint, "text"))

    def has_text(self, fingerprint: int) -> bool:
        """Return whether the text of a page was stored."""
        newest = self._newest(fingerprint, "text IS NOT NULL AS stored")
        return bool(newest and newest["stored"])

    def stored_content(self, fingerprint: int) -> StoredContent:
        """Return what is stored of the content of a page, packed."""
        row = self._newest(fingerprint, "url, text, main, markup")
        return StoredContent(row["url"], row["text"], row["main"], row["markup"]) if row else StoredContent("")

    def content(self, fingerprint: int) -> PageContent:
        """Return the main content of a page; all visible text when no main content is found."""
        return self.stored_content(fingerprint).content()

    def links(self, fingerprint: int) -> list[FoundLink]:
        """Return the links that a page added to the frontier."""
        return list(unpacked_links(self._blob(fingerprint, "links")))

    def redirects(self) -> dict[int, int]:
        """Return the fingerprints of the URLs that were redirected, each with that of its target."""
        query = (
            "SELECT fingerprint, links FROM page WHERE page = 0 AND links IS NOT NULL "  # noqa: S608 - question marks only
            f"AND reason_kind IN {_places(MOVED)} ORDER BY id"
        )
        rows = (row for segment in self._segments for row in segment.execute(query, [*MOVED]))
        return {start: fingerprint_of(link.url) for start, links in rows for link in unpacked_links(links)}

    def _blob(self, fingerprint: int, column: str) -> bytes | None:
        newest = self._newest(fingerprint, column)
        return newest[0] if newest else None

    def _newest(self, fingerprint: int, columns: str) -> sqlite3.Row | None:
        """Return columns of the last row of a URL with a page; without any page, of the last row."""
        columns = f"{columns}, page, fetched_at"
        found = [row for segment in reversed(self._segments) if (row := _last(segment, fingerprint, columns))]
        return max(found, key=lambda row: (row["page"], row["fetched_at"]), default=None)

    def link_between(self, parent: int, url: str) -> FoundLink | None:
        """Return the link by which a page led to a URL."""
        return next((link for link in self.links(parent) if link.url == url), None)

    def terms(self, fingerprint: int) -> bytes:
        """Return the term vector of a page as the judge wrote it; empty when there is none."""
        return self._blob(fingerprint, "terms") or b""

    def path(self, fingerprint: int) -> list[PathHop]:
        """Return the shortest known path from a seed to a URL; empty when the URL has no record."""
        hops: list[PathHop] = []
        visited: set[int] = set()
        record = self.find(fingerprint)
        while record is not None and record.fingerprint not in visited:
            visited.add(record.fingerprint)
            parent, link = self.first_link(record.url, record.depth, record.parent)
            hops.append(
                PathHop(record=record, anchor=link.anchor, score=link.score, parts=link.parts)
                if link
                else PathHop(record=record, score=record.score)
            )
            record = self.find(parent) if parent else None
        return hops[::-1]

    def first_link(self, url: str, depth: int, parent: int) -> tuple[int, FoundLink | None]:
        """Return the page nearest to a seed that links to a URL, by its fingerprint, and its link.

        A URL is stored with the page whose link has the best score; another may be nearer to a seed.

        Args:
            depth: Links from a seed to the URL: a page that is not nearer is not looked at, unless it is a redirect.
            parent: The stored page; returned when no nearer one is found in `MAX_LINKING` rows; 0 for a seed.
        """
        if not parent:
            return 0, None
        near = "links IS NOT NULL AND (depth < ? OR (page = 0 AND depth = ?))"
        query = f"SELECT depth, id FROM page WHERE {near} ORDER BY depth, id LIMIT ?"  # noqa: S608 - our own names
        rows = heapq.merge(
            *(
                ((row["depth"], number, row["id"]) for row in segment.execute(query, [depth, depth, MAX_LINKING]))
                for number, segment in enumerate(self._segments)
            )
        )
        quoted = json.dumps(url, ensure_ascii=False)
        for _, number, row_id in islice(rows, MAX_LINKING):
            found = self._segments[number].execute("SELECT fingerprint, links FROM page WHERE id = ?", [row_id])
            page, links = found.fetchone() or (0, b"")  # a worker may have replaced the row
            if page and quoted in unpacked_text(links):
                link = next((link for link in unpacked_links(links) if link.url == url), None)
                if link and page != fingerprint_of(url):
                    return page, link
        return parent, self.link_between(parent, url)


def _tally(segment: sqlite3.Connection, condition: str, row_id: int) -> PageTally:
    pages, duplicates, relevant, expected = segment.execute(_TALLY + condition, [row_id]).fetchone()
    return PageTally(pages=pages, duplicates=duplicates, relevant=relevant, expected=expected)


def _relevant_topics(segment: sqlite3.Connection, condition: str, row_id: int) -> Iterator[str]:
    for [topics] in segment.execute(_TOPICS + condition, [row_id]):
        yield from (name for name, judgement in unpacked_topics(topics).items() if judgement.relevant)


def _topic_path(topic: str) -> str:
    return f'$."{topic}"[0]'


def _relevance_of(topic: str) -> str:
    """Return the SQL of a page's relevance: in all, or for one topic of several."""
    return "json_extract(topics, :topic)" if topic else "relevance"


def _rank(record: PageRecord) -> tuple[float, float]:
    return -record.relevance, record.fetched_at


def _open(path: Path) -> sqlite3.Connection | None:
    """Open a segment for reading; None while it has no tables yet."""
    db = open_to_read(path)
    db.row_factory = sqlite3.Row
    version = check_version(db, path)
    if version == 0:
        db.close()
        return None
    read_as_newest(db, version)
    return db


def _places(values: Collection[object]) -> str:
    return f"({', '.join('?' * len(values))})"


def _last(segment: sqlite3.Connection, fingerprint: int, columns: str) -> sqlite3.Row | None:
    order = "ORDER BY page DESC, id DESC LIMIT 1"
    query = f"SELECT {columns} FROM page WHERE fingerprint = ? {order}"  # noqa: S608 - our own names
    row: sqlite3.Row | None = segment.execute(query, [fingerprint]).fetchone()
    return row


def _record(row: sqlite3.Row) -> PageRecord:
    values = {name: value for name, value in zip(row.keys(), row, strict=True) if name != "id"}
    values["outcome"] = Outcome(values["outcome"])
    values["reason"] = stored_in(values.pop("reason_kind"), values["reason"])
    values["parts"] = unpacked_parts(values["parts"])
    values["topics"] = unpacked_topics(values["topics"])
    values["page"], values["relevant"] = bool(values["page"]), bool(values["relevant"])
    values["opt_outs"] = tuple(values["opt_outs"].split())
    values["signals"] = unpacked_signals(values["signals"])
    return PageRecord(**values)


def for_topic(record: PageRecord, topic: str) -> PageRecord:
    """Return a record with the judgement for one topic, of several; unchanged without a topic."""
    if not topic:
        return record
    own = record.topics.get(topic, Judgement(relevance=0.0, relevant=False))
    parts = record.parts if record.topics and best_topic(record.topics) == topic else {}
    return replace(record, relevance=own.relevance, relevant=own.relevant, reward=own.reward, parts=parts)


AROUND_CHARACTERS = 80
"""Context of a link, on each side of its anchor."""


def kept_page(collection: PageStoreReader, fingerprint: int) -> tuple[ParsedPage, PageRecord] | None:
    """Return a stored page with its record; None when the URL has no page."""
    record = collection.find(fingerprint)
    if record is None or not record.page:
        return None
    text = collection.text(fingerprint)
    page = ParsedPage(
        url=record.url,
        title=record.title,
        text=text or record.title,
        language=record.language,
        links=tuple(_links(collection.links(fingerprint), text)),
    )
    return page, record


def kept_judgement(record: PageRecord) -> Judgement:
    """Return the judgement of a stored page."""
    return Judgement(
        relevance=record.relevance,
        relevant=record.relevant,
        reward=record.reward,
        breakdown=record.parts,
        topics=record.topics,
    )


def _links(found: Sequence[FoundLink], text: str) -> Iterator[Link]:
    """Yield links in their order; each anchor is searched after the one before it."""
    end = 0
    for position, link in enumerate(found):
        start = text.find(link.anchor, end) if link.anchor else -1
        context = ""
        if start >= 0:
            end = start + len(link.anchor)
            before, after = text[max(0, start - AROUND_CHARACTERS) : start], text[end : end + AROUND_CHARACTERS]
            context = f"{before} {after}"
        yield Link(url=link.url, anchor=link.anchor, context=context, position=position)
