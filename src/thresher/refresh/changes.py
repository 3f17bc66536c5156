"""What changed in a collection since a time: pages that are new, changed, moved or gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from thresher.reasons.reason import MOVED
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.visits import visit_history
from thresher.text.tokens import word_pairs


class ChangeKind(StrEnum):
    """What happened to a page."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChange:
    """One page that changed.

    Args:
        record: The page as it was fetched last.
        at: When the change was seen.
        before: Relevance before the change; None for a new page.
        kept: Jaccard similarity of both texts by word bigrams; None where a text was not stored.
    """

    kind: ChangeKind
    record: PageRecord
    at: float
    before: float | None = None
    kept: float | None = None


def changes(collection: PageStoreReader, since: float) -> Iterator[PageChange]:
    """Yield the changes since a time, in no order, without duplicates."""
    for fingerprint in collection.settled_since(since):
        history = collection.history(fingerprint)
        change = _change(history, since)
        if change is None or change.record.duplicate_of:
            continue
        if change.kind is ChangeKind.CHANGED and (kept := kept_share(collection.texts(fingerprint))) is not None:
            yield PageChange(kind=change.kind, record=change.record, at=change.at, before=change.before, kept=kept)
        else:
            yield change


def _change(history: list[PageRecord], since: float) -> PageChange | None:
    """Compare the last version of a page before a time with the current one."""
    pages = [record for record in history if record.page]
    if not pages:
        return None
    now, last = pages[-1], history[-1]
    earlier = [record for record in pages if record.fetched_at < since]
    if not earlier:
        return PageChange(kind=ChangeKind.NEW, record=now, at=pages[0].fetched_at)
    before = earlier[-1].relevance
    if visit_history(history).gone:
        return PageChange(kind=ChangeKind.GONE, record=now, at=last.fetched_at, before=before)
    if last.reason.kind in MOVED:
        return PageChange(kind=ChangeKind.MOVED, record=now, at=last.fetched_at, before=before)
    if now.text_hash != earlier[-1].text_hash:
        return PageChange(kind=ChangeKind.CHANGED, record=now, at=now.fetched_at, before=before)
    return None


def kept_share(texts: list[str]) -> float | None:
    """Return the Jaccard similarity of the last two of some texts by word bigrams; None when there is only one."""
    if len(texts) < 2:
        return None
    before, now = word_pairs(texts[-2]), word_pairs(texts[-1])
    either = len(before | now)
    return len(before & now) / either if either else None
