"""A bounded sample of the crawl, as arrays: the background that a page is seen against.

Until it is full it holds every page; from then on each new page takes the place of a random one or none, so that it
stays an even sample of all that was crawled (reservoir sampling). Terms are numbers here, because a refit looks at
every term of every page.

Beside the worker's own pages stand some of the other workers', each for as many pages of theirs as were left behind,
so that the whole is a sample of all that was crawled, by whomever.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from random import Random

import numpy as np

from thresher.classify.draw import Draw
from thresher.classify.rows import Matrix, Numbers, Row, Terms, Weights

MOST_TERMS = 400_000
"""Terms that are kept at most; those that no page of the sample holds are forgotten when there are more."""


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rows that stand for as many pages as `seen` says, each for the same share of them."""

    seen: int
    rows: list[Row]


class Sample:
    """Pages of the crawl.

    Args:
        most_pages: How many are kept; of other workers' pages at most half as many are beside them.
        random_state: The same number keeps the same pages.
    """

    def __init__(self, most_pages: int, *, random_state: int = 0) -> None:
        self.seen = 0
        self._most_pages = most_pages
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._terms: dict[str, int] = {}
        self._numbered: tuple[Terms, Numbers] | None = None
        self._kept: dict[str, Row] = {}
        self._rows: list[Row] = []
        self._places: dict[str, int] = {}
        self._older = 0
        self._older_seen = 0
        self._borrowed: dict[str, Stratum] = {}

    def __len__(self) -> int:
        return len(self._all_rows())

    def __contains__(self, url: str) -> bool:
        return url in self._places or url in self._kept

    @property
    def seen_by_all(self) -> int:
        """How many pages all workers have seen, as far as is known."""
        return self.seen + sum(lent.seen for lent in self._borrowed.values())

    @property
    def kept(self) -> int:
        """How many pages stay for good."""
        return len(self._kept)

    @property
    def kept_urls(self) -> Collection[str]:
        """The pages that stay for good."""
        return self._kept.keys()

    @property
    def terms(self) -> Mapping[str, int]:
        """The number of every term."""
        return self._terms

    @property
    def urls(self) -> list[str]:
        """The pages, in the order of the matrix: those that are kept first, those of other workers last."""
        return [row.url for row in self._all_rows()]

    def _all_rows(self) -> list[Row]:
        return [*self._kept.values(), *self._rows, *(row for lent in self._borrowed.values() for row in lent.rows)]

    def add(self, url: str, terms: Terms) -> str:
        """Take a page in, if the draw says so; return the URL of the page that had to leave for it, or nothing."""
        self.seen += 1
        if url in self:
            return ""
        place = len(self._rows)
        if place >= self._most_pages:
            place = self._older + self._random.randrange(max(1, self.seen - self._older_seen))
            if place >= self._most_pages:
                return url
        return self._put(place, self.row(url, terms))

    def keep(self, url: str, terms: Terms) -> None:
        """Take a page in for good, whatever the draw says."""
        self.keep_known(url)
        if url not in self._kept:
            self.seen += 1
            self._kept[url] = self.row(url, terms)

    def keep_known(self, url: str) -> None:
        """Let a page of the sample stay for good."""
        place = self._places.pop(url, None)
        if place is None:
            return
        self._kept[url] = self._rows[place]
        if place < self._older:  # the last of the older pages moves into the gap, and leaves one
            self._older -= 1
            place = self._move(self._older, place)
        self._move(len(self._rows) - 1, place)
        self._rows.pop()

    def _move(self, place: int, gap: int) -> int:
        """Move a page into a gap; return where the gap is now."""
        if place != gap:
            row = self._rows[gap] = self._rows[place]
            self._places[row.url] = gap
        return place

    def _put(self, place: int, row: Row) -> str:
        left = ""
        if place == len(self._rows):
            self._rows.append(row)
        else:
            left = self._rows[place].url
            del self._places[left]
            self._rows[place] = row
        self._places[row.url] = place
        return left

    def row(self, url: str, terms: Terms) -> Row:
        """Write a page in numbers; new terms get new ones."""
        known = self._terms
        numbers = self.numbers(terms)
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = known.setdefault(terms.names[place], len(known))
        self._numbered = (terms, numbers)
        return Row(url, numbers, terms.weights)

    def numbers(self, terms: Terms) -> Numbers:
        """Return the numbers of terms; -1 for those that have none."""
        if self._numbered and self._numbered[0] is terms:  # written in numbers a moment ago
            return self._numbered[1]
        return np.fromiter(map(self._terms.get, terms.names, repeat(-1)), dtype=np.int32, count=len(terms.names))

    def matrix(self) -> Matrix:
        """Put all pages on end."""
        rows = self._all_rows()
        lengths = [len(row.numbers) for row in rows]
        return Matrix(
            numbers=np.concatenate([row.numbers for row in rows] or [np.empty(0, np.int32)]).astype(np.intp),
            weights=np.concatenate([row.weights for row in rows] or [np.empty(0)]),
            starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            pages=self.pages_each(),
        )

    def pages_each(self) -> Weights:
        """Say how much each page counts; all of them together as much as there are, for no draw knows more than it."""
        strata = [*self._own_strata(), *self._borrowed.values()]
        shares = np.concatenate([np.full(len(each.rows), each.seen / max(len(each.rows), 1)) for each in strata])
        if len(shares) and shares.max() > shares.min():
            shares *= len(shares) / shares.sum()
        else:
            shares[:] = 1.0
        return np.concatenate([np.ones(len(self._kept)), shares])

    def _own_strata(self) -> list[Stratum]:
        """Part the worker's own pages: those of a run whose sample was cut short, and those since."""
        older, newer = self._rows[: self._older], self._rows[self._older :]
        since = max(self.seen - self._older_seen - len(self._kept), len(newer))
        return [Stratum(self._older_seen, older), Stratum(since, newer)]

    def forget_unused_terms(self, *, most: int = MOST_TERMS) -> None:
        """Number the terms anew once there are too many; whoever holds numbers must ask for new ones."""
        if len(self._terms) <= most:
            return
        used = np.unique(self.matrix().numbers)
        new_numbers = np.full(len(self._terms), -1, dtype=np.int32)
        new_numbers[used] = np.arange(len(used), dtype=np.int32)
        names = list(self._terms)
        self._terms = {names[old]: number for number, old in enumerate(used)}
        self._numbered = None
        self._rows = [Row(row.url, new_numbers[row.numbers], row.weights) for row in self._rows]
        self._kept = {url: Row(url, new_numbers[row.numbers], row.weights) for url, row in self._kept.items()}
        for lent in self._borrowed.values():
            lent.rows[:] = [Row(row.url, new_numbers[row.numbers], row.weights) for row in lent.rows]

    def draw(self, most: int) -> Draw:
        """Give the pages that stay for good, and an even draw of the rest of this worker's, so many at most."""
        kept = list(self._kept.values())[:most]
        strata = [each for each in self._own_strata() if each.rows]
        seen = sum(each.seen for each in strata)
        room = min([most - len(kept), *(len(each.rows) * seen // max(each.seen, 1) for each in strata)])
        rows = [row for each in strata for row in self._some(each, room * each.seen / max(seen, 1))]
        rows = kept + Random(self.seen).sample(rows, len(rows))  # noqa: S311 - no secret
        return Draw(
            seen=self.seen,
            kept=len(kept),
            urls=[row.url for row in rows],
            terms=list(self._terms),
            numbers=np.concatenate([row.numbers for row in rows] or [np.empty(0, np.int32)]).astype(np.int64),
            weights=np.concatenate([row.weights for row in rows] or [np.empty(0)]),
            starts=np.cumsum([0, *(len(row.numbers) for row in rows)]),
        )

    def _some(self, stratum: Stratum, share: float) -> list[Row]:
        wanted = min(round(share), len(stratum.rows))
        if wanted == len(stratum.rows):
            return stratum.rows
        return Random(self.seen).sample(stratum.rows, wanted)  # noqa: S311 - no secret

    def restore(self, draw: Draw) -> None:
        """Go on from the draw of an earlier run; pages beyond this sample's size are left out."""
        self._terms, self._numbered = {}, None
        rows = self._rows_of(draw, range(len(draw.urls)))
        self._kept = {row.url: row for row in rows[: draw.kept]}
        self._rows, self._places, self._borrowed = [], {}, {}
        for place, row in enumerate(rows[draw.kept : draw.kept + self._most_pages]):
            self._put(place, row)
        self.seen = draw.seen
        is_cut = len(self._rows) < min(self._most_pages, draw.seen - draw.kept)
        self._older, self._older_seen = (len(self._rows), draw.seen - draw.kept) if is_cut else (0, 0)

    def borrow(self, lender: str, draw: Draw) -> None:
        """Put another worker's pages beside our own, in the place of those that it lent before."""
        self._borrowed[lender] = Stratum(0, [])
        room = self._most_pages // 2 // len(self._borrowed)
        for lent in self._borrowed.values():
            del lent.rows[room:]  # any beginning of a draw is a draw
        places = [place for place in range(draw.kept, len(draw.urls)) if draw.urls[place] not in self][:room]
        self._borrowed[lender] = Stratum(max(draw.seen - draw.kept, len(places)), self._rows_of(draw, places))

    def _rows_of(self, draw: Draw, places: Sequence[int]) -> list[Row]:
        """Write pages of a draw in numbers of ours."""
        spans = [slice(*pair) for pair in pairwise(draw.starts.tolist())]
        used = np.unique(np.concatenate([draw.numbers[spans[place]] for place in places] or [np.empty(0, np.int64)]))
        ours = np.full(len(draw.terms), -1, dtype=np.int32)
        for number in used.tolist():
            ours[number] = self._terms.setdefault(draw.terms[number], len(self._terms))
        return [Row(draw.urls[place], ours[draw.numbers[spans[place]]], draw.weights[spans[place]]) for place in places]
