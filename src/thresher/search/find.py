"""Which pages answer a question, and in what order.

Pages that hold all words come before pages that hold some of them. Among those the verdict of the judge comes first,
then how well the words match (BM25 over title and text, and the best of the anchors that lead to the page). The order
of LAYERS, in whose last stage pages are ranked by their relevance to the topic alone, can be asked for too: relevance
first, and the words choose among equals.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from thresher.search.query import Query

TITLE_WEIGHT, TEXT_WEIGHT, ANCHOR_WEIGHT = 6.0, 1.0, 0.5
MOST_HITS = 1_000
"""Further pages that match are not looked at, nor counted as near duplicates of others."""
MOST_ANCHOR_HITS = 20_000
LEAST_FILLING = 200
"""Of pages that hold some of the words only so many are looked at, or twice as many as are wanted."""


class Order(StrEnum):
    """What comes first among pages that hold the same words."""

    MATCH = "match"
    RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which pages may answer.

    Args:
        host: This host and those below it; empty for all.
        language: This language; empty for all.
        min_relevance: At least so relevant.
        since: Fetched at or after this time, in seconds since the epoch.
        until: Fetched before this time.
    """

    host: str = ""
    language: str = ""
    min_relevance: float = 0.0
    since: float | None = None
    until: float | None = None

    def condition(self) -> tuple[str, dict[str, object]]:
        """Write them as a condition with its values."""
        host = self.host.lower().strip(".")
        below = "(doc.host = :host OR substr(doc.host, -length(:host) - 1) = '.' || :host)"
        parts: list[tuple[str, str, object, bool]] = [
            ("host", below, host, bool(host)),
            ("language", "doc.language = :language", self.language, bool(self.language)),
            ("min_relevance", "doc.relevance >= :min_relevance", self.min_relevance, self.min_relevance > 0),
            ("since", "doc.fetched_at >= :since", self.since, self.since is not None),
            ("until", "doc.fetched_at < :until", self.until, self.until is not None),
        ]
        used = [(name, text, value) for name, text, value, asked in parts if asked]
        return " AND ".join(["doc.live", *(text for _, text, _ in used)]), {name: value for name, _, value in used}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A page that answers.

    Args:
        whole: Whether it holds everything that was looked for.
        match: How well the words match; higher is better.
        alike: How many other pages with the same answer say nearly the same, and are left out.
    """

    fingerprint: int
    relevance: float
    relevant: bool
    whole: bool
    match: float
    alike: int = 0


def find(db: sqlite3.Connection, query: Query, filters: Filters, *, limit: int, order: Order) -> list[Found]:
    """Return the best answers, one of each group of near duplicates."""
    if not query:
        return []
    whole = _hits(db, query.all_of, filters, order, most=MOST_HITS)
    found = _best_of_groups(_sorted(whole.values(), order), whole=True)
    if len(found) < limit:
        some = _hits(db, query.any_of, filters, order, most=len(whole) + max(LEAST_FILLING, 2 * limit))
        rest = _sorted((hit for doc, hit in some.items() if doc not in whole), order)
        heads = {hit.head for hit in whole.values()}
        found += _best_of_groups([hit for hit in rest if hit.head not in heads], whole=False)
    return found[:limit]


@dataclass(slots=True)
class _Hit:
    fingerprint: int
    relevance: float
    relevant: int
    fetched_at: float
    head: int
    match: float


_FIRST = {Order.MATCH: "relevant DESC, score DESC", Order.RELEVANCE: "relevance DESC, score DESC"}
_WORDS = """
    SELECT id, fingerprint, relevance, relevant, fetched_at, coalesce(head, fingerprint), score FROM (
        SELECT doc.*, -bm25(words, :title, :text) AS score FROM words JOIN doc ON doc.id = words.rowid
        WHERE words MATCH :match AND {condition} ORDER BY {first} LIMIT :most
    ) LEFT JOIN alike ON alike.page = fingerprint
"""
_ANCHORS = """
    SELECT id, fingerprint, relevance, relevant, fetched_at, coalesce(head, fingerprint), score FROM (
        SELECT doc.*, max(hit.score) AS score FROM (
            SELECT rowid, -bm25(anchor_words) AS score FROM anchor_words WHERE anchor_words MATCH :match
            ORDER BY rank LIMIT :most_anchors
        ) AS hit JOIN anchor ON anchor.id = hit.rowid JOIN doc ON doc.fingerprint = anchor.target
        WHERE {condition} GROUP BY doc.id ORDER BY {first} LIMIT :most
    ) LEFT JOIN alike ON alike.page = fingerprint
"""


def _hits(db: sqlite3.Connection, match: str, filters: Filters, order: Order, *, most: int) -> dict[int, _Hit]:
    """Give the best documents that match, with what words and anchors say together."""
    condition, asked = filters.condition()
    most_anchors = MOST_ANCHOR_HITS * most // MOST_HITS
    weights = {"title": TITLE_WEIGHT, "text": TEXT_WEIGHT, "most": most, "most_anchors": most_anchors}
    values = {"match": match, **weights, **asked}
    where = {"condition": condition, "first": _FIRST[order]}
    hits = {row[0]: _Hit(*row[1:]) for row in db.execute(_WORDS.format(**where), values)}
    for row in db.execute(_ANCHORS.format(**where), values):
        hit = hits.setdefault(row[0], _Hit(row[1], row[2], row[3], row[4], row[5], 0.0))
        hit.match += ANCHOR_WEIGHT * row[6]
    return hits


def _sorted(hits: Iterable[_Hit], order: Order) -> list[_Hit]:
    if order is Order.RELEVANCE:
        return sorted(hits, key=lambda hit: (-hit.relevance, -hit.match, hit.fetched_at, hit.fingerprint))
    return sorted(hits, key=lambda hit: (not hit.relevant, -hit.match, hit.fetched_at, hit.fingerprint))


def _best_of_groups(hits: Iterable[_Hit], *, whole: bool) -> list[Found]:
    groups: dict[int, list[_Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.head, []).append(hit)
    return [
        Found(
            fingerprint=best.fingerprint,
            relevance=best.relevance,
            relevant=bool(best.relevant),
            whole=whole,
            match=best.match,
            alike=len(others),
        )
        for best, *others in groups.values()
    ]
