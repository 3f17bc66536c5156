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
    ABOUT_WORDS,
    ANCHOR_CHARACTERS,
    AROUND,
    AROUND_WORDS,
    CONTEXT_CHARACTERS,
    NAME,
    NAME_WORDS,
    SAYINGS,
    Words,
    row_of,
)
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key

MOST_LINKS = 120_000
KEPT_SHARE = 0.5
"""Of the links that may be remembered: how many are left when some are forgotten."""
MOST_PARENTS = 32
"""Of one URL; a link in a menu has as many as there are pages."""
REACH = 4
"""How many links to each side of a link are its neighbours."""
KERNEL = np.array([1 / abs(distance) if distance else 0.0 for distance in range(-REACH, REACH + 1)])
RELEVANT = 0.5
"""From here on a page ends a tunnel."""
PLACES = ("domain", "host", "directory", "template")

FACTS = ("anchor", "context", "bare", "outward")
SAID_BY_NAME = slice(len(FACTS), len(FACTS) + SAYINGS)
SAID_AROUND = slice(len(FACTS) + SAYINGS, len(FACTS) + 2 * SAYINGS)

Ints = NDArray[np.intp]

_URLS = {
    "key": ("i8", 1), "fetched": ("?", 1), "relevance": ("f4", 1), "score": ("f8", 1), "parents": ("i4", 1),
    "away": ("f4", 1), "url": ("f4", 1), "depth": ("f4", 1), "query": ("f4", 1), "places": ("i4", len(PLACES)),
    "links": ("f4", 1), "tries": ("f4", 1), "successes": ("f4", 1), "promise": ("f4", 1), "about": ("i4", 1),
}  # fmt: skip
"""Of a URL; the last line is of those that were fetched."""
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
        self._topic = words.numbers(term for vector in aim.vectors.values() for term in vector)
        self.urls = Columns({**_URLS, "x": ("f4", width)})
        self.links = Columns(_LINKS)
        self.pages = Columns(_PAGES)
        self.names: list[str] = []
        self._numbers: dict[int, int] = {}
        self._to: list[list[int]] = []
        self._on: dict[int, range] = {}

    def find(self, key: int) -> int | None:
        """Give the number of a URL by its fingerprint; None when it is not known, or no longer."""
        return self._numbers.get(key)

    def number(self, url: str) -> int:
        """Give the number of a URL; a new one gets one."""
        return int(self._number_all([url], 0.0)[0])

    def _number_all(self, urls: Sequence[str], away: float) -> Ints:
        """Give the numbers of some different URLs; new ones get some, and are so far away from the topic."""
        keys = list(map(fingerprint, urls))
        new = [(key, url) for key, url in zip(keys, urls, strict=True) if key not in self._numbers]
        if new:
            rows = self.urls.grow(len(new))
            self._numbers.update((key, number) for (key, _), number in zip(new, rows, strict=True))
            self.names.extend(url for _, url in new)
            self._to.extend([] for _ in new)
            self._describe([key for key, _ in new], [url for _, url in new], slice(rows.start, rows.stop))
            self.urls["away"][rows.start : rows.stop] = away
        return np.array([self._numbers[key] for key in keys], dtype=np.intp)

    def _describe(self, keys: Sequence[int], found: Sequence[str], block: slice) -> None:
        urls, paths = self.urls, [url.partition("://")[2].partition("/")[2] for url in found]
        urls["key"][block] = keys
        urls["url"][block] = list(map(self._aim.url_evidence, found))
        urls["depth"][block] = [path.rstrip("/").count("/") for path in paths]
        urls["query"][block] = ["?" in path for path in paths]
        urls["places"][block] = list(map(self._places.of, found))

    def add_page(self, page: ParsedPage, relevance: float) -> Ints:
        """Take in a page that was judged; return the numbers of the waiting URLs that it links to."""
        if self.links.size + len(page.links) > self._most_links:
            self.forget()
        number, found = self.number(page.url), _one_each(page.links)
        self.settle(number, relevance)
        away = 0.0 if relevance >= RELEVANT else float(self.urls["away"][number])
        children = self._number_all([link.url for link in found], away + 1)
        self.urls["away"][number], self.urls["links"][number] = away, len(found)
        if not found or number in self._on:
            return self._waiting_of(children)
        self._introduce(number, page)
        rows = self.links.grow(len(found))
        self._write_links(page, found, slice(rows.start, rows.stop))
        self.links["page"][rows.start :], self.links["url"][rows.start :] = number, children
        np.minimum.at(self.urls["away"], children, away + 1)
        self._meet(number, rows, children)
        self.listen(slice(rows.start, rows.stop))
        return self._waiting_of(children)

    def _waiting_of(self, numbers: Ints) -> Ints:
        waiting: Ints = numbers[~self.urls["fetched"][numbers] & (self.urls["parents"][numbers] > 0)]
        return waiting

    def _introduce(self, number: int, page: ParsedPage) -> None:
        about = self.pages.grow(1)[0]
        self.pages["url"][about] = number
        self.pages["words"][about] = self._words.of_introduction(page.title, page.text)
        self.urls["about"][number] = about
        self.urls["promise"][number] = self._words.promise(self.pages["words"][about : about + 1])[0]

    def _write_links(self, page: ParsedPage, found: Sequence[Link], block: slice) -> None:
        links, words, host = self.links, self._words, host_key(page.url)
        anchors = [words.of(link.anchor[:ANCHOR_CHARACTERS]) for link in found]
        contexts = [words.of(link.context[:CONTEXT_CHARACTERS]) for link in found]
        names = [anchor + words.of_url(link.url) for anchor, link in zip(anchors, found, strict=True)]
        headings = {link.heading: words.of(link.heading[:ANCHOR_CHARACTERS]) for link in found}
        around = [words_of + headings[link.heading] for words_of, link in zip(contexts, found, strict=True)]
        links["path"][block] = [self._places.path(host, link.tag_path) for link in found]
        links["name"][block] = [row_of(each, NAME_WORDS) for each in names]
        links["around"][block] = [row_of(each, AROUND_WORDS) for each in around]
        links["facts"][block, : len(FACTS)] = [
            (self._like(link.anchor, anchor), self._like(link.context, context), not anchor, host_key(link.url) != host)
            for link, anchor, context in zip(found, anchors, contexts, strict=True)
        ]
        words.see_links(links["name"][block])

    def _like(self, text: str, words: Sequence[int]) -> float:
        """Give the likeness of a text to the topic; most hold none of its words, and need not be compared."""
        return 0.0 if self._topic.isdisjoint(words) else self._aim.likeness(text)

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
        for row, child in zip(rows, children.tolist(), strict=True):
            if len(self._to[child]) < MOST_PARENTS:
                self._to[child].append(row)
                links["kept"][row] = True

    def settle(self, number: int, relevance: float) -> float:
        """Note what became of a URL, for all that stand beside it on some page; return by how much that is new."""
        urls, links = self.urls, self.links
        known = bool(urls["fetched"][number])
        change = relevance - (float(urls["relevance"][number]) if known else 0.0)
        urls["fetched"][number], urls["relevance"][number] = True, relevance
        for row in self._to[number] if change or not known else ():
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
        return self._to[number]

    def places_of(self, number: int) -> list[int]:
        """Give the places that a URL is at: on the web, and on the pages that link to it."""
        paths = self.links["path"][self._to[number]]
        return list(dict.fromkeys([*self.urls["places"][number].tolist(), *paths.tolist()]))

    def introductions(self, rows: Sequence[int]) -> NDArray[np.int32]:
        """Give the words that the pages are introduced by on which some links stand."""
        words: NDArray[np.int32] = self.pages["words"][self.urls["about"][self.links["page"][rows]]]
        return words

    def all_links_to(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Give the rows of all links to some URLs, and to which of these each leads."""
        lists = [self._to[number] for number in numbers.tolist()]
        sizes = [len(each) for each in lists]
        rows = np.fromiter((row for each in lists for row in each), dtype=np.intp, count=sum(sizes))
        return rows, np.repeat(np.arange(len(lists)), sizes)

    def waiting(self) -> tuple[Ints, Ints, Ints]:
        """Give the numbers of all URLs that wait, the rows of the links to each in turn, and to which they lead."""
        is_waiting = ~self.urls["fetched"] & (self.urls["parents"] > 0)
        places = np.cumsum(is_waiting) - 1
        rows = np.flatnonzero(self.links["kept"] & is_waiting[self.links["url"]])
        at = places[self.links["url"][rows]]
        order = np.argsort(at, kind="stable")
        return np.flatnonzero(is_waiting), rows[order], at[order]

    def hottest(self, most: int) -> tuple[Ints, Ints, Ints]:
        """Give the same as `waiting` of the URLs with the best scores alone."""
        score = np.where(self.urls["fetched"] | (self.urls["parents"] == 0), -1.0, self.urls["score"])
        best = np.argpartition(score, -most)[-most:] if most < len(score) else np.arange(len(score))
        best = best[score[best] >= 0]
        return best, *self.all_links_to(best)

    def listen(self, rows: Ints | slice) -> None:
        """Write down anew what the words on some links say."""
        links = self.links
        links["facts"][rows, SAID_BY_NAME] = self._words.say(NAME, links["name"][rows])
        links["facts"][rows, SAID_AROUND] = self._words.say(AROUND, links["around"][rows])

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
        self._to = [[] for _ in range(self.urls.size)]
        for row, url in enumerate(self.links["url"].tolist()):
            self._to[url].append(row)
        page = self.links["page"]
        starts = np.flatnonzero(np.diff(page, prepend=-1))
        ends = [*starts[1:].tolist(), len(page)]
        self._on = {int(page[start]): range(start, end) for start, end in zip(starts.tolist(), ends, strict=True)}


def _one_each(links: Sequence[Link]) -> list[Link]:
    """Give one link to each URL: the first that has words."""
    first: dict[str, Link] = {}
    for link in links:
        known = first.get(link.url)
        if known is None or (not known.anchor and link.anchor):
            first[link.url] = link
    return list(first.values())
