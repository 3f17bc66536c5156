"""Ranking of the pages that match a query.

Pages with all words come before pages with some of them. Among those the verdict of the judge comes first, then how
well the words match (BM25 over title and text, and the best of the anchors that lead to the page). The order of LAYERS,
in whose last stage pages are ranked by their relevance to the topic alone, is available too: relevance first, and the
match decides among equals.

An index may consist of several databases: its own, and search segments of other machines. Each is queried, with its own
statistics of words, as the shards of other search engines are. Near duplicates in different databases are found among
the hits.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from thresher.search.near_duplicates import group_signatures
from thresher.search.query import SearchQuery

TITLE_WEIGHT, TEXT_WEIGHT, ANCHOR_WEIGHT = 6.0, 1.0, 0.5
MAX_HITS = 1_000
"""Further matching pages are ignored, also when near duplicates are counted."""
MAX_ANCHOR_HITS = 20_000
MIN_FILLING = 200
"""Limit of pages with some of the words: this many, or twice as many as are wanted."""


class SearchOrder(StrEnum):
    """The order of pages with the same words."""

    MATCH = "match"
    RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters of search results.

    Args:
        host: This host and those below it; empty for all.
        language: This language; empty for all.
        min_relevance: At least this relevance.
        since: Fetched at or after this time, in seconds since the epoch.
        until: Fetched before this time.
        topic: Relevant to this one of several topics; empty for all pages.
    """

    host: str = ""
    language: str = ""
    min_relevance: float = 0.0
    since: float | None = None
    until: float | None = None
    topic: str = ""

    def condition(self) -> tuple[str, dict[str, object]]:
        """Return a SQL condition and its parameters."""
        host = self.host.lower().strip(".")
        below = "(doc.host = :host OR substr(doc.host, -length(:host) - 1) = '.' || :host)"
        parts: list[tuple[str, str, object, bool]] = [
            ("host", below, host, bool(host)),
            ("language", "doc.language = :language", self.language, bool(self.language)),
            ("min_relevance", "doc.relevance >= :min_relevance", self.min_relevance, self.min_relevance > 0),
            ("since", "doc.fetched_at >= :since", self.since, self.since is not None),
            ("until", "doc.fetched_at < :until", self.until, self.until is not None),
            ("topic", "json_extract(doc.topics, :topic) = 1", f'$."{self.topic}"[1]', bool(self.topic)),
        ]
        active = [(name, text, value) for name, text, value, is_set in parts if is_set]
        return " AND ".join(["doc.live", *(text for _, text, _ in active)]), {name: value for name, _, value in active}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A search result.

    Args:
        whole: Whether the page has all words of the query.
        match: How well the words match; higher is better.
        alike: Number of matching near duplicates, which are left out.
    """

    fingerprint: int
    relevance: float
    relevant: bool
    whole: bool
    match: float
    alike: int = 0


def find(
    dbs: Sequence[sqlite3.Connection], query: SearchQuery, filters: Filters, *, limit: int, order: SearchOrder
) -> list[SearchHit]:
    """Return the best results in all databases, one of each group of near duplicates."""
    if not query:
        return []
    whole = _hits(dbs, query.all_of, filters, order, most=MAX_HITS)
    _join_groups(dbs, whole.values())
    found = _best_of_groups(_sorted(whole.values(), order), whole=True)
    if len(found) < limit:
        some = _hits(dbs, query.any_of, filters, order, most=len(whole) + max(MIN_FILLING, 2 * limit))
        _join_groups(dbs, [*whole.values(), *some.values()])
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


_FIRST = {SearchOrder.MATCH: "relevant DESC, score DESC", SearchOrder.RELEVANCE: "relevance DESC, score DESC"}
_WORDS = """
    SELECT id, fingerprint, relevance, relevant, fetched_at, coalesce(head, fingerprint), score FROM (
        SELECT doc.*, -bm25(words, :title, :text) AS score FROM words JOIN doc ON doc.id = words.rowid
        WHERE words MATCH :match AND {condition} ORDER BY {first} LIMIT :most
    ) LEFT JOIN alike ON alike.page = fingerprint
"""
_ANCHORS = """
    SELECT anchor.target, max(hit.score) FROM (
        SELECT rowid, -bm25(anchor_words) AS score FROM anchor_words WHERE anchor_words MATCH :match
        ORDER BY rank LIMIT :most_anchors
    ) AS hit JOIN anchor ON anchor.id = hit.rowid GROUP BY anchor.target
"""
_TARGETS = """
    SELECT id, fingerprint, relevance, relevant, fetched_at, coalesce(head, fingerprint), score FROM (
        SELECT doc.*, hit.score AS score FROM (
            SELECT json_extract(value, '$[0]') AS target, json_extract(value, '$[1]') AS score FROM json_each(:targets)
        ) AS hit JOIN doc ON doc.fingerprint = hit.target
        WHERE {condition} ORDER BY {first} LIMIT :most
    ) LEFT JOIN alike ON alike.page = fingerprint
"""
_SIGNATURES = "SELECT page, signature FROM alike WHERE page IN (SELECT value FROM json_each(?))"


def _hits(
    dbs: Sequence[sqlite3.Connection], match: str, filters: Filters, order: SearchOrder, *, most: int
) -> dict[tuple[int, int], _Hit]:
    """Return the best matching documents by database and id, with the sum of their scores for text and anchors."""
    condition, parameters = filters.condition()
    where = {"condition": condition, "first": _FIRST[order]}
    values = {"match": match, "title": TITLE_WEIGHT, "text": TEXT_WEIGHT, "most": most, **parameters}
    values["targets"] = _anchor_targets(dbs, match, MAX_ANCHOR_HITS * most // MAX_HITS)
    hits: dict[tuple[int, int], _Hit] = {}
    for place, db in enumerate(dbs):
        hits.update(((place, row[0]), _Hit(*row[1:])) for row in db.execute(_WORDS.format(**where), values))
        for row in db.execute(_TARGETS.format(**where), values):
            hit = hits.setdefault((place, row[0]), _Hit(row[1], row[2], row[3], row[4], row[5], 0.0))
            hit.match += ANCHOR_WEIGHT * row[6]
    return hits


def _anchor_targets(dbs: Sequence[sqlite3.Connection], match: str, most: int) -> str:
    """Return the pages that matching anchors of all databases lead to, each with its best score, as JSON."""
    best: dict[int, float] = {}
    for db in dbs:
        for target, score in db.execute(_ANCHORS, {"match": match, "most_anchors": most}):
            best[target] = max(score, best.get(target, score))
    return json.dumps([*best.items()])


def _join_groups(dbs: Sequence[sqlite3.Connection], hits: Iterable[_Hit]) -> None:
    """Join groups of near duplicates of different databases; within one they are stored."""
    if len(dbs) < 2:
        return
    hits = list(hits)
    heads = json.dumps(sorted({hit.head for hit in hits}))
    known = {page: signature for db in dbs for page, signature in db.execute(_SIGNATURES, [heads])}
    if known:
        pages = list(known)
        roots = group_signatures(np.frombuffer(b"".join(known.values()), np.uint32).reshape(len(pages), -1))
        head_of = {page: pages[root] for page, root in zip(pages, roots.tolist(), strict=True)}
        for hit in hits:
            hit.head = head_of.get(hit.head, hit.head)


def _sorted(hits: Iterable[_Hit], order: SearchOrder) -> list[_Hit]:
    if order is SearchOrder.RELEVANCE:
        return sorted(hits, key=lambda hit: (-hit.relevance, -hit.match, hit.fetched_at, hit.fingerprint))
    return sorted(hits, key=lambda hit: (not hit.relevant, -hit.match, hit.fetched_at, hit.fingerprint))


def _best_of_groups(hits: Iterable[_Hit], *, whole: bool) -> list[SearchHit]:
    groups: dict[int, list[_Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.head, []).append(hit)
    return [
        SearchHit(
            fingerprint=best.fingerprint,
            relevance=best.relevance,
            relevant=bool(best.relevant),
            whole=whole,
            match=best.match,
            alike=len(others),
        )
        for best, *others in groups.values()
    ]
