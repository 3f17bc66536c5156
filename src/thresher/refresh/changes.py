"""What changed in a collection since a time: pages that are new, that say something else, that moved or are gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord
from thresher.archive.visits import known
from thresher.text.shingles import word_pairs

_MOVED = ("redirected to ", "refreshes to ")
"""How the line words the reason when an address leads elsewhere."""


class Kind(StrEnum):
    """What happened to a page."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One page that is not as it was.

    Args:
        record: The page as it was fetched last.
        at: When it was seen.
        before: How relevant it was; None for a new page.
        kept: Which share of what both say is in both, by pairs of words; None where a text was not kept.
    """

    kind: Kind
    record: PageRecord
    at: float
    before: float | None = None
    kept: float | None = None


def changes(collection: Collection, since: float) -> Iterator[Change]:
    """Yield what changed from a time on, in no order; copies are left out."""
    for fingerprint in collection.settled_since(since):
        history = collection.history(fingerprint)
        change = _change(history, since)
        if change is None or change.record.duplicate_of:
            continue
        if change.kind is Kind.CHANGED and (kept := _kept(collection.texts(fingerprint))) is not None:
            yield Change(kind=change.kind, record=change.record, at=change.at, before=change.before, kept=kept)
        else:
            yield change


def _change(history: list[PageRecord], since: float) -> Change | None:
    """Compare what was known of a page before a time with what was found out from then on."""
    pages = [record for record in history if record.page]
    if not pages:
        return None
    now, last = pages[-1], history[-1]
    earlier = [record for record in pages if record.fetched_at < since]
    if not earlier:
        return Change(kind=Kind.NEW, record=now, at=pages[0].fetched_at)
    before = earlier[-1].relevance
    if known(history).gone:
        return Change(kind=Kind.GONE, record=now, at=last.fetched_at, before=before)
    if last.reason.startswith(_MOVED):
        return Change(kind=Kind.MOVED, record=now, at=last.fetched_at, before=before)
    if now.text_hash != earlier[-1].text_hash:
        return Change(kind=Kind.CHANGED, record=now, at=now.fetched_at, before=before)
    return None


def _kept(texts: list[str]) -> float | None:
    if len(texts) < 2:
        return None
    before, now = word_pairs(texts[-2]), word_pairs(texts[-1])
    either = len(before | now)
    return len(before & now) / either if either else None
