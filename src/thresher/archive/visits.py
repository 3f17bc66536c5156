"""The visits of a page: when it was looked at, and whether it had changed since the time before.

A visit that found a page as it was is a row of the page store that brought none; one that found another text is a row
with that page. What failed for other reasons than the page itself, such as a server that was busy, is no visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.archive.pages import UNCHANGED, PageRecord

_GONE = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at a page that was known.

    Args:
        at: When, in seconds since the epoch.
        seconds: How long after the visit before.
        changed: Whether its text was another one, or the page was gone.
    """

    at: float
    seconds: float
    changed: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What the visits of a page tell.

    Args:
        checked_at: When it was looked at last.
        gone: Whether it was no longer there then.
        visits: The looks after the first, oldest first.
    """

    checked_at: float
    gone: bool = False
    visits: tuple[Visit, ...] = ()


def known(history: Sequence[PageRecord]) -> Known:
    """Read the visits of a page out of its records, oldest first."""
    visits: list[Visit] = []
    content: int | None = None
    checked_at, gone = 0.0, False
    for record in history:
        found = _content(record, content)
        if found is None:
            continue
        if content is not None:
            visits.append(Visit(record.fetched_at, record.fetched_at - checked_at, found != content))
        content, checked_at, gone = found, record.fetched_at, record.status in _GONE
    return Known(checked_at, gone, tuple(visits))


def _content(record: PageRecord, before: int | None) -> int | None:
    """Return the hash of what a visit found; None when it found nothing out."""
    if record.page:
        return record.text_hash
    if record.reason == UNCHANGED:
        return before
    return 0 if record.status in _GONE and before is not None else None
