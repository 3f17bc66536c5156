"""Several webs in one: islands that only a directory joins.

The directory is a host of its own. Its pages list entries of the islands, by title, in sections with numbers instead of
names, so that nothing on it reveals the topic of an island. It lists enough of them that every page can be reached, and
enough pages get a link that leads back to it that it can be reached from every page (a few that ask crawlers not to
follow their links excepted). Everything else about the islands is as it was; topics are put under the name of their
island, so each becomes rarer.
"""

from __future__ import annotations

import json
import os
import random
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate, chain
from pathlib import Path

from thresher.errors import UnknownName
from thresher.urls.canonical import host_key
from thresher_lab.webs.virtualweb import VirtualWeb, WebPage
from thresher_lab.webs.webstore import cache_folder, find_store, fingerprint_of

PARTS = {
    "wikispeedia": "wikispeedia",
    "webkb": "webkb+misc",
    "w3school_zh": "w3school_zh",
    "mdn_zh": "mdn_zh",
    "nankai_zh": "nankai_zh",
}
"""The islands of each archipelago, and their webs."""

DIRECTORY = "http://directory.example/"
SEED = 1
ENTRIES_PER_PAGE = 50
POPULAR_ENTRIES = 30
"""Number of most linked pages that every island lists."""

_FRAMESET = re.compile(r"<frameset\b[^>]*>", re.IGNORECASE).search
_BODY = re.compile(r"<body\b[^>]*>", re.IGNORECASE).search

Graph = Sequence[Sequence[int]]
"""For each page its targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridges:
    """How an island is joined to the directory, by the numbers of its pages.

    Args:
        entries: The pages that the directory lists, in its order; each of them leads back.
        ways_back: Further pages that lead back, because from them no entry could be reached.
    """

    entries: list[int]
    ways_back: list[int]


def open_archipelago(*, webs: Path | None = None, cache: Path | None = None, seed: int = SEED) -> Archipelago:
    """Open the archipelago of all webs; they and the directory are built at the first time."""
    stores = {island: find_store(web, webs=webs, cache=cache) for island, web in PARTS.items()}
    islands = {island: VirtualWeb(PARTS[island], store) for island, store in stores.items()}
    key = fingerprint_of(f"{seed} {[store.name for store in stores.values()]} {Path(__file__).read_text('utf-8')}")
    plan = cache_folder(cache) / f"archipelago-{key}.json"
    if not plan.exists():
        _write_plan(plan, {name: build_bridges(island, seed) for name, island in islands.items()})
    bridges = {name: Bridges(**lists) for name, lists in json.loads(plan.read_text("utf-8")).items()}
    return Archipelago("archipelago", islands, bridges, seed=seed)


def _write_plan(path: Path, bridges: Mapping[str, Bridges]) -> None:
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    plan = {name: {"entries": each.entries, "ways_back": each.ways_back} for name, each in bridges.items()}
    unfinished.write_text(json.dumps(plan), encoding="utf-8")
    unfinished.replace(path)


def build_bridges(island: VirtualWeb, seed: int) -> Bridges:
    """Choose the pages that join an island to the directory in both directions."""
    graph = [island.links_from(page) for page in range(len(island))]
    turned = _turned(graph)
    by_popularity = sorted(range(len(graph)), key=lambda page: (-len(turned[page]), page))
    entries = cover(graph, by_popularity[:POPULAR_ENTRIES], reversed(by_popularity))
    by_links = sorted(range(len(graph)), key=lambda page: (len(graph[page]), page))
    back = cover(turned, entries, by_links)[len(entries) :]
    random.Random(f"{seed} {island.name}").shuffle(entries)  # noqa: S311 - a shuffle, not a secret
    return Bridges(entries=entries, ways_back=back)


def cover(graph: Graph, starts: Sequence[int], others: Iterable[int]) -> list[int]:
    """Add to some pages as many of the others, in their order, as are needed to reach every page from them."""
    chosen: list[int] = []
    reached = bytearray(len(graph))
    for page in chain(starts, others):
        if reached[page] and len(chosen) >= len(starts):
            continue
        chosen.append(page)
        waiting = [page]
        while waiting:
            here = waiting.pop()
            if not reached[here]:
                reached[here] = 1
                waiting.extend(graph[here])
    return chosen


def _turned(graph: Graph) -> list[list[int]]:
    turned: list[list[int]] = [[] for _ in graph]
    for page, links in enumerate(graph):
        for target in links:
            turned[target].append(page)
    return turned


class Archipelago:
    """Webs joined by a directory; pages are numbered island by island, the directory's last."""

    def __init__(
        self, name: str, islands: Mapping[str, VirtualWeb], bridges: Mapping[str, Bridges], *, seed: int = SEED
    ) -> None:
        self.name = name
        self._islands = dict(islands)
        self._names = list(islands)
        self._starts = [0, *accumulate(len(island) for island in islands.values())]
        self._home = {host: island for island, web in islands.items() for host in web.hosts()}
        shelves = random.Random(seed).sample(self._names, len(self._names))  # noqa: S311 - an order, not a secret
        self._directory = WebDirectory([self._entries(island, bridges[island]) for island in shelves])
        self._ways_back = {
            self._islands[island].url_of(page): DIRECTORY for island in islands for page in bridges[island].ways_back
        } | self._directory.listed_on

    def _entries(self, island: str, bridges: Bridges) -> list[tuple[str, str]]:
        web = self._islands[island]
        return [(web.url_of(page), web.title_of(page)) for page in bridges.entries]

    def close(self) -> None:
        for web in self._islands.values():
            web.close()

    def __len__(self) -> int:
        return self._starts[-1] + len(self._directory.pages)

    def get(self, url: str) -> WebPage | None:
        island = self._home.get(host_key(url))
        if island is None:
            return self._directory.pages.get(url)
        page = self._islands[island].get(url)
        if page is None:
            return None
        back = self._ways_back.get(url)
        html = with_way_back(page.html, back) if back else page.html
        return replace(page, html=html, topics=tuple(f"{island}/{label}" for label in page.topics))

    def urls(self) -> Iterator[str]:
        return chain(chain.from_iterable(web.urls() for web in self._islands.values()), self._directory.pages)

    def page_id(self, url: str) -> int | None:
        island = self._home.get(host_key(url))
        if island is None:
            inside, start = self._directory.numbers.get(url), self._starts[-1]
        else:
            inside, start = self._islands[island].page_id(url), self._starts[self._names.index(island)]
        return None if inside is None else start + inside

    def url_of(self, page_id: int) -> str:
        web, inside = self._place(page_id)
        return web.url_of(inside) if web else self._directory.urls[inside]

    def _place(self, page_id: int) -> tuple[VirtualWeb | None, int]:
        """Return the island of a page, None for the directory, and the page's number there."""
        if not 0 <= page_id < len(self):
            raise IndexError(f"{self.name} has the pages 0 to {len(self) - 1}, not {page_id}")
        index = bisect_right(self._starts, page_id) - 1
        web = self._islands[self._names[index]] if index < len(self._names) else None
        return web, page_id - self._starts[index]

    def topics(self) -> dict[str, int]:
        return {
            f"{island}/{label}": pages for island, web in self._islands.items() for label, pages in web.topics().items()
        }

    def targets(self, topic: str) -> frozenset[int]:
        island, _, label = topic.partition("/")
        if island not in self._islands or not label:
            raise UnknownName("topic", topic, self.topics())
        start = self._starts[self._names.index(island)]
        return frozenset(start + page for page in self._islands[island].targets(label))

    def is_topic(self, url: str, topic: str) -> bool:
        island, _, label = topic.partition("/")
        return self._home.get(host_key(url)) == island and self._islands[island].is_topic(url, label)

    def hosts(self) -> dict[str, int]:
        pages = {host: count for web in self._islands.values() for host, count in web.hosts().items()}
        return pages | {host_key(DIRECTORY): len(self._directory.pages)}

    def links_from(self, page_id: int) -> tuple[int, ...]:
        web, inside = self._place(page_id)
        if web is None:
            return tuple(self._known(self._directory.links[inside]))
        start = page_id - inside
        back = self._ways_back.get(web.url_of(inside))
        return (*(start + page for page in web.links_from(inside)), *self._known([back] if back else []))

    def _known(self, urls: Iterable[str]) -> Iterator[int]:
        return (number for url in urls if (number := self.page_id(url)) is not None)


def with_way_back(html: str, url: str) -> str:
    """Insert a link to the directory at the top of a page, where parsers find it even in broken markup."""
    frames = _FRAMESET(html)
    if frames:  # such a page has no body
        return f'{html[: frames.end()]}<frame src="{escape(url)}" title="Directory">{html[frames.end() :]}'
    body = _BODY(html)
    top = body.end() if body and html.count("<!--", 0, body.end()) == html.count("-->", 0, body.end()) else 0
    return f"{html[:top]}<p>{_link(url, 'Directory')}</p>\n{html[top:]}"


Entry = tuple[str, str]
"""Address and title of a page."""


class WebDirectory:
    """The pages of the directory: a front page, then those of each section.

    Args:
        shelves: The entries of each section, in order.
    """

    def __init__(self, shelves: Sequence[Sequence[Entry]]) -> None:
        self.pages: dict[str, WebPage] = {}
        self.links: list[list[str]] = []
        self.listed_on: dict[str, str] = {}
        shelf_pages = [_pages_of_shelf(number, entries) for number, entries in enumerate(shelves, start=1)]
        self._add_front(shelf_pages)
        for number, pages in enumerate(shelf_pages, start=1):
            self._add_shelf(number, pages)
        self.numbers = {url: number for number, url in enumerate(self.pages)}
        self.urls = list(self.pages)

    def _add_front(self, shelf_pages: Sequence[Mapping[str, Sequence[Entry]]]) -> None:
        body = ""
        for shelf, pages in enumerate(shelf_pages, start=1):
            numbers = " ".join(_link(url, str(page)) for page, url in enumerate(pages, start=1))
            body += f"<h2>Shelf {shelf}</h2>\n<p>{numbers}</p>\n"
        self._add(DIRECTORY, "Directory", body, list(chain.from_iterable(shelf_pages)))

    def _add_shelf(self, shelf: int, pages: Mapping[str, Sequence[Entry]]) -> None:
        urls = list(pages)
        for index, (url, entries) in enumerate(pages.items()):
            near = [DIRECTORY, *urls[max(0, index - 1) : index], *urls[index + 1 : index + 2]]
            navigation = " | ".join(_link(place, place.removeprefix(DIRECTORY) or "Directory") for place in near)
            items = "".join(f"<li>{_link(entry, title or entry)}</li>\n" for entry, title in entries)
            listed = [entry for entry, _ in entries]
            title = f"Directory: shelf {shelf}, page {index + 1}"
            self._add(url, title, f"<p>{navigation}</p>\n<ul>\n{items}</ul>\n", [*near, *listed])
            self.listed_on.update(dict.fromkeys(listed, url))

    def _add(self, url: str, title: str, body: str, links: list[str]) -> None:
        html = (
            f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n'
            f"<body>\n<h1>{title}</h1>\n{body}</body></html>\n"
        )
        self.pages[url] = WebPage(url=url, title=title, language="en", topics=(), html=html)
        self.links.append(links)


def _pages_of_shelf(shelf: int, entries: Sequence[Entry]) -> dict[str, Sequence[Entry]]:
    """Split the entries of a section into pages, by their URLs."""
    starts = range(0, len(entries), ENTRIES_PER_PAGE)
    return {
        f"{DIRECTORY}shelf-{shelf}/{page}.html": entries[start : start + ENTRIES_PER_PAGE]
        for page, start in enumerate(starts, start=1)
    }


def _link(url: str, words: str) -> str:
    return f'<a href="{escape(url)}">{escape(words)}</a>'
