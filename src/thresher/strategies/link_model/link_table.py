"""An in-memory table of waiting URLs, the links to them, and the pages that these links are on.

All data are NumPy columns, so that all waiting URLs can be rescored within milliseconds. Bounded: when there are too
many links, those to the URLs with the lowest scores are dropped, and these URLs keep their last scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.records import Link, ParsedPage
from thresher.strategies.link_model.site_rates import SiteRates
from thresher.strategies.link_model.term_model import (
    ABOUT_CHARACTERS,
    ABOUT_WORDS,
    ANCHOR_CHARACTERS,
    AROUND,
    AROUND_WORDS,
    CONTEXT_CHARACTERS,
    MAX_EXTENSION_CHARACTERS,
    MAX_WORDS,
    NAME,
    NAME_WORDS,
    TERM_FEATURES,
    NameModel,
    TermModel,
    end_of,
    rows_of,
)
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint, host_key

FIRST_ROWS = 1024


class Columns:
    """A table of arrays with the same number of rows.

    Args:
        kinds: Of each column the dtype and the number of values per row.
    """

    def __init__(self, kinds: Mapping[str, tuple[str, int]]) -> None:
        self.size = 0
        self._room = FIRST_ROWS
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.zeros((FIRST_ROWS, width) if width > 1 else FIRST_ROWS, dtype=kind)
            for name, (kind, width) in kinds.items()
        }
        self.filled = self._arrays
        """The filled part of each column."""
        self._fill()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the filled part of a column."""
        return self.filled[name]

    def grow(self, rows: int) -> range:
        """Add rows of zeros; return their numbers."""
        first, self.size = self.size, self.size + rows
        while self._room < self.size:
            self._room *= 2
            for name, array in self._arrays.items():
                wider = np.zeros((self._room, *array.shape[1:]), dtype=array.dtype)
                wider[:first] = array[:first]
                self._arrays[name] = wider
        self._fill()
        return range(first, self.size)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Keep these rows, in this order, and drop all others."""
        for array in self._arrays.values():
            kept = array[rows]
            array[: len(rows)] = kept
            array[len(rows) : self.size] = 0
        self.size = len(rows)
        self._fill()

    def _fill(self) -> None:
        self.filled = {name: array[: self.size] for name, array in self._arrays.items()}


MAX_LINKS = 120_000
KEPT_SHARE = 0.5
"""Share of the limit that is left when links are dropped."""
MAX_PARENTS = 32
"""Links that are stored per URL; a link in a menu has as many parents as there are pages."""
MAX_OUTCOMES = 1 << 17
"""URLs whose outcome is remembered without their links; else they would seem to wait when they are found again."""
UPDATE_ROWS = 2_048
"""Links that are updated at once: chosen so that the data fit into the processor's cache."""
CUTOFF_SHARE = 0.8
"""Cut-off for the next top-k search, as a share of the last k-th score; all URLs are searched only if that fails."""
REACH = 4
"""Neighbours of a link on each side."""
KERNEL = np.array([1 / abs(distance) if distance else 0.0 for distance in range(-REACH, REACH + 1)])
RELEVANT = 0.5
"""The relevance from which a page ends a tunnel."""
TEXTS = ("anchor", "end of the address", "context", "heading")
PLACES = ("domain", "host", "directory", "template")

FACTS = ("anchor", "context", "bare", "outward")

Ints = NDArray[np.intp]

_URLS = {
    "key": ("i8", 1), "places": ("i4", len(PLACES)), "url": ("f4", 1), "depth": ("f4", 1),
    "query": ("f4", 1), "fetched": ("?", 1), "relevance": ("f4", 1), "score": ("f8", 1), "shift": ("f8", 1),
    "away": ("f4", 1), "parents": ("i4", 1), "known": ("i4", 1), "to": ("i4", MAX_PARENTS),
    "facts": ("f4", len(FACTS) + 2 * TERM_FEATURES), "anchor": ("f4", 1),
    "links": ("f4", 1), "tries": ("f4", 1), "successes": ("f4", 1), "promise": ("f4", 1), "about": ("i4", 1),
}  # fmt: skip
"""Columns of a URL, line by line: features of the URL itself, its state and outcome, the links to it, sums (and a
maximum) of the features of these links. The last line is of fetched URLs.

The shift is the difference of its score from the model's, in log odds, after a restart that loads only some links.
"""
_LINKS = {
    "page": ("i4", 1), "url": ("i4", 1), "kept": ("?", 1), "path": ("i4", 1), "near": ("f4", 1),
    "near_success": ("f4", 1), "name": ("i4", NAME_WORDS), "around": ("i4", AROUND_WORDS),
    "facts": ("f4", len(FACTS) + 2 * TERM_FEATURES),
}  # fmt: skip
"""Columns of a link; its facts are features of its texts and address, then the term features of its words."""
_PAGES = {"url": ("i4", 1), "words": ("i4", ABOUT_WORDS)}


class LinkTable:
    """Tables of pages, links and URLs, which are numbered.

    Args:
        width: Number of features of a URL.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        places: SiteRates,
        words: TermModel,
        names: NameModel,
        *,
        width: int,
        most_links: int = MAX_LINKS,
    ) -> None:
        self._topic_profile = topic_profile
        self._places = places
        self._words = words
        self._name_model = names
        self._most_links = most_links
        self._topics = np.reshape(
            [words.weights_of(vector) for vector in topic_profile.vectors.values()], (-1, MAX_WORDS)
        )
        self._is_topic: NDArray[np.bool_] = np.any(self._topics, axis=0)
        self.urls = Columns({**_URLS, "vector": ("f2", names.width), "x": ("f4", width)})
        self.links = Columns(_LINKS)
        self.pages = Columns(_PAGES)
        self.names: list[str] = []
        self._cutoff = 0.0  # below the scores of the best waiting URLs at the last search
        self._numbers: dict[int, int] = {}
        self._outcomes: dict[int, float] = {}
        self._on: dict[int, range] = {}

    def find(self, key: int) -> int | None:
        """Return the number of a URL by its fingerprint; None when it is not in the table."""
        return self._numbers.get(key)

    def remember(self, key: int, relevance: float) -> None:
        """Remember the outcome of a URL, whether any link to it is known or not."""
        self._outcomes.pop(key, None)
        self._outcomes[key] = relevance
        if len(self._outcomes) > MAX_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]

    def number(self, url: str) -> int:
        """Return the number of a URL; add a new one."""
        known = self._numbers.get(fingerprint(url))
        return int(self._number_all([url], 0.0)[0]) if known is None else known

    def _number_all(self, urls: Sequence[str], away: float) -> Ints:
        """Return the numbers of distinct URLs; add new ones with the distance `away` from the topic."""
        keys = list(map(fingerprint, urls))
        new = [place for place, key in enumerate(keys) if key not in self._numbers]
        if new:
            rows = self.urls.grow(len(new))
            new_keys, new_urls = [keys[place] for place in new], [urls[place] for place in new]
            self._numbers.update(zip(new_keys, rows, strict=True))
            self.names += new_urls
            self._describe(new_keys, new_urls, slice(rows.start, rows.stop))
            self.urls["away"][rows.start : rows.stop] = away
        return np.fromiter(map(self._numbers.__getitem__, keys), dtype=np.intp, count=len(keys))

    def _describe(self, keys: Sequence[int], found: list[str], block: slice) -> None:
        urls = self.urls
        urls["key"][block] = keys
        urls["fetched"][block] = [key in self._outcomes for key in keys]
        urls["relevance"][block] = [self._outcomes.get(key, 0.0) for key in keys]
        urls["url"][block] = list(map(self._topic_profile.url_evidence, found))
        urls["places"][block], urls["depth"][block], urls["query"][block] = self._places.of_all(found)

    def add_page(self, page: ParsedPage, relevance: float, *, recalled: bool = False) -> Ints:
        """Add a judged page; return the numbers of the waiting URLs that it links to.

        Args:
            recalled: Whether the words of its links were counted in an earlier run.
        """
        if self.links.size + len(page.links) > self._most_links:
            self.forget()
        number, found = self.number(page.url), _unique_links(page.links)
        self.settle(number, relevance)
        away = 0.0 if relevance >= RELEVANT else float(self.urls["away"][number])
        children = self._number_all([link.url for link in found], away + 1)
        self.urls["away"][number], self.urls["links"][number] = away, len(found)
        if not found or number in self._on:
            return self._waiting_of(children)
        rows = self.links.grow(len(found))
        self.links["page"][rows.start :], self.links["url"][rows.start :] = number, children
        self._introduce(number, self._write_links(page, found, slice(rows.start, rows.stop)))
        if not recalled:
            self._words.see_links(self.links["name"][rows.start : rows.stop])
        self.urls["away"][children] = np.minimum(self.urls["away"][children], away + 1)
        self._connect(number, rows, children)
        return self._waiting_of(children)

    def _waiting_of(self, numbers: Ints) -> Ints:
        waiting: Ints = numbers[~self.urls["fetched"][numbers] & (self.urls["parents"][numbers] > 0)]
        return waiting

    def _introduce(self, number: int, words: NDArray[np.int32]) -> None:
        about = self.pages.grow(1)[0]
        self.pages["url"][about] = number
        self.pages["words"][about] = words
        self.urls["about"][number] = about
        self.urls["promise"][number] = self._words.promise(self.pages["words"][about : about + 1])[0]

    def _write_links(self, page: ParsedPage, found: Sequence[Link], block: slice) -> NDArray[np.int32]:
        """Fill the columns of the links of a page; return the words of its title and beginning."""
        links, words, host = self.links, self._words, host_key(page.url)
        texts = _texts_of(found)
        texts += page.title[:ANCHOR_CHARACTERS], page.text[:ABOUT_CHARACTERS]
        numbers, at = words.of(texts, page.language)
        rows = rows_of(numbers, at // 2, np.array([*[NAME_WORDS, AROUND_WORDS] * len(found), ABOUT_WORDS]))
        links["name"][block], links["around"][block] = rows[:-1:2, :NAME_WORDS], rows[1::2, :AROUND_WORDS]
        links["path"][block] = [self._places.path(host, link.tag_path) for link in found]
        facts, sizes = links["facts"][block], np.bincount(at, minlength=len(texts))
        facts[:, :2] = self._similarities(numbers, at, sizes)[:-2].reshape(-1, len(TEXTS))[:, ::2]
        facts[:, 2] = sizes[: -2 : len(TEXTS)] == 0
        hosts = self.urls["places"][:, PLACES.index("host")]
        facts[:, 3] = hosts[links["url"][block]] != hosts[self.number(page.url)]
        facts[:, len(FACTS) :] = self._text_features(links["name"][block], links["around"][block])
        introduction: NDArray[np.int32] = rows[-1]
        return introduction

    def _similarities(self, numbers: Ints, at: Ints, sizes: Ints) -> NDArray[np.float64]:
        """Return the cosine of each second text and the topic, by the vector that fits best."""
        if compiled:
            return compiled.similarities(numbers, at, len(sizes), self._is_topic, self._topics)
        selected = np.zeros(len(sizes), dtype=np.bool_)
        selected[at[self._is_topic[numbers]]] = True
        selected[1::2] = False
        inside = selected[at]
        words, counts = np.unique(at[inside] * MAX_WORDS + numbers[inside], return_counts=True)
        texts, words = words // MAX_WORDS, words % MAX_WORDS
        lengths = np.sqrt(np.bincount(texts, counts**2, len(sizes)))
        products = [np.bincount(texts, counts * vector[words], len(sizes)) for vector in self._topics]
        similarities: NDArray[np.float64] = np.max(products, axis=0, initial=0.0) / np.maximum(lengths, 1)
        return similarities

    def _connect(self, number: int, rows: range, children: Ints) -> None:
        """Connect the links of a page with its children, in both directions."""
        urls, links, block = self.urls, self.links, slice(rows.start, rows.stop)
        self._on[number] = rows
        if compiled:
            tried, succeeded = compiled.connect(urls.filled, links.filled, rows.start, children, MAX_PARENTS, KERNEL)
            urls["tries"][number], urls["successes"][number] = tried, succeeded
            self._add_vectors(links["kept"][block], links["name"][block], children)
            return
        done = urls["fetched"][children]
        outcome = np.where(done, urls["relevance"][children], 0.0)
        urls["tries"][number], urls["successes"][number] = done.sum(), outcome.sum()
        links["near"][block] = np.convolve(done, KERNEL)[REACH : REACH + len(rows)]
        links["near_success"][block] = np.convolve(outcome, KERNEL)[REACH : REACH + len(rows)]
        urls["parents"][children] += 1
        kept = urls["known"][children] < MAX_PARENTS
        links["kept"][block] = kept
        self._add_vectors(kept, links["name"][block], children)
        children = children[kept]
        urls["to"][children, urls["known"][children]] = np.arange(rows.start, rows.stop)[kept]
        urls["known"][children] += 1
        facts = links["facts"][block][kept]
        urls["facts"][children] += facts
        urls["anchor"][children] = np.maximum(urls["anchor"][children], facts[:, 0])

    def _add_vectors(self, kept: NDArray[np.bool_], names: NDArray[np.int32], children: Ints) -> None:
        """Add the vectors of links' names to those of the URLs they lead to."""
        if self._name_model.is_active:
            self.urls["vector"][children[kept]] += self._name_model.embed(names[kept]).astype(np.float16)

    def settle(self, number: int, relevance: float) -> float:
        """Record the outcome of a URL for its siblings on all pages; return the change of its relevance."""
        urls, links = self.urls, self.links
        known = bool(urls["fetched"][number])
        change = relevance - (float(urls["relevance"][number]) if known else 0.0)
        urls["fetched"][number], urls["relevance"][number] = True, relevance
        self.remember(int(urls["key"][number]), relevance)
        for row in self.links_to(number) if change or not known else ():
            page = int(links["page"][row])
            on = self._on[page]
            low, high = max(on.start, row - REACH), min(on.stop, row + REACH + 1)
            kernel = KERNEL[low - row + REACH : high - row + REACH]
            urls["successes"][page] += change
            links["near_success"][low:high] += kernel * change
            if not known:
                urls["tries"][page] += 1
                links["near"][low:high] += kernel
        return change

    def links_to(self, number: int) -> list[int]:
        rows: list[int] = self.urls["to"][number, : self.urls["known"][number]].tolist()
        return rows

    def places_of(self, number: int) -> list[int]:
        """Return the places of a URL: domain to template, and the tag paths of the links to it."""
        paths = self.links["path"][self.links_to(number)]
        return list(dict.fromkeys([*self.urls["places"][number].tolist(), *paths.tolist()]))

    def introductions(self, rows: Sequence[int]) -> NDArray[np.int32]:
        """Return the introductory words of the pages that some links are on."""
        words: NDArray[np.int32] = self.pages["words"][self.urls["about"][self.links["page"][rows]]]
        return words

    def all_links_to(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the rows of all links to some URLs, and the index of the URL that each leads to."""
        if compiled:
            return compiled.links_to(self.urls["to"], self.urls["known"], numbers)
        known = self.urls["known"][numbers]
        rows = self.urls["to"].take(numbers, axis=0)[:, : known.max(initial=0)]
        at, place = np.nonzero(np.arange(rows.shape[1]) < known[:, None])
        return rows[at, place].astype(np.intp), at

    def waiting(self) -> tuple[Ints, Ints, Ints]:
        """Return the numbers of all waiting URLs, the rows of the links to them, and the index of each link's URL."""
        is_waiting = ~self.urls["fetched"] & (self.urls["parents"] > 0)
        places = np.cumsum(is_waiting) - 1
        rows = np.flatnonzero(self.links["kept"] & is_waiting[self.links["url"]])
        at = places[self.links["url"][rows]]
        return np.flatnonzero(is_waiting), rows, at

    def hottest(self, most: int) -> tuple[Ints, Ints, Ints]:
        """Return the same as `waiting`, for the URLs with the best scores only."""
        best = self._waiting_of(np.flatnonzero(self.urls["score"] >= self._cutoff))
        if len(best) < most:
            best = self._waiting_of(np.arange(self.urls.size))
        score = self.urls["score"][best]
        if most < len(best):
            best = best[np.argpartition(score, -most)[-most:]]
        self._cutoff = CUTOFF_SHARE * float(self.urls["score"][best].min(initial=1.0))
        return best, *self.all_links_to(best)

    def update_text_features(self, rows: Ints) -> None:
        """Update the term features of some links."""
        links = self.links
        for start in range(0, len(rows), UPDATE_ROWS):
            some = rows[start : start + UPDATE_ROWS]
            links["facts"][some, len(FACTS) :] = self._text_features(
                links["name"].take(some, axis=0), links["around"].take(some, axis=0)
            )
        self._sum_up_facts(rows)

    def _sum_up_facts(self, rows: Ints) -> None:
        """Update the sums of term features over all links to each URL."""
        url, text_features = self.links["url"][rows], self.links["facts"].take(rows, axis=0)[:, len(FACTS) :]
        numbers = np.flatnonzero(np.bincount(url, minlength=self.urls.size))
        summed = np.stack([np.bincount(url, each)[numbers] for each in text_features.T], axis=1)
        self.urls["facts"][numbers, len(FACTS) :] = summed

    def _text_features(self, names: NDArray[np.int32], around: NDArray[np.int32]) -> NDArray[np.float32]:
        return np.concatenate([self._words.features(NAME, names), self._words.features(AROUND, around)], axis=1)

    def update_page_features(self) -> None:
        """Update the features of the introductory words of all pages."""
        self.urls["promise"][self.pages["url"]] = self._words.promise(self.pages["words"])

    def forget(self) -> None:
        """Keep the links to the best waiting URLs, and the pages they are on; drop everything else."""
        numbers, rows, at = self.waiting()
        score = self.urls["score"][numbers]
        order = np.argsort(-score, kind="stable")
        links_of_best = np.cumsum(np.bincount(at, minlength=len(numbers))[order])
        best = np.zeros(len(numbers), dtype=np.bool_)
        best[order[: np.searchsorted(links_of_best, KEPT_SHARE * self._most_links)]] = True
        rows = rows[best[at]]
        keep = np.zeros(self.urls.size, dtype=np.bool_)
        keep[numbers[best]] = True
        keep[self.links["page"][rows]] = True
        self._shrink(np.flatnonzero(keep), rows)

    def _shrink(self, numbers: Ints, rows: Ints) -> None:
        places = np.full(self.urls.size, -1, dtype=np.intp)
        places[numbers] = np.arange(len(numbers))
        pages = np.flatnonzero(places[self.pages["url"]] >= 0)
        self.urls.keep(numbers)
        self.links.keep(rows)
        self.pages.keep(pages)
        self.names = [self.names[number] for number in numbers.tolist()]
        self._numbers = {key: number for number, key in enumerate(self.urls["key"].tolist())}
        for table, column in ((self.links, "page"), (self.links, "url"), (self.pages, "url")):
            table[column][:] = places[table[column]]
        self.urls["about"][self.pages["url"]] = np.arange(self.pages.size)
        self._count_links()
        page = self.links["page"]
        starts = np.flatnonzero(np.diff(page, prepend=-1))
        ends = [*starts[1:].tolist(), len(page)]
        self._on = {int(page[start]): range(start, end) for start, end in zip(starts.tolist(), ends, strict=True)}

    def _count_links(self) -> None:
        """Rebuild the lists of links to each URL."""
        url = self.links["url"]
        self.urls["known"][:] = known = np.bincount(url, minlength=self.urls.size)
        order = np.argsort(url, kind="stable")
        url = url[order]
        self.urls["to"][url, np.arange(len(url)) - (np.cumsum(known) - known)[url]] = order


def _texts_of(links: Sequence[Link]) -> list[str]:
    """Return the texts of links, those of each in the order of `TEXTS`."""
    if compiled:
        return compiled.link_texts(links, ANCHOR_CHARACTERS, CONTEXT_CHARACTERS, MAX_EXTENSION_CHARACTERS, end_of)
    texts = (
        (
            link.anchor[:ANCHOR_CHARACTERS],
            end_of(link.url),
            link.context[:CONTEXT_CHARACTERS],
            link.heading[:ANCHOR_CHARACTERS],
        )
        for link in links
    )
    return [text for each in texts for text in each]


def _unique_links(links: Sequence[Link]) -> list[Link]:
    """Return one link to each URL: the first with an anchor text."""
    first: dict[str, Link] = {}
    for link in links:
        known = first.get(link.url)
        if known is None or (not known.anchor and link.anchor):
            first[link.url] = link
    return list(first.values())
