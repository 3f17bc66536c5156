"""The visits of a page: when it was fetched, and whether it had changed since the visit before.

A visit that found the page unchanged is a row without a page; one that found another text is a row with that page. A
failure for other reasons than the page itself, such as a busy server, is no visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.storage.page_store import UNCHANGED, PageRecord

GONE_STATUSES = (404, 410)


@dataclass(frozen=True, slots=True)
class PageVisit:
    """One visit of a known page.

    Args:
        at: When, in seconds since the epoch.
        seconds: Since the visit before.
        changed: Whether its text was different, or the page was gone.
    """

    at: float
    seconds: float
    changed: bool


@dataclass(frozen=True, slots=True)
class VisitHistory:
    """The visits of a page.

    Args:
        checked_at: When it was visited last.
        gone: Whether it was gone then.
        visits: All visits after the first, oldest first.
    """

    checked_at: float
    gone: bool = False
    visits: tuple[PageVisit, ...] = ()


def visit_history(history: Sequence[PageRecord]) -> VisitHistory:
    """Return the visits of a page from its records, oldest first."""
    visits: list[PageVisit] = []
    content: int | None = None
    checked_at, gone = 0.0, False
    for record in history:
        found = _content(record, content)
        if found is None:
            continue
        if content is not None:
            visits.append(PageVisit(record.fetched_at, record.fetched_at - checked_at, found != content))
        content, checked_at, gone = found, record.fetched_at, record.status in GONE_STATUSES
    return VisitHistory(checked_at, gone, tuple(visits))


def _content(record: PageRecord, before: int | None) -> int | None:
    """Return the hash of the text that a visit found; None when the record is no visit."""
    if record.page:
        return record.text_hash
    if record.reason == UNCHANGED:
        return before
    return 0 if record.status in GONE_STATUSES and before is not None else None
