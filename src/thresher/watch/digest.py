"""What changed in the collection since the last digest.

The current state of the collection is compared with what was reported, not with times: a page is new when it was never
reported, changed when its text is another one than the reported, gone or moved when its last visit found that. So a
change is reported once, however often rounds are interrupted, and a page that a later verdict makes relevant is
reported then.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thresher.reasons.reason import MOVED
from thresher.refresh.changes import ChangeKind, kept_share
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.visits import visit_history
from thresher.watch.database import Digest, DigestEntry, Reported, WatchDatabase

MAX_ENTRIES = 2_000
"""Entries of a digest; the changes after these are in the next digest."""
MAX_SENTENCES, MAX_CHARACTERS = 3, 240
"""New sentences that an entry quotes, and the characters of each."""
MAX_TEXT = 200_000
"""Characters of a text that are split into sentences."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")


class ReportedChange(NamedTuple):
    """A change of the collection, and what is reported of the page once it is in a digest."""

    entry: DigestEntry
    fingerprint: int
    reported: Reported


def compare(collection: PageStoreReader, database: WatchDatabase) -> Iterator[ReportedChange]:
    """Compare the collection with what was reported; duplicates and irrelevant new pages are left out."""
    missing = {record.fingerprint: record for record in _last_visits_without_page(collection)}
    for record in collection.ranked():
        before = database.reported(record.fingerprint)
        visit = missing.get(record.fingerprint)
        if (change := _change(record, before, visit)) is None:
            continue
        is_gone = change in (ChangeKind.GONE, ChangeKind.MOVED)
        at = visit.fetched_at if visit and is_gone else record.fetched_at
        entry = _entry(collection, record, change, at, before)
        yield ReportedChange(entry, record.fingerprint, Reported(text_hash=record.text_hash, at=at, gone=is_gone))


def make_digest(
    collection: PageStoreReader, database: WatchDatabase, *, crawl: str, title: str, webhooks: Sequence[str]
) -> Digest | None:
    """Compare, and store the digest, what it reports and its deliveries at once; None when nothing changed."""
    changes = sorted(compare(collection, database), key=_rank)
    if not changes:
        return None
    listed = changes[:MAX_ENTRIES]
    digest = Digest(
        number=database.next_digest(),
        crawl=crawl,
        title=title,
        created_at=time.time(),
        total=len(changes),
        entries=[change.entry for change in listed],
    )
    with database.transaction():
        database.report((change.fingerprint, change.reported) for change in listed)
        database.add_digest(digest, webhooks)
    return digest


def _rank(change: ReportedChange) -> tuple[float, str]:
    """Sort by relevance, now or before."""
    return -max(change.entry.relevance, change.entry.before or 0.0), change.entry.url


def record_baseline(collection: PageStoreReader, database: WatchDatabase) -> None:
    """Record the collection as it is when watching begins: digests report what differs from it."""
    database.record_baseline(
        (record.fingerprint, Reported(text_hash=record.text_hash, at=record.fetched_at, gone=False))
        for record in collection.ranked(relevant=True)
    )


def _change(record: PageRecord, before: Reported | None, visit: PageRecord | None) -> ChangeKind | None:
    """Return what happened to a page since it was reported; None for nothing, and for an irrelevant page."""
    if before is None:
        return ChangeKind.NEW if record.relevant and not visit else None
    if before.gone:
        return ChangeKind.NEW if record.relevant and record.fetched_at > before.at else None
    if visit:
        return ChangeKind.MOVED if visit.reason.kind in MOVED else ChangeKind.GONE
    return ChangeKind.CHANGED if record.text_hash != before.text_hash else None


def _last_visits_without_page(collection: PageStoreReader) -> Iterator[PageRecord]:
    """Yield the last visit of each page that was gone or moved when it was visited last."""
    for fingerprint in collection.gone_or_moved():
        history = collection.history(fingerprint)
        last = history[-1]
        if any(record.page for record in history) and (visit_history(history).gone or last.reason.kind in MOVED):
            yield last


def _entry(
    collection: PageStoreReader, record: PageRecord, change: ChangeKind, at: float, before: Reported | None
) -> DigestEntry:
    texts = collection.texts(record.fingerprint) if change in (ChangeKind.NEW, ChangeKind.CHANGED) else []
    is_changed = change is ChangeKind.CHANGED
    return DigestEntry(
        change=change,
        url=record.url,
        title=record.title,
        at=at,
        relevance=round(record.relevance, 4),
        relevant=record.relevant,
        language=record.language,
        before=_relevance_reported(collection, record.fingerprint, before) if before else None,
        kept=kept_share(texts) if is_changed else None,
        added=_added(texts[-2] if is_changed and len(texts) > 1 else "", texts[-1]) if texts else (),
    )


def _relevance_reported(collection: PageStoreReader, fingerprint: int, reported: Reported) -> float | None:
    """Return the relevance of the version that was reported last; None when the store has it no more."""
    versions = [each for each in collection.history(fingerprint) if each.page and each.fetched_at <= reported.at]
    return round(versions[-1].relevance, 4) if versions else None


def _added(before: str, now: str) -> list[str]:
    """Return the first sentences of a text that the text before did not have."""
    known = set(_sentences(before))
    fresh = dict.fromkeys(sentence for sentence in _sentences(now) if sentence not in known)
    return [sentence[:MAX_CHARACTERS] for sentence in list(fresh)[:MAX_SENTENCES]]


def _sentences(text: str) -> list[str]:
    return [piece for part in _SENTENCE_END.split(text[:MAX_TEXT]) if (piece := " ".join(part.split()))]
