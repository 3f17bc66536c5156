"""The plan of a generated web: hosts, pages and links, computed and never stored.

Page numbers run host by host. A host has a front page, then blocks; a block is a tunnel of pages about nothing in
particular, then an island of pages about one topic (or, in some blocks, about nothing either):

    host:   front page | block | block | ...
    block:  tunnel page 1 .. tunnel page d | hub pages | other pages of the island

Links from outside lead to the beginning of a tunnel, so there are at least `tunnel_depth` pages between an island and
any other island of its topic. From every page every other can be reached: along an island, from its last page to the
next block, from every page to its front page, and from there to the next host.

At a `taxonomy_strength` above 0 blocks and their links follow the taxonomy of the topics: that share of the blocks with
a topic is filed under labels of its path, and that share of the links between blocks leads to a block of the same
topic or of a sibling, one below the same parent. At 0 blocks have no labels, and links between blocks lead anywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from math import ceil
from random import Random

import xxhash

ISLAND_PAGES = 40
"""About how many pages an island has."""

MIN_ISLAND_PAGES = 3
"""A host has at least a front page, one tunnel and an island of this size."""

DEAD = -1
"""In place of a page's number: a dead link."""

_64_BITS = (1 << 64) - 1
_REMEMBERED = 1 << 13
_HOST_SKEW = 0.5  # host number h is as large as (h + 1) ** -skew
_OFF_TOPIC_BLOCKS = 0.4
_SAME_TOPIC_LINKS = 0.5  # of the links that follow the taxonomy; the others lead to siblings
_MAIN_TOPIC_BLOCKS = 0.5  # of the blocks of a host that have a topic: how many have the host's own


class PageRole(Enum):
    """What a page is for."""

    FRONT = auto()
    TUNNEL = auto()
    HUB = auto()
    CONTENT = auto()


_LINKS = {PageRole.FRONT: 1.5, PageRole.TUNNEL: 0.5, PageRole.HUB: 3.0, PageRole.CONTENT: 1.0}  # times the usual number


@dataclass(frozen=True, slots=True)
class LayoutBlock:
    """A tunnel and the island behind it.

    Args:
        host: The number of its host.
        number: Its own number on the host.
        first: Its first page.
        island: The first page of its island.
        end: The page after its last one.
        topic: What the island is about; empty for nothing.
    """

    host: int
    number: int
    first: int
    island: int
    end: int
    topic: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """The plan of a generated web.

    Args:
        seed: Different seeds give different webs.
        starts: The first page of each host, and at last the number of all pages.
        topics: The topics, the most frequent first.
        languages: The languages of hosts.
        locality: Share of the links of an island's page that stay on the island.
        hub_share: Share of hubs in an island.
        tunnel_depth: Pages of a tunnel.
        dead_links: Share of links that lead nowhere.
        links_per_page: About how many links a page has.
        taxonomy_strength: Share of the blocks and of the links between them that follow the taxonomy.
    """

    seed: int
    starts: Sequence[int] = field(repr=False)
    topics: Sequence[str]
    languages: Sequence[str]
    locality: float
    hub_share: float
    tunnel_depth: int
    dead_links: float
    links_per_page: int
    taxonomy_strength: float = field(default=0.0, repr=False)
    block: Callable[[int, int], LayoutBlock] = field(init=False, repr=False)
    """Returns a block of a host: block(host, number)."""
    language: Callable[[int], str] = field(init=False, repr=False)
    """Returns the language of a host."""

    def __post_init__(self) -> None:
        # A page needs the same few many times.
        object.__setattr__(self, "block", lru_cache(maxsize=_REMEMBERED)(self._block))
        object.__setattr__(self, "language", lru_cache(maxsize=_REMEMBERED)(self._language))

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return len(self.starts) - 1

    @property
    def pages(self) -> int:
        """The number of pages."""
        return self.starts[-1]

    def draw(self, purpose: bytes, first: int, second: int = 0) -> int:
        """Return a random 64-bit number for one number or two, always the same."""
        return xxhash.xxh3_64_intdigest(purpose + (first << 64 | second).to_bytes(16, "little"), self.seed & _64_BITS)

    def host_of(self, page: int) -> int:
        """Return the host of a page."""
        return bisect_right(self.starts, page) - 1

    def _language(self, host: int) -> str:
        return self.languages[self.draw(b"language", host) % len(self.languages)]

    def block_count(self, host: int) -> int:
        """Count the blocks of a host."""
        pages = self.starts[host + 1] - self.starts[host] - 1
        return max(1, pages // (ISLAND_PAGES + self.tunnel_depth))

    def _block(self, host: int, number: int) -> LayoutBlock:
        start, pages = self.starts[host] + 1, self.starts[host + 1] - self.starts[host] - 1
        count = self.block_count(host)
        first, end = start + number * pages // count, start + (number + 1) * pages // count
        return LayoutBlock(host, number, first, first + self.tunnel_depth, end, self._topic(host, number))

    def _topic(self, host: int, number: int) -> str:
        draw = self.draw(b"topic", host, number)  # its parts decide one thing each
        if not self.topics or (draw & 0xFFFF) < _OFF_TOPIC_BLOCKS * 0x10000:
            return ""
        is_main = (draw >> 16 & 0xFFFF) < _MAIN_TOPIC_BLOCKS * 0x10000
        share = (self.draw(b"main topic", host) if is_main else draw) >> 32
        weights = _rank_weights(len(self.topics))
        return self.topics[bisect_right(weights, share / (1 << 32) * weights[-1])]

    def block_of(self, page: int) -> LayoutBlock | None:
        """Return the block of a page; None for a front page."""
        host = self.host_of(page)
        inside = page - self.starts[host] - 1
        if inside < 0:
            return None
        pages, count = self.starts[host + 1] - self.starts[host] - 1, self.block_count(host)
        return self.block(host, ((inside + 1) * count - 1) // pages)

    def blocks(self) -> Iterator[LayoutBlock]:
        """Yield all blocks."""
        return (self.block(host, number) for host in range(self.hosts) for number in range(self.block_count(host)))

    def path_labels(self, block: LayoutBlock) -> Sequence[str]:
        """Return the labels that a block is filed under: those of its topic's path, only the upper ones, or none."""
        draw = self.draw(b"taxonomy", block.host, block.number)
        if not block.topic or (draw >> 1) >= self.taxonomy_strength * (1 << 63):
            return ()
        labels = block.topic.split("/")
        return labels if draw & 1 else labels[:-1]

    def _related_block(self, block: LayoutBlock, random: Random) -> LayoutBlock:
        """Draw a block of the same topic or of one below the same parent."""
        siblings = self._siblings[block.topic]
        own = not siblings or random.random() < _SAME_TOPIC_LINKS
        found = self._blocks_by_topic[block.topic if own else siblings[_drawn(random, 0, len(siblings))]]
        return found[_drawn(random, 0, len(found))]

    @cached_property
    def _blocks_by_topic(self) -> Mapping[str, Sequence[LayoutBlock]]:
        found: defaultdict[str, list[LayoutBlock]] = defaultdict(list)
        for block in self.blocks():
            found[block.topic].append(block)
        return found

    @cached_property
    def _siblings(self) -> Mapping[str, Sequence[str]]:
        """The other topics of the web below the parent of each."""
        known = [topic for topic in self.topics if topic in self._blocks_by_topic]
        return {
            topic: [other for other in known if other != topic and _parent(other) == _parent(topic)] for topic in known
        }

    def kind(self, page: int, block: LayoutBlock | None) -> PageRole:
        """Return the role of a page of a block."""
        if block is None:
            return PageRole.FRONT
        if page < block.island:
            return PageRole.TUNNEL
        return (
            PageRole.HUB
            if page - block.island < ceil(self.hub_share * (block.end - block.island))
            else PageRole.CONTENT
        )

    def front(self, host: int) -> int:
        """Return the front page of a host."""
        return self.starts[host % self.hosts]

    def door(self, block: LayoutBlock, random: Random) -> int:
        """Return the page by which a link from outside enters a block."""
        return block.first if self.tunnel_depth else _drawn(random, block.island, block.end)

    def links(self, page: int) -> list[int]:
        """Return the pages that a page links to, without its navigation; DEAD for a dead link."""
        random = Random(self.draw(b"links", page))  # noqa: S311 - reproducible, not secret
        block = self.block_of(page)
        kind = self.kind(page, block)
        if block is None:
            sure = self._links_of_front(self.host_of(page), random)
        elif kind is PageRole.TUNNEL:
            sure = [page + 1] if page + 1 < block.island else [page + 1, *_several(random, block, 2)]
        else:
            sure = self._links_of_island(page, block, random)
        more = int(self.links_per_page * (_LINKS[kind] + random.random() - 0.5)) - len(sure)
        local = self.locality if kind is PageRole.CONTENT else float(kind is PageRole.HUB)
        return sure + [self._link(block, local, random) for _ in range(more)]

    def _links_of_front(self, host: int, random: Random) -> list[int]:
        blocks = self.block_count(host)
        shown = range(0, blocks, 1 + blocks // max(1, 2 * self.links_per_page))
        doors = [self.door(self.block(host, number), random) for number in shown]
        return [self.front(host + 1), self.front(_drawn(random, 0, self.hosts)), *doors]

    def _links_of_island(self, page: int, block: LayoutBlock, random: Random) -> list[int]:
        """Return the next page of the island; for the last one its first, and the next block."""
        if page + 1 < block.end:
            return [page + 1]
        following = self.block(block.host, (block.number + 1) % self.block_count(block.host))
        return [block.island, self.door(following, random)]

    def _link(self, block: LayoutBlock | None, local: float, random: Random) -> int:
        if random.random() < self.dead_links:
            return DEAD
        if block and random.random() < local:
            return block.island + int((block.end - block.island) * random.random() ** 2)  # the first are popular
        if block and block.topic and self.taxonomy_strength and random.random() < self.taxonomy_strength:
            return self.door(self._related_block(block, random), random)
        page = _drawn(random, 0, self.pages)
        return self.door(self.block_of(page) or self.block(self.host_of(page), 0), random)


def _parent(topic: str) -> str:
    return topic.rpartition("/")[0]


def _drawn(random: Random, first: int, end: int) -> int:
    return first + int((end - first) * random.random())


def _several(random: Random, block: LayoutBlock, count: int) -> list[int]:
    return [_drawn(random, block.island, block.end) for _ in range(count)]


@cache
def _rank_weights(count: int) -> tuple[float, ...]:
    """Return Zipf weights: the second topic is half as frequent as the first, the third a third, and so on."""
    return tuple(accumulate(1 / rank for rank in range(1, count + 1)))


def host_starts(pages: int, hosts: int, tunnel_depth: int) -> list[int]:
    """Distribute pages over hosts, many to some hosts and few to most.

    Raises:
        ValueError: There are not enough pages for this many hosts.
    """
    least = 1 + tunnel_depth + MIN_ISLAND_PAGES
    if hosts < 1 or pages < hosts * least:
        raise ValueError(f"{pages} pages are too few for {hosts} hosts; a host here needs {least}")
    weights = list(accumulate(((host + 1) ** -_HOST_SKEW for host in range(hosts)), initial=0.0))
    spare = pages - hosts * least
    return [host * least + int(spare * weights[host] / weights[-1]) for host in range(hosts)] + [pages]
