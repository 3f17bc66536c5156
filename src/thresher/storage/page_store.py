"""The page store: one crash-safe segment per worker, readable while it grows.

A segment is a SQLite file in WAL mode: it survives a killed worker, and can be read while it is written. Every settled
fetch becomes one row, whether it gave a page or not. A page that was fetched again, after a crash or for a refresh, has
several rows; readers use the last one with a page. A judge that refits updates the judgements of stored pages. The
links found on a page are stored in its row with their scores: `thresher why` reads anchors and parts of scores from
them, and link graphs are made from them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import orjson

from thresher.compression import zstd
from thresher.errors import REPAIR, DamagedFile
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import (
    LABEL_PART,
    UNLABELLED_PART,
    FetchedPage,
    Judgement,
    Lease,
    Outcome,
    ParsedPage,
    Revision,
    ScoreBreakdown,
    UsageSignal,
    best_topic,
)
from thresher.storage.migrations import prepare
from thresher.urls.canonical import fingerprint, host_key

if TYPE_CHECKING:
    from thresher.parsing.main_content import PageContent

UNCHANGED = Reason(ReasonKind.UNCHANGED)
"""The reason of a revisit that found the page unchanged; such a row has no page, and the row before it counts."""

COLLECTED = "collected"
"""The subfolder of a page store with copies of the segments of other machines, see `thresher.collection`."""
UPLOADED_TO = "uploaded-to"
"""The file in it with the URL of the collection that this machine has uploaded to."""

_SQL = resources.files("thresher.storage") / "sql"
_LAST = (
    "SELECT id, relevant, duplicate_of, parts, topics FROM page WHERE fingerprint = ? AND page = 1 "
    "ORDER BY id DESC LIMIT 1"
)
_STORED = (
    "SELECT id, url, title, language, relevance, relevant, terms, iif(terms IS NULL, text, NULL), topics "
    "FROM page AS own WHERE page = 1 AND id > ? "
    "AND id = (SELECT max(id) FROM page WHERE fingerprint = own.fingerprint AND page = 1) ORDER BY id LIMIT ?"
)

_DROP_TEXTS = (
    "UPDATE page SET text = NULL, main = NULL, markup = NULL "
    "WHERE page = 1 AND relevant = 0 AND relevance <= ? AND text IS NOT NULL AND terms IS NOT NULL"
)


def segment_files(folder: Path) -> list[Path]:
    """Return the segments of a page store: copies of those of other machines, then those that this machine writes.

    Where a row of this machine is in a copy too, its own one is the last, which counts: its judgement is newer.
    """
    return [*sorted((folder / COLLECTED).glob("*.db")), *sorted(folder.glob("*.db"))]


Packed = bytes


class FoundLink(NamedTuple):
    """A link that was scored and put into the frontier."""

    url: str
    anchor: str
    score: float
    parts: ScoreBreakdown


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """One settled fetch, with everything that explains it.

    Args:
        fingerprint: Of the URL.
        outcome: Whether the URL is done, failed or to be retried.
        reason: Why there is no page; also of a page that was received in part, or rendered by a browser.
        page: Whether the fetch gave a page.
        score: The score of the URL when it was leased.
        parent: Fingerprint of the page that it was found on; 0 for a seed.
        depth: Links from a seed.
        relevance: The probability that it is about the topic.
        reward: What strategies learn from.
        parts: The components of the relevance.
        text_hash: 64-bit hash of the text; 0 without text.
        duplicate_of: Fingerprint of the first page with the same text; 0 when this is the first.
        etag: The ETag header; empty when there is none.
        last_modified: The Last-Modified header; empty when there is none.
        text: All visible text; empty when it is not stored.
        main: The main text, in rows of earlier formats; now it is extracted from the markup, or is the whole text.
        markup: The markup, from which the main content is extracted; empty when it is not stored.
        links: The links that it added to the frontier.
        terms: The term vector, from which a judge can judge the page again; empty when it cannot.
        topics: The judgement for each topic of a crawl of several: relevance, verdict and reward.
        blocked: The kind of block page that came in place of the page; empty when none did.
        opt_outs: The AI opt-outs of the page, as `parsing.opt_outs` names them.
        signals: The usage signals that were found for it, with where each was read; none in rows before format 9.
    """

    fingerprint: int
    url: str
    status: int
    outcome: Outcome
    fetched_at: float
    reason: Reason = NO_REASON
    page: bool = False
    score: float = 0.0
    parent: int = 0
    depth: int = 0
    title: str = ""
    language: str = ""
    relevance: float = 0.0
    relevant: bool = False
    reward: float = 0.0
    parts: ScoreBreakdown = field(default_factory=dict)
    text_hash: int = 0
    duplicate_of: int = 0
    elapsed_seconds: float = 0.0
    bytes: int = 0
    etag: str = ""
    last_modified: str = ""
    text: str = ""
    main: str = ""
    markup: str = ""
    links: Sequence[FoundLink] = ()
    terms: Packed = b""
    topics: Mapping[str, Judgement] = field(default_factory=dict)
    blocked: str = ""
    opt_outs: Sequence[str] = ()
    signals: Sequence[UsageSignal] = ()

    @classmethod
    def of_page(cls, page: ParsedPage, judgement: Judgement, *, lease: Lease, fetched: FetchedPage) -> Self:
        """Return the record of a fetched and judged page, without its contents."""
        return cls(
            fingerprint=fingerprint(page.url),
            url=page.url,
            status=fetched.status,
            outcome=Outcome.DONE,
            fetched_at=fetched.fetched_at,
            page=True,
            score=lease.score,
            parent=lease.parent,
            depth=lease.hops,
            title=page.title,
            language=page.language,
            relevance=judgement.relevance,
            relevant=judgement.relevant,
            reward=judgement.reward,
            parts=judgement.breakdown,
            topics=judgement.topics,
            elapsed_seconds=fetched.elapsed_seconds,
            bytes=len(fetched.body),
            opt_outs=page.opt_outs,
            signals=page.signals,
        )


class StoredPage(NamedTuple):
    """The columns of a URL's last row that are needed to judge the page again.

    Args:
        row_id: Its id in the segment.
        terms: The term vector as the judge wrote it; None in rows of earlier formats.
        text: All visible text; None when it was not stored, or when there are terms.
        topics: The judgements for several topics as they are stored; None in crawls of one topic.
    """

    row_id: int
    url: str
    title: str
    language: str
    relevance: float
    relevant: bool
    terms: bytes | None
    text: bytes | None
    topics: str | None = None


class Archive(Protocol):
    """A store of settled fetches; once `keep` has returned, the records survive the process."""

    async def append(self, records: Sequence[PageRecord]) -> None:
        """Store records atomically."""
        ...

    async def revise(self, revisions: Sequence[Revision]) -> Mapping[str, int]:
        """Replace the judgements of stored pages; return the change of the number of relevant pages by host."""
        ...

    async def pages_after(self, after: int, limit: int) -> Sequence[StoredPage]:
        """Return the next stored pages, in the order of their rows."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...


class PageStoreWriter:
    """The segment of one worker; its asynchronous methods run in threads."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60)
        self._compress = zstd.FrameCompressor(level=1, checksum=True).compress
        self._insert = (_SQL / "insert_page.sql").read_text(encoding="utf-8")
        self._writing = threading.Lock()  # records and revisions come from different threads
        self._revise = (_SQL / "revise_page.sql").read_text(encoding="utf-8")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        prepare(self._db, path)

    async def append(self, records: Sequence[PageRecord]) -> None:
        await asyncio.to_thread(self.write, records)

    async def revise(self, revisions: Sequence[Revision]) -> Mapping[str, int]:
        return await asyncio.to_thread(self.apply_revisions, revisions)

    async def pages_after(self, after: int, limit: int) -> Sequence[StoredPage]:
        return await asyncio.to_thread(self.read, after, limit)

    def read(self, after: int, limit: int) -> list[StoredPage]:
        """Return the next pages of the segment, each URL by its last row."""
        with self._writing:
            return [StoredPage(*row) for row in self._db.execute(_STORED, [after, limit])]

    def write(self, records: Sequence[PageRecord]) -> None:
        rows = [self._row(record) for record in records]
        with self._writing:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(self._insert, rows)
            self._db.execute("COMMIT")

    def apply_revisions(self, revisions: Sequence[Revision]) -> Mapping[str, int]:
        changes: Counter[str] = Counter()
        with self._writing:
            self._db.execute("BEGIN IMMEDIATE")
            for revision in revisions:
                found = self._db.execute(_LAST, [fingerprint(revision.url)]).fetchone()
                if found is not None:
                    row_id, was_relevant, duplicate_of, parts, topics = found
                    judgement = _completed(revision.judgement, parts, topics)
                    self._db.execute(self._revise, _revised(row_id, judgement))
                    changes[host_key(revision.url)] += (judgement.relevant - was_relevant) * (not duplicate_of)
            self._db.execute("COMMIT")
        return {host: change for host, change in changes.items() if change}

    def drop_texts(self, relevance: float) -> None:
        """Remove text and markup of irrelevant pages up to a relevance; their terms, for the judge, stay."""
        with self._writing:
            self._db.execute(_DROP_TEXTS, [relevance])

    def _row(self, record: PageRecord) -> dict[str, Any]:
        row = {name: getattr(record, name) for name in PageRecord.__slots__}
        row["reason_kind"], row["reason"] = record.reason
        row["parts"] = packed_parts(record.parts)
        row["topics"] = packed_topics(record.topics)
        row["text"] = self._packed(record.text)
        row["main"] = self._packed(record.main if record.main != record.text else "")
        row["markup"] = self._packed(record.markup)
        links = [[link.url, link.anchor, round(link.score, 6), link.parts] for link in record.links]
        row["links"] = self._compress(_written(links)) if links else None
        row["terms"] = record.terms or None
        row["opt_outs"] = " ".join(record.opt_outs)
        row["signals"] = json.dumps(record.signals) if record.signals else ""
        return row

    def _packed(self, text: str) -> bytes | None:
        return self._compress(text.encode("utf-8", "replace")) if text else None

    def close(self) -> None:
        self._db.close()


class NoArchive:
    """An archive that stores nothing: for `thresher try` and for simulations that only count."""

    async def append(self, records: Sequence[PageRecord]) -> None:
        pass

    async def revise(self, revisions: Sequence[Revision]) -> Mapping[str, int]:
        return {}

    async def pages_after(self, after: int, limit: int) -> Sequence[StoredPage]:
        return ()

    def close(self) -> None:
        pass


def _written(links: Sequence[Sequence[Any]]) -> bytes:
    try:
        return orjson.dumps(links)
    except orjson.JSONEncodeError:  # an anchor holds half of a pair of surrogates
        return json.dumps(links, ensure_ascii=False).encode("utf-8", "replace")


def _completed(judgement: Judgement, parts: str | None, topics: str | None) -> Judgement:
    """Complete a revised judgement for some topics by the stored judgements for the others."""
    if not judgement.topics:
        return judgement
    before = unpacked_topics(topics)
    now = Judgement.of_topics({**before, **judgement.topics})
    best = best_topic(now.topics)
    if best in judgement.topics:
        return now
    return replace(now, breakdown=unpacked_parts(parts) if best == best_topic(before) else {})


def _revised(row_id: int, judgement: Judgement) -> dict[str, Any]:
    return {
        "id": row_id,
        "relevance": judgement.relevance,
        "relevant": judgement.relevant,
        "reward": judgement.reward,
        "parts": packed_parts(judgement.breakdown),
        "topics": packed_topics(judgement.topics),
    }


def packed_topics(topics: Mapping[str, Judgement]) -> str | None:
    """Encode the judgements for several topics; None when there are none."""
    if not topics:
        return None
    numbers = {name: [each.relevance, int(each.relevant), each.reward] for name, each in topics.items()}
    return json.dumps(numbers, ensure_ascii=False)


def unpacked_topics(text: str | None) -> dict[str, Judgement]:
    """Decode the judgements for several topics.

    Raises:
        DamagedFile: They cannot be decoded.
    """
    try:
        return {
            name: Judgement(relevance=relevance, relevant=bool(relevant), reward=reward)
            for name, (relevance, relevant, reward) in (json.loads(text) if text else {}).items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedFile(f"what is stored of a page is damaged: {error}; {REPAIR}") from error


def packed_parts(parts: ScoreBreakdown) -> str | None:
    """Encode the parts of a relevance; None when there are none."""
    return json.dumps(parts, ensure_ascii=False) if parts else None


def unpacked_parts(text: str | None) -> ScoreBreakdown:
    """Decode the parts of a relevance.

    Raises:
        DamagedFile: They cannot be decoded.
    """
    try:
        return current_parts(json.loads(text)) if text else {}
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedFile(f"what is stored of a page is damaged: {error}; {REPAIR}") from error


def unpacked_signals(text: str) -> tuple[UsageSignal, ...]:
    """Decode the usage signals of a row.

    Raises:
        DamagedFile: They cannot be decoded.
    """
    try:
        return tuple(UsageSignal(*each) for each in json.loads(text)) if text else ()
    except (ValueError, TypeError) as error:
        raise DamagedFile(f"what is stored of a page is damaged: {error}; {REPAIR}") from error


_EARLIER_PARTS = {"told": LABEL_PART, "unaided": UNLABELLED_PART}
_EARLIER_ADAPTIVE_PARTS = _EARLIER_PARTS | {
    "likeness": "similarity",
    "ordinary": "background level",
    "good": "topic level",
    "taught": "label correction",
}


def current_parts(parts: ScoreBreakdown) -> ScoreBreakdown:
    """Return the parts of a stored relevance under their current names; versions up to 0.2.0 had other ones."""
    names = (
        _EARLIER_ADAPTIVE_PARTS if "likeness" in parts else _EARLIER_PARTS
    )  # a judge of a user may have a part "good"
    return {names.get(name, name): value for name, value in parts.items()}


def unpacked_text(blob: bytes | None) -> str:
    """Decode the text of a row.

    Raises:
        DamagedFile: The bytes cannot be decoded.
    """
    try:
        return zstd.decompress(blob).decode("utf-8") if blob else ""
    except (zstd.ZstdError, MemoryError, UnicodeDecodeError) as error:
        raise DamagedFile(f"the stored text, markup or links of a page are damaged: {error}; {REPAIR}") from error


@dataclass(frozen=True, slots=True)
class StoredContent:
    """What a row stores of the content of a page, packed; `content` extracts it.

    Args:
        url: The URL of the page.
        text: All visible text.
        main: The main text, in rows of heavy pages of earlier formats.
        markup: The markup.
    """

    url: str
    text: bytes | None = None
    main: bytes | None = None
    markup: bytes | None = None

    def content(self) -> PageContent:
        """Extract the main content; without markup, or where none is found, the stored text is the content.

        Raises:
            DamagedFile: The bytes cannot be decoded.
        """
        from thresher.parsing.main_content import content_of_markup, content_of_text  # here: most commands need none

        found = content_of_markup(self.url, unpacked_text(self.markup)) if self.markup and not self.main else None
        if found and found.blocks:
            return found
        rest = content_of_text(unpacked_text(self.main) or unpacked_text(self.text))
        return replace(rest, metadata=found.metadata) if found else rest


def unpacked_links(blob: bytes | None) -> Iterable[FoundLink]:
    """Decode the links of a row."""
    rows = json.loads(unpacked_text(blob)) if blob else []
    return (FoundLink(url=url, anchor=anchor, score=score, parts=parts) for url, anchor, score, parts in rows)
