"""One host under watch: what its last pages said, and where they led.

Everything here is bounded: a host takes some 20 KB, however many pages it gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from thresher.records import ParsedPage
from thresher.text.shingles import word_pairs
from thresher.urls.templates import is_dated, template

WINDOW = 20
"""The last pages, by which a host or a template is known."""
MAX_ALIKE = 16
"""When so many of them bring nothing new, the rest will not either."""
LEAST_NEW_PAIRS = 8
LEAST_NEW_SHARE = 0.15
"""A page with fewer new pairs of words, or a smaller share of them outside of what its host says on all pages, brings
nothing new."""
MAX_VARIANTS = 200
MAX_DATES = 60
LEAST_HARVEST = 0.1
"""A template with this share of relevant pages may have as many variants as it likes."""
LEAST_LINKS = 3
LEAST_LINKS_BACK = 0.05
"""Pages with some links, fewer than this share of them to pages heard of before, are a maze."""
LEAST_PARENTS = 3
MANY_SECTIONS = 10
"""A maze spread over so many sections is the whole host; else it is one section of it."""
PLAIN = "/…"
"""Stands for all URLs of a host that have no template."""
ALL = "*"
"""Stands for all URLs of a host."""

_MAX_PARTS = 64


class Memory:
    """Remembers numbers in a fixed space; as it fills up, some are taken for known that are not."""

    def __init__(self, bits: int) -> None:
        self._cells = bytearray(1 << bits - 3)
        self._mask = (1 << bits) - 1
        self._filled = 0

    def new(self, numbers: Iterable[int]) -> list[int]:
        """Remember numbers; return those that were new."""
        cells, mask = self._cells, self._mask
        found = [number for number in numbers if not cells[(number & mask) >> 3] >> (number & 7) & 1]
        for number in found:
            cells[(number & mask) >> 3] |= 1 << (number & 7)
        self._filled += len(found)
        return found

    @property
    def free_share(self) -> float:
        """How many of the new numbers are known as new."""
        return max(1 - self._filled / (self._mask + 1), 0.01)


@dataclass
class Part:
    """The pages of one part of a host: of a template, of a section, or all of them.

    Args:
        alike: Of the last pages, whether each brought nothing new.
        links: Of the last pages with some links: how many stayed on the host, how many of these led back, and where the
            page was found.
    """

    pages: int = 0
    relevant: int = 0
    alike: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    links: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=WINDOW))

    def has_enough(self, pattern: str) -> str:
        """Say why there should be no more pages of a template; empty when there may be."""
        if sum(self.alike) >= MAX_ALIKE:
            return f"{sum(self.alike)} of {len(self.alike)} pages like {pattern} brought nothing new"
        most = MAX_DATES if is_dated(pattern) else MAX_VARIANTS
        if pattern != PLAIN and self.pages >= most and self.relevant < LEAST_HARVEST * self.pages:
            return f"{self.pages} pages like {pattern}, {self.relevant} of them relevant"
        return ""

    @property
    def is_maze(self) -> bool:
        """Whether the last pages led nowhere but on: honest sites link back to what they have linked to before.

        Home pages of many people may not; but then one list leads to them all.
        """
        if len(self.links) < WINDOW:
            return False
        links, back = sum(count for count, _, _ in self.links), sum(count for _, count, _ in self.links)
        return back < LEAST_LINKS_BACK * links and len({parent for _, _, parent in self.links}) >= LEAST_PARENTS


@dataclass(frozen=True)
class Complaint:
    """Why a part of a host should be left alone, and how many relevant pages it gave all the same."""

    part: str
    reason: str
    relevant: int


class WatchedHost:
    """What a worker saw of one host."""

    def __init__(self) -> None:
        self.left: dict[str, str] = {}
        self.missing: frozenset[int] = frozenset()
        self._parts: dict[str, Part] = {}
        self._sections: deque[str] = deque(maxlen=WINDOW)
        self._blocks = Memory(14)
        self._pairs = Memory(16)
        self._linked = Memory(15)

    def leaves(self, url: str) -> str:
        """Say why a URL of the host is left alone; empty when it is not."""
        if not self.left:
            return ""
        return self.left.get(template(url) or PLAIN) or self.left.get(section(url)) or ""

    def see(self, page: ParsedPage, *, parent: int, relevant: bool, copy: bool) -> Complaint | None:
        """Take in a page; return what is wrong with its kind, if anything is."""
        pattern, within = template(page.url) or PLAIN, section(page.url)
        parts = {name: self._part(name) for name in (pattern, within, ALL)}
        for part in parts.values():
            part.pages += 1
            part.relevant += relevant
        parts[pattern].alike.append(copy or not self._brings_news(page))
        self._follow(page, parent, parts[within], parts[ALL])
        self._sections.append(within)
        return self._complaint(pattern, within, parts)

    def _complaint(self, pattern: str, within: str, parts: Mapping[str, Part]) -> Complaint | None:
        if reason := parts[pattern].has_enough(pattern):
            return Complaint(pattern, reason, parts[pattern].relevant)
        scattered = len(set(self._sections)) >= MANY_SECTIONS
        for name in (within, ALL):
            if parts[name].is_maze and (scattered or name != ALL):
                return Complaint(
                    name, f"a maze: pages like {name} lead only to pages never heard of", parts[name].relevant
                )
        return None

    def _part(self, name: str) -> Part:
        if name not in self._parts and len(self._parts) >= _MAX_PARTS:
            del self._parts[min(self._parts, key=lambda known: self._parts[known].pages)]
        return self._parts.setdefault(name, Part())

    def _brings_news(self, page: ParsedPage) -> bool:
        """Tell whether a page says something new; blocks that stand on other pages too are not looked at."""
        blocks = {hash(block): block for block in page.blocks or (page.text,)}
        pairs = word_pairs(" ".join([page.title, *(blocks[number] for number in self._blocks.new(blocks))]))
        new = len(self._pairs.new(pairs)) / self._pairs.free_share
        return new >= max(LEAST_NEW_PAIRS, LEAST_NEW_SHARE * len(pairs))

    def _follow(self, page: ParsedPage, parent: int, *parts: Part) -> None:
        """Count the links that stay on the host: back to what was linked before, or on."""
        root = page.url[: page.url.index("/", len("https://")) + 1]
        urls = {hash(link.url) for link in page.links if link.url.startswith(root)}
        urls.discard(hash(page.url))
        self._linked.new([hash(page.url)])
        if len(urls) >= LEAST_LINKS:
            counted = len(urls), len(urls) - len(self._linked.new(urls)), parent
            for part in parts:
                part.links.append(counted)


def section(url: str) -> str:
    """Name the section of a site that a URL lies in, by its first folder."""
    start = url.index("/", len("https://"))
    end = url.partition("?")[0].find("/", start + 1)
    return f"{url[start:end]}/*" if end > 0 else "/*"
