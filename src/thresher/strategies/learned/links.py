"""The hot part of the frontier: the URLs that wait, the links to them, and the pages that those stand on.

All in columns of numbers, so that everything that waits can be scored again within milliseconds. Bounded: when there
are too many links, those to the URLs with the lowest scores are forgotten, and these wait with their last score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.records import Link, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.learned.columns import Columns
from thresher.strategies.learned.places import Places
from thresher.strategies.learned.words import (
    ABOUT_CHARACTERS,
    ABOUT_WORDS,
    ANCHOR_CHARACTERS,
    AROUND,
    AROUND_WORDS,
    CONTEXT_CHARACTERS,
    MOST_WORDS,
    NAME,
    NAME_WORDS,
    SAYINGS,
    Words,
    end_of,
    rows_of,
)
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key

MOST_LINKS = 120_000
KEPT_SHARE = 0.5
"""Of the links that may be remembered: how many are left when some are forgotten."""
MOST_PARENTS = 32
"""Of one URL; a link in a menu has as many as there are pages."""
MOST_OUTCOMES = 1 << 17
"""URLs whose outcome is remembered though their links are not: or they would seem to wait when they are found again."""
LISTEN_ROWS = 2_048
"""Links that are listened to at once: so many that all of it stays close to the processor."""
BAR = 0.8
"""Of the lowest score among the best: where these are looked for next time, before all are looked at."""
REACH = 4
"""How many links to each side of a link are its neighbours."""
KERNEL = np.array([1 / abs(distance) if distance else 0.0 for distance in range(-REACH, REACH + 1)])
RELEVANT = 0.5
"""From here on a page ends a tunnel."""
TEXTS = ("anchor", "end of the address", "context", "heading")
PLACES = ("domain", "host", "directory", "template")

FACTS = ("anchor", "context", "bare", "outward")

Ints = NDArray[np.intp]

_URLS = {
    "key": ("i8", 1), "places": ("i4", len(PLACES)), "url": ("f4", 1), "depth": ("f4", 1),
    "query": ("f4", 1), "fetched": ("?", 1), "relevance": ("f4", 1), "score": ("f8", 1), "shift": ("f8", 1),
    "away": ("f4", 1), "parents": ("i4", 1), "known": ("i4", 1), "to": ("i4", MOST_PARENTS),
    "facts": ("f4", len(FACTS) + 2 * SAYINGS), "anchor": ("f4", 1),
    "links": ("f4", 1), "tries": ("f4", 1), "successes": ("f4", 1), "promise": ("f4", 1), "about": ("i4", 1),
}  # fmt: skip
"""Of a URL: what it says itself, what is known of it, the links to it, sums (and a maximum) of what these say.

The shift is what its score differs by from the model's, in log odds, after a restart that recalls only some links.

The last line is of those that were fetched.
"""
_LINKS = {
    "page": ("i4", 1), "url": ("i4", 1), "kept": ("?", 1), "path": ("i4", 1), "near": ("f4", 1),
    "near_success": ("f4", 1), "name": ("i4", NAME_WORDS), "around": ("i4", AROUND_WORDS),
    "facts": ("f4", len(FACTS) + 2 * SAYINGS),
}  # fmt: skip
"""Of a link; its facts are what its own words and address say, and then what all words on and around it say."""
_PAGES = {"url": ("i4", 1), "words": ("i4", ABOUT_WORDS)}


class KnownLinks:
    """Pages, links and waiting URLs, in numbers.

    Args:
        width: How many features a URL has.
    """

    def __init__(self, aim: Aim, places: Places, words: Words, *, width: int, most_links: int = MOST_LINKS) -> None:
        self._aim = aim
        self._places = places
        self._words = words
        self._most_links = most_links
        self._topics = np.reshape([words.weights_of(vector) for vector in aim.vectors.values()], (-1, MOST_WORDS))
        self._is_topic: NDArray[np.bool_] = np.any(self._topics, axis=0)
        self.urls = Columns({**_URLS, "x": ("f4", width)})
        self.links = Columns(_LINKS)
        self.pages = Columns(_PAGES)
        self.names: list[str] = []
        self._bar = 0.0  # the best that wait were above it when they were last asked for
        self._numbers: dict[int, int] = {}
        self._outcomes: dict[int, float] = {}
        self._on: dict[int, range] = {}

    def find(self, key: int) -> int | None:
        """Give the number of a URL by its fingerprint; None when it is not known, or no longer."""
        return self._numbers.get(key)

    def remember(self, key: int, relevance: float) -> None:
        """Remember what became of a URL, whether any link to it is known or not."""
        self._outcomes.pop(key, None)
        self._outcomes[key] = relevance
        if len(self._outcomes) > MOST_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]

    def number(self, url: str) -> int:
        """Give the number of a URL; a new one gets one."""
        known = self._numbers.get(fingerprint(url))
        return int(self._number_all([url], 0.0)[0]) if known is None else known

    def _number_all(self, urls: Sequence[str], away: float) -> Ints:
        """Give the numbers of some different URLs; new ones get some, and are so far away from the topic."""
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

    def _describe(self, keys: Sequence[int], found: Sequence[str], block: slice) -> None:
        urls, paths = self.urls, [url.partition("://")[2].partition("/")[2] for url in found]
        urls["key"][block] = keys
        urls["fetched"][block] = [key in self._outcomes for key in keys]
        urls["relevance"][block] = [self._outcomes.get(key, 0.0) for key in keys]
        urls["url"][block] = list(map(self._aim.url_evidence, found))
        urls["depth"][block] = [path.rstrip("/").count("/") for path in paths]
        urls["query"][block] = ["?" in path for path in paths]
        urls["places"][block] = list(map(self._places.of, found))

    def add_page(self, page: ParsedPage, relevance: float, *, recalled: bool = False) -> Ints:
        """Take in a page that was judged; return the numbers of the waiting URLs that it links to.

        Args:
            recalled: The words of its links were counted in an earlier run.
        """
        if self.links.size + len(page.links) > self._most_links:
            self.forget()
        number, found = self.number(page.url), _one_each(page.links)
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
        self._meet(number, rows, children)
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
        """Write down what is known of the links of a page; return the words that it is introduced by."""
        links, words, host = self.links, self._words, host_key(page.url)
        texts = [text for link in found for text in _texts_of(link)]
        texts += page.title[:ANCHOR_CHARACTERS], page.text[:ABOUT_CHARACTERS]
        numbers, at = words.of(texts)
        rows = rows_of(numbers, at // 2, np.array([*[NAME_WORDS, AROUND_WORDS] * len(found), ABOUT_WORDS]))
        links["name"][block], links["around"][block] = rows[:-1:2, :NAME_WORDS], rows[1::2, :AROUND_WORDS]
        links["path"][block] = [self._places.path(host, link.tag_path) for link in found]
        facts, sizes = links["facts"][block], np.bincount(at, minlength=len(texts))
        facts[:, :2] = self._likenesses(numbers, at, sizes)[:-2].reshape(-1, len(TEXTS))[:, ::2]
        facts[:, 2] = sizes[: -2 : len(TEXTS)] == 0
        hosts = self.urls["places"][:, PLACES.index("host")]
        facts[:, 3] = hosts[links["url"][block]] != hosts[self.number(page.url)]
        facts[:, len(FACTS) :] = self._said(links["name"][block], links["around"][block])
        introduction: NDArray[np.int32] = rows[-1]
        return introduction

    def _likenesses(self, numbers: Ints, at: Ints, sizes: Ints) -> NDArray[np.float64]:
        """Give the cosine of each second text and the topic, of the vector that fits best."""
        asked = np.zeros(len(sizes), dtype=np.bool_)
        asked[at[self._is_topic[numbers]]] = True
        asked[1::2] = False
        inside = asked[at]
        words, counts = np.unique(at[inside] * MOST_WORDS + numbers[inside], return_counts=True)
        texts, words = words // MOST_WORDS, words % MOST_WORDS
        lengths = np.sqrt(np.bincount(texts, counts**2, len(sizes)))
        products = [np.bincount(texts, counts * vector[words], len(sizes)) for vector in self._topics]
        likenesses: NDArray[np.float64] = np.max(products, axis=0, initial=0.0) / np.maximum(lengths, 1)
        return likenesses

    def _meet(self, number: int, rows: range, children: Ints) -> None:
        """Let the links of a page and its children know of each other."""
        urls, links, block = self.urls, self.links, slice(rows.start, rows.stop)
        self._on[number] = rows
        done = urls["fetched"][children]
        outcome = np.where(done, urls["relevance"][children], 0.0)
        urls["tries"][number], urls["successes"][number] = done.sum(), outcome.sum()
        links["near"][block] = np.convolve(done, KERNEL)[REACH : REACH + len(rows)]
        links["near_success"][block] = np.convolve(outcome, KERNEL)[REACH : REACH + len(rows)]
        urls["parents"][children] += 1
        kept = urls["known"][children] < MOST_PARENTS
        children = children[kept]
        links["kept"][block] = kept
        urls["to"][children, urls["known"][children]] = np.arange(rows.start, rows.stop)[kept]
        urls["known"][children] += 1
        facts = links["facts"][block][kept]
        urls["facts"][children] += facts
        urls["anchor"][children] = np.maximum(urls["anchor"][children], facts[:, 0])

    def settle(self, number: int, relevance: float) -> float:
        """Note what became of a URL, for all that stand beside it on some page; return by how much that is new."""
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
        """Give the rows of the links to a URL."""
        rows: list[int] = self.urls["to"][number, : self.urls["known"][number]].tolist()
        return rows

    def places_of(self, number: int) -> list[int]:
        """Give the places that a URL is at: on the web, and on the pages that link to it."""
        paths = self.links["path"][self.links_to(number)]
        return list(dict.fromkeys([*self.urls["places"][number].tolist(), *paths.tolist()]))

    def introductions(self, rows: Sequence[int]) -> NDArray[np.int32]:
        """Give the words that the pages are introduced by on which some links stand."""
        words: NDArray[np.int32] = self.pages["words"][self.urls["about"][self.links["page"][rows]]]
        return words

    def all_links_to(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Give the rows of all links to some URLs, and to which of these each leads."""
        known = self.urls["known"][numbers]
        rows = self.urls["to"].take(numbers, axis=0)[:, : known.max(initial=0)]
        at, place = np.nonzero(np.arange(rows.shape[1]) < known[:, None])
        return rows[at, place].astype(np.intp), at

    def waiting(self) -> tuple[Ints, Ints, Ints]:
        """Give the numbers of all URLs that wait, the rows of the links to each in turn, and to which they lead."""
        is_waiting = ~self.urls["fetched"] & (self.urls["parents"] > 0)
        places = np.cumsum(is_waiting) - 1
        rows = np.flatnonzero(self.links["kept"] & is_waiting[self.links["url"]])
        at = places[self.links["url"][rows]]
        return np.flatnonzero(is_waiting), rows, at

    def hottest(self, most: int) -> tuple[Ints, Ints, Ints]:
        """Give the same as `waiting` of the URLs with the best scores alone."""
        best = self._waiting_of(np.flatnonzero(self.urls["score"] >= self._bar))
        if len(best) < most:
            best = self._waiting_of(np.arange(self.urls.size))
        score = self.urls["score"][best]
        if most < len(best):
            best = best[np.argpartition(score, -most)[-most:]]
        self._bar = BAR * float(self.urls["score"][best].min(initial=1.0))
        return best, *self.all_links_to(best)

    def listen(self, rows: Ints) -> None:
        """Write down anew what the words on some links say."""
        links = self.links
        for start in range(0, len(rows), LISTEN_ROWS):
            some = rows[start : start + LISTEN_ROWS]
            links["facts"][some, len(FACTS) :] = self._said(
                links["name"].take(some, axis=0), links["around"].take(some, axis=0)
            )
        self._sum_up_facts(rows)

    def _sum_up_facts(self, rows: Ints) -> None:
        """Sum up what is said of each URL by all links to it."""
        url, said = self.links["url"][rows], self.links["facts"].take(rows, axis=0)[:, len(FACTS) :]
        numbers = np.flatnonzero(np.bincount(url, minlength=self.urls.size))
        summed = np.stack([np.bincount(url, each)[numbers] for each in said.T], axis=1)
        self.urls["facts"][numbers, len(FACTS) :] = summed

    def _said(self, names: NDArray[np.int32], around: NDArray[np.int32]) -> NDArray[np.float32]:
        """Give what the words on and around links say."""
        return np.concatenate([self._words.say(NAME, names), self._words.say(AROUND, around)], axis=1)

    def listen_to_pages(self) -> None:
        """Write down anew what the introductions of all pages say."""
        self.urls["promise"][self.pages["url"]] = self._words.promise(self.pages["words"])

    def forget(self) -> None:
        """Keep the links to the best of the URLs that wait, and the pages they stand on; forget everything else."""
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
        """Write down the links to each URL."""
        url = self.links["url"]
        self.urls["known"][:] = known = np.bincount(url, minlength=self.urls.size)
        order = np.argsort(url, kind="stable")
        url = url[order]
        self.urls["to"][url, np.arange(len(url)) - (np.cumsum(known) - known)[url]] = order


def _texts_of(link: Link) -> tuple[str, str, str, str]:
    """Give what a link is called by, and what stands around it, in the order of `TEXTS`."""
    return (
        link.anchor[:ANCHOR_CHARACTERS],
        end_of(link.url),
        link.context[:CONTEXT_CHARACTERS],
        link.heading[:ANCHOR_CHARACTERS],
    )


def _one_each(links: Sequence[Link]) -> list[Link]:
    """Give one link to each URL: the first that has words."""
    first: dict[str, Link] = {}
    for link in links:
        known = first.get(link.url)
        if known is None or (not known.anchor and link.anchor):
            first[link.url] = link
    return list(first.values())
