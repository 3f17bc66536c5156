"""A reservoir sample of the crawled pages, as arrays: the background that a page is compared with.

Until it is full it holds every page. From then on each new page replaces a random one or none, so that it stays a
uniform sample of all crawled pages. Terms are stored as integers, because a refit reads every term of every page.

Samples of the other workers' pages are kept beside the own pages, weighted by the number of pages they represent, so
that the whole is a sample of the entire crawl.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from random import Random

import numpy as np

from thresher.judges.adaptive.calibration import embed_opening
from thresher.judges.adaptive.snapshot import ReservoirSnapshot
from thresher.judges.adaptive.terms import Matrix, Numbers, TermRow, TermVector, Weights
from thresher.text.word_vectors import Floats, WordVectors

MAX_TERMS = 400_000
"""Above this number of terms, those that no page of the sample contains are dropped."""
UNUSED_SHARE = 0.25
"""When even more terms are in use: the share of further terms before the unused ones are looked for again."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rows that together represent `seen` pages, in equal shares."""

    seen: int
    rows: list[TermRow]


class Reservoir:
    """A reservoir sample of pages.

    Args:
        most_pages: Capacity for own pages; other workers' pages are at most half as many in addition.
        random_state: Seed of the sampling.
        word_vectors: The table that openings are embedded by; without it, all of them are unknown.
    """

    def __init__(self, most_pages: int, *, random_state: int = 0, word_vectors: WordVectors | None = None) -> None:
        self.seen = 0
        self._most_pages = most_pages
        self._word_vectors = word_vectors
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._terms: dict[str, int] = {}
        self._most_used = 0
        self._numbered: tuple[TermVector, TermRow] | None = None
        self._kept: dict[str, TermRow] = {}
        self._rows: list[TermRow] = []
        self._places: dict[str, int] = {}
        self._older = 0
        self._older_seen = 0
        self._peer_strata: dict[str, Stratum] = {}

    def __len__(self) -> int:
        return len(self._all_rows())

    def __contains__(self, url: str) -> bool:
        return url in self._places or url in self._kept

    @property
    def seen_by_all(self) -> int:
        """Number of pages that all workers have seen, as far as is known."""
        return self.seen + sum(stratum.seen for stratum in self._peer_strata.values())

    @property
    def kept(self) -> int:
        """Number of pages that are kept permanently."""
        return len(self._kept)

    @property
    def kept_urls(self) -> Collection[str]:
        return self._kept.keys()

    @property
    def kept_rows(self) -> Collection[TermRow]:
        return self._kept.values()

    @property
    def terms(self) -> Mapping[str, int]:
        return self._terms

    @property
    def urls(self) -> list[str]:
        """The pages in the order of the matrix: permanent ones first, those of other workers last."""
        return [row.url for row in self._all_rows()]

    def _all_rows(self) -> list[TermRow]:
        return [
            *self._kept.values(),
            *self._rows,
            *(row for stratum in self._peer_strata.values() for row in stratum.rows),
        ]

    def add(self, url: str, terms: TermVector) -> str:
        """Add a page by reservoir sampling; return the URL that was evicted or not admitted, or an empty string."""
        self.seen += 1
        if url in self:
            return ""
        place = len(self._rows)
        if place >= self._most_pages:
            place = self._older + self._random.randrange(max(1, self.seen - self._older_seen))
            if place >= self._most_pages:
                return url
        return self._put(place, self.row(url, terms))

    def keep(self, url: str, terms: TermVector) -> None:
        """Add a page permanently, without sampling."""
        self.keep_known(url)
        if url not in self._kept:
            self.seen += 1
            self._kept[url] = self.row(url, terms)

    def keep_known(self, url: str) -> None:
        """Make a page of the sample permanent."""
        place = self._places.pop(url, None)
        if place is None:
            return
        self._kept[url] = self._rows[place]
        if place < self._older:  # the last of the older pages fills the gap, which moves to its position
            self._older -= 1
            place = self._move(self._older, place)
        self._move(len(self._rows) - 1, place)
        self._rows.pop()

    def _move(self, place: int, gap: int) -> int:
        """Move a page into a gap; return the new gap."""
        if place != gap:
            row = self._rows[gap] = self._rows[place]
            self._places[row.url] = gap
        return place

    def _put(self, place: int, row: TermRow) -> str:
        left = ""
        if place == len(self._rows):
            self._rows.append(row)
        else:
            left = self._rows[place].url
            del self._places[left]
            self._rows[place] = row
        self._places[row.url] = place
        return left

    def row(self, url: str, terms: TermVector) -> TermRow:
        """Encode a page by term indices; new terms get new ones."""
        known = self._terms
        numbers = self.numbers(terms)
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = known.setdefault(terms.names[place], len(known))
        row = TermRow(url, numbers, terms.weights, embed_opening(terms, self._word_vectors))
        self._numbered = (terms, row)
        return row

    def numbers(self, terms: TermVector) -> Numbers:
        """Return the indices of terms; -1 for unknown ones."""
        if self._numbered and self._numbered[0] is terms:  # the page encoded last
            return self._numbered[1].numbers
        return np.fromiter(map(self._terms.get, terms.names, repeat(-1)), dtype=np.int32, count=len(terms.names))

    def opening(self, terms: TermVector) -> Floats:
        """Return the vector of a page's opening."""
        if self._numbered and self._numbered[0] is terms:
            return self._numbered[1].opening
        return embed_opening(terms, self._word_vectors)

    def openings(self) -> Floats:
        """Return the vectors of all openings, a row for each page."""
        width = self._word_vectors.width if self._word_vectors else 0
        return np.array([row.opening for row in self._all_rows()], dtype=np.float32).reshape(-1, width)

    def matrix(self) -> Matrix:
        rows = self._all_rows()
        lengths = [len(row.numbers) for row in rows]
        return Matrix(
            numbers=np.concatenate([row.numbers for row in rows] or [np.empty(0, np.int32)]).astype(np.intp),
            weights=np.concatenate([row.weights for row in rows] or [np.empty(0)]),
            starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            pages=self.pages_each(),
        )

    def pages_each(self) -> Weights:
        """Return the weight of each page; they sum up to the number of pages, since a sample has no more evidence."""
        strata = [*self._own_strata(), *self._peer_strata.values()]
        shares = np.concatenate([np.full(len(each.rows), each.seen / max(len(each.rows), 1)) for each in strata])
        if len(shares) and shares.max() > shares.min():
            shares *= len(shares) / shares.sum()
        else:
            shares[:] = 1.0
        return np.concatenate([np.ones(len(self._kept)), shares])

    def _own_strata(self) -> list[Stratum]:
        """Split the own pages into those of an earlier run whose sample was cut, and the later ones."""
        older, newer = self._rows[: self._older], self._rows[self._older :]
        since = max(self.seen - self._older_seen - len(self._kept), len(newer))
        return [Stratum(self._older_seen, older), Stratum(since, newer)]

    def forget_unused_terms(self, *, most: int = MAX_TERMS) -> None:
        """Renumber the terms once there are too many; indices obtained before become invalid."""
        if len(self._terms) <= max(most, self._most_used):
            return
        used = np.flatnonzero(np.bincount(self.matrix().numbers, minlength=len(self._terms)))
        self._most_used = round(len(used) * (1 + UNUSED_SHARE))
        new_numbers = np.full(len(self._terms), -1, dtype=np.int32)
        new_numbers[used] = np.arange(len(used), dtype=np.int32)
        names = list(self._terms)
        self._terms = {names[old]: number for number, old in enumerate(used)}
        self._numbered = None
        self._rows = [replace(row, numbers=new_numbers[row.numbers]) for row in self._rows]
        self._kept = {url: replace(row, numbers=new_numbers[row.numbers]) for url, row in self._kept.items()}
        for stratum in self._peer_strata.values():
            stratum.rows[:] = [replace(row, numbers=new_numbers[row.numbers]) for row in stratum.rows]

    def snapshot(self, most: int) -> ReservoirSnapshot:
        """Return at most this many own pages: the permanent ones, and a uniform sample of the rest."""
        kept = list(self._kept.values())[:most]
        strata = [each for each in self._own_strata() if each.rows]
        seen = sum(each.seen for each in strata)
        room = min([most - len(kept), *(len(each.rows) * seen // max(each.seen, 1) for each in strata)])
        rows = [row for each in strata for row in self._some(each, room * each.seen / max(seen, 1))]
        rows = kept + Random(self.seen).sample(rows, len(rows))  # noqa: S311 - no secret
        return ReservoirSnapshot(
            seen=self.seen,
            kept=len(kept),
            urls=[row.url for row in rows],
            terms=list(self._terms),
            numbers=np.concatenate([row.numbers for row in rows] or [np.empty(0, np.int32)]).astype(np.int64),
            weights=np.concatenate([row.weights for row in rows] or [np.empty(0)]),
            starts=np.cumsum([0, *(len(row.numbers) for row in rows)]),
        )

    def _some(self, stratum: Stratum, share: float) -> list[TermRow]:
        wanted = min(round(share), len(stratum.rows))
        if wanted == len(stratum.rows):
            return stratum.rows
        return Random(self.seen).sample(stratum.rows, wanted)  # noqa: S311 - no secret

    def restore(self, snapshot: ReservoirSnapshot) -> None:
        """Continue from the snapshot of an earlier run; pages beyond the capacity are dropped."""
        self._terms, self._numbered = {}, None
        rows = self._rows_of(snapshot, range(len(snapshot.urls)))
        self._kept = {row.url: row for row in rows[: snapshot.kept]}
        self._rows, self._places, self._peer_strata = [], {}, {}
        for place, row in enumerate(rows[snapshot.kept : snapshot.kept + self._most_pages]):
            self._put(place, row)
        self.seen = snapshot.seen
        is_cut = len(self._rows) < min(self._most_pages, snapshot.seen - snapshot.kept)
        self._older, self._older_seen = (len(self._rows), snapshot.seen - snapshot.kept) if is_cut else (0, 0)

    def set_peer_snapshot(self, peer: str, snapshot: ReservoirSnapshot) -> None:
        self._peer_strata[peer] = Stratum(0, [])
        room = self._most_pages // 2 // len(self._peer_strata)
        for stratum in self._peer_strata.values():
            del stratum.rows[room:]  # any prefix of a snapshot is a uniform sample too
        places = [place for place in range(snapshot.kept, len(snapshot.urls)) if snapshot.urls[place] not in self][
            :room
        ]
        self._peer_strata[peer] = Stratum(
            max(snapshot.seen - snapshot.kept, len(places)), self._rows_of(snapshot, places)
        )

    def _rows_of(self, snapshot: ReservoirSnapshot, places: Sequence[int]) -> list[TermRow]:
        """Encode pages of a snapshot by this reservoir's term indices."""
        spans = [slice(*pair) for pair in pairwise(snapshot.starts.tolist())]
        used = np.unique(
            np.concatenate([snapshot.numbers[spans[place]] for place in places] or [np.empty(0, np.int64)])
        )
        ours = np.full(len(snapshot.terms), -1, dtype=np.int32)
        for number in used.tolist():
            ours[number] = self._terms.setdefault(snapshot.terms[number], len(self._terms))
        return [
            TermRow(
                snapshot.urls[place],
                ours[snapshot.numbers[spans[place]]],
                snapshot.weights[spans[place]],
                embed_opening(snapshot.opening_of(place), self._word_vectors),
            )
            for place in places
        ]
