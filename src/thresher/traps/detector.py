"""Detection of crawler traps. Page budgets end every trap eventually; the detector ends most after some twenty pages.

It watches hosts with a few pages or more, for five signs: too many variants of one URL template without relevant pages;
pages of one template without new text; pages that link only to URLs never seen before; query keys of one path that
combine freely, as the filters of a shop do (facets); and pages like the response to a request for a page that cannot
exist (soft 404).

Each worker watches its own fetches, so with several workers a trap may cost each of them as much. The parts of hosts
that one worker skips are shared through the state in the frontier, also after a restart; the counters start again.

Soft 404s are error pages with status 200, recognized by their similarity to the response to a URL that cannot exist.
The probe is a URL of the frontier like any other, so robots.txt, the delay and the address guard apply to it too.

`HostHistory` is what a worker saw of one host: the text of its last pages, and where they link to. Memory is bounded:
some 20 KB for a host, however many pages it has. `trap` checks URL patterns of traps, with the usual thresholds.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from thresher.frontier.base import CrawlStore
from thresher.reasons.legacy import stored_reason
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import Candidate, Lease, ParsedPage, RequestKind
from thresher.text.tokens import word_pairs
from thresher.traps import detector
from thresher.urls.canonical import fingerprint, host_key
from thresher.urls.scope import is_dated, template

STATE_KIND = "soft 404"
MIN_SIMILARITY = 0.8
_MAX_PAIRS = 200


def candidate(lease: Lease) -> Candidate:
    """Return a probe: a URL on the host of a lease that no page links to."""
    root = lease.url[: lease.url.index("/", len("https://"))]
    name = f"{fingerprint(f'no such page on {lease.host}') & (1 << 64) - 1:016x}"
    return Candidate(
        url=f"{root}/no-such-page-{name}.html",
        score=lease.score,
        hops=lease.hops + 1,
        parent=fingerprint(lease.url),
        kind=RequestKind.PROBE,
    )


def signature(page: ParsedPage) -> list[int]:
    """Return hashes of word bigrams by which similar pages are recognized."""
    return sorted(word_pairs(page.text))[:_MAX_PAIRS]


def is_like(page: ParsedPage, missing: frozenset[int]) -> bool:
    """Return whether a page has the text of the error page, and hardly any other."""
    if not missing:
        return False
    here = signature(page)
    return len(missing.intersection(here)) >= MIN_SIMILARITY * max(len(here), len(missing))


WINDOW = 20
"""How many of the last pages are compared."""
MAX_ALIKE = 16
"""When this many of them have no new text, the template is skipped."""
MIN_NEW_PAIRS = 8
MIN_NEW_SHARE = 0.15
"""A page with fewer new word bigrams, or a smaller share of them outside the blocks of earlier pages, has no new
text."""
MAX_VARIANTS = 200
MAX_DATES = 60
MIN_HARVEST = 0.1
"""A template with at least this share of relevant pages may have any number of variants."""
MIN_LINKS = 3
MIN_LINKS_BACK = 0.05
"""Pages with some links, less than this share of them to URLs seen before, are a maze."""
MIN_PARENTS = 3
MANY_SECTIONS = 10
"""A maze spread over this many sections is the whole host; otherwise it is one section."""
PLAIN = "/…"
"""Name of the part with all URLs of a host that have no template."""
ALL = "*"
"""Name of the part with all URLs of a host."""

MAX_COMBINATIONS = 20
"""Pages of one path with several query keys, after which combinations of its filters are skipped."""
MIN_FREE_PAIRS = 6
"""Keys are filters from this many pairs on that occur together, and each without the other: those of four filters."""
FACETS = "&…"
"""End of the name of the part with all URLs of a path that combine two or more of its filters."""

_MAX_PARTS = 64
_MAX_KEY_SETS = 64
_MIN_KEY_SETS = 4  # that of the page, and those of links to three filters
_PAGE_KEY = re.compile(r"p|pg|paged?|page_?(?:no|num|number)|start|offset|from|limit|seite", re.IGNORECASE).fullmatch


class SeenFilter:
    """A set of numbers as a bitmap of fixed size; as it fills up, it has false positives."""

    def __init__(self, bits: int) -> None:
        self._cells = bytearray(1 << bits - 3)
        self._mask = (1 << bits) - 1
        self._filled = 0

    def new(self, numbers: Iterable[int]) -> list[int]:
        """Add numbers; return those that were new."""
        cells, mask = self._cells, self._mask
        found = [number for number in numbers if not cells[(number & mask) >> 3] >> (number & 7) & 1]
        for number in found:
            cells[(number & mask) >> 3] |= 1 << (number & 7)
        self._filled += len(found)
        return found

    @property
    def free_share(self) -> float:
        """The share of new numbers that are recognized as new."""
        return max(1 - self._filled / (self._mask + 1), 0.01)


@dataclass
class PartHistory:
    """The pages of one part of a host: of a template, of a section, or all of them.

    Args:
        alike: Of the last pages, whether each had no new text.
        links: Of the last pages with some links: the number of links within the host, how many of these were seen
            before, and the parent of the page.
        key_sets: Of a path, the sets of query keys in URLs of pages and links.
    """

    pages: int = 0
    relevant: int = 0
    alike: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    links: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    key_sets: set[frozenset[str]] = field(default_factory=set)

    def exhausted_reason(self, pattern: str) -> Reason:
        """Return why no more pages of a template should be fetched; none when they may be."""
        if sum(self.alike) >= MAX_ALIKE:
            return Reason.of(ReasonKind.NOTHING_NEW, sum(self.alike), len(self.alike), pattern)
        most = MAX_DATES if is_dated(pattern) else MAX_VARIANTS
        if pattern != PLAIN and self.pages >= most and self.relevant < MIN_HARVEST * self.pages:
            return Reason.of(ReasonKind.VARIANTS, self.pages, pattern, self.relevant)
        return NO_REASON

    @property
    def is_maze(self) -> bool:
        """Whether the last pages link only to new URLs: normal sites also link to URLs that they linked to before.

        Home pages of many users may not; but then one list links to them all, so they have few parents.
        """
        if len(self.links) < WINDOW:
            return False
        links, back = sum(count for count, _, _ in self.links), sum(count for _, count, _ in self.links)
        return back < MIN_LINKS_BACK * links and len({parent for _, _, parent in self.links}) >= MIN_PARENTS


@dataclass(frozen=True)
class TrapFinding:
    """Why a part of a host should be skipped, and how many relevant pages it had."""

    part: str
    reason: Reason
    relevant: int


class HostHistory:
    """What a worker saw of one host."""

    def __init__(self) -> None:
        self.left: dict[str, Reason] = {}
        self.missing: frozenset[int] = frozenset()
        self._parts: dict[str, PartHistory] = {}
        self._sections: deque[str] = deque(maxlen=WINDOW)
        self._blocks = SeenFilter(14)
        self._pairs = SeenFilter(16)
        self._linked = SeenFilter(15)

    def skip_reason(self, url: str) -> Reason:
        """Return why a URL of the host is skipped; none when it is not."""
        if not self.left:
            return NO_REASON
        return self.left.get(template(url) or PLAIN) or self.left.get(section(url)) or self._combination_reason(url)

    def observe(self, page: ParsedPage, *, parent: int, relevant: bool, duplicate: bool) -> TrapFinding | None:
        """Record a page; return a finding if its template, its section or the host is a trap."""
        pattern, within = template(page.url) or PLAIN, section(page.url)
        parts = {name: self._part(name) for name in (pattern, within, ALL)}
        for part in parts.values():
            part.pages += 1
            part.relevant += relevant
        parts[pattern].alike.append(duplicate or not self._has_new_text(page))
        self._record_links(page, parent, parts[within], parts[ALL])
        self._sections.append(within)
        facets = self._facets(page, relevant=relevant)
        return self._finding(pattern, within, parts) or facets

    def _finding(self, pattern: str, within: str, parts: Mapping[str, PartHistory]) -> TrapFinding | None:
        if reason := parts[pattern].exhausted_reason(pattern):
            return TrapFinding(pattern, reason, parts[pattern].relevant)
        scattered = len(set(self._sections)) >= MANY_SECTIONS
        for name in (within, ALL):
            if parts[name].is_maze and (scattered or name != ALL):
                reason = Reason.of(ReasonKind.MAZE, name)
                return TrapFinding(name, reason, parts[name].relevant)
        return None

    def _facets(self, page: ParsedPage, *, relevant: bool) -> TrapFinding | None:
        """Record the query keys of a page and of its links; return a finding when its path has too many filters."""
        path, keys = path_and_keys(page.url)
        with_query = f"{page.url.partition('?')[0]}?"
        key_sets = {path_and_keys(link.url)[1] for link in page.links if link.url.startswith(with_query)} | {keys}
        if max(map(len, key_sets)) < 2 and len(key_sets) < _MIN_KEY_SETS:
            return None
        part = self._part(f"{path}?")
        part.key_sets |= key_sets if len(part.key_sets) < _MAX_KEY_SETS else set()
        if len(keys) < 2:
            return None
        part.pages += 1
        part.relevant += relevant
        if part.pages < MAX_COMBINATIONS or len(pairs := _free_pairs(part.key_sets)) < MIN_FREE_PAIRS:
            return None
        filters = "&".join(sorted(frozenset().union(*pairs)))
        reason = Reason.of(ReasonKind.FACETS, part.pages, path, filters)
        return TrapFinding(f"{path}?{filters}{FACETS}", reason, part.relevant)

    def _combination_reason(self, url: str) -> Reason:
        """Return why a URL that combines filters is skipped; none when it is not."""
        path, keys = path_and_keys(url)
        if len(keys) > 1:
            for part, reason in self.left.items():
                if part.endswith(FACETS) and part.startswith(f"{path}?"):
                    filters = part.removesuffix(FACETS)[len(path) + 1 :].split("&")
                    if len(keys.intersection(filters)) > 1:
                        return reason
        return NO_REASON

    def _part(self, name: str) -> PartHistory:
        if name not in self._parts and len(self._parts) >= _MAX_PARTS:
            del self._parts[min(self._parts, key=lambda known: self._parts[known].pages)]
        return self._parts.setdefault(name, PartHistory())

    def _has_new_text(self, page: ParsedPage) -> bool:
        """Return whether a page has new word bigrams; blocks that are on earlier pages too are ignored."""
        blocks = {hash(block): block for block in page.blocks or (page.text,)}
        pairs = word_pairs(" ".join([page.title, *(blocks[number] for number in self._blocks.new(blocks))]))
        new = len(self._pairs.new(pairs)) / self._pairs.free_share
        return new >= max(MIN_NEW_PAIRS, MIN_NEW_SHARE * len(pairs))

    def _record_links(self, page: ParsedPage, parent: int, *parts: PartHistory) -> None:
        """Count the links within the host, and how many of them were seen before."""
        root = page.url[: page.url.index("/", len("https://")) + 1]
        urls = {hash(link.url) for link in page.links if link.url.startswith(root)}
        urls.discard(hash(page.url))
        self._linked.new([hash(page.url)])
        if len(urls) >= MIN_LINKS:
            counted = len(urls), len(urls) - len(self._linked.new(urls)), parent
            for part in parts:
                part.links.append(counted)


def section(url: str) -> str:
    """Return the section of a site that a URL is in: its first folder."""
    start = url.index("/", len("https://"))
    end = url.partition("?")[0].find("/", start + 1)
    return f"{url[start:end]}/*" if end > 0 else "/*"


def path_and_keys(url: str) -> tuple[str, frozenset[str]]:
    """Return the path of a canonical URL and the keys of its query, without those that number the pages of a list."""
    address, _, query = url.partition("?")
    keys = {piece.partition("=")[0] for piece in query.split("&")} if query else ()
    return address[address.index("/", len("https://")) :], frozenset(key for key in keys if not _PAGE_KEY(key))


def _free_pairs(key_sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return the pairs of keys that occur together, and each without the other."""
    pairs = {frozenset(pair) for keys in key_sets for pair in combinations(keys, 2)}
    return [pair for pair in pairs if len({pair & keys for keys in key_sets} - {frozenset()}) == 3]


MAX_PATH_SEGMENTS = 12
MAX_SEGMENT_REPEATS = 2
MAX_QUERY_KEYS = 8


def trap(url: str) -> str:
    """Return why a canonical URL looks like a trap; empty when it does not."""
    path, _, query = url.partition("?")
    if query and len({piece.partition("=")[0] for piece in query.split("&")}) > MAX_QUERY_KEYS:
        return "too many query keys"
    if path.count("/") < 3 + MAX_SEGMENT_REPEATS:  # three slashes come before the first segment
        return ""
    segments = [segment for segment in path.split("/")[3:] if segment]
    if len(segments) > MAX_PATH_SEGMENTS:
        return "path too long"
    if len(segments) - len(set(segments)) >= MAX_SEGMENT_REPEATS and _most_repeated(segments) > MAX_SEGMENT_REPEATS:
        return "path repeats itself"
    return ""


def _most_repeated(segments: list[str]) -> int:
    return max(map(segments.count, segments))


FIRST_PAGES = 4
"""A host is watched from this many pages on; most hosts never have as many."""
PROBE_AT = 10
"""The page of a host after which the soft-404 probe is sent; at `PROBE_KNOWN_AT` all workers read its result."""
PROBE_KNOWN_AT = PROBE_AT + 5
STATE_TTL_SECONDS = 30 * 24 * 3600.0
LEFT = "left alone"
"""State of a host with skipped parts: from a part to the reason."""

_MAX_HOSTS = 2_000


async def left_alone(frontier: CrawlStore, host: str) -> dict[str, Reason]:
    """Return the skipped parts of a host, each with the reason."""
    return read_left(await frontier.get_state(host, LEFT))


def read_left(stored: str | None) -> dict[str, Reason]:
    """Decode the state of a host with skipped parts."""
    return {part: stored_reason(reason) for part, reason in json.loads(stored or "{}").items()}


async def forget_left(frontier: CrawlStore, host: str) -> bool:
    """Let the next run fetch all parts of a host again; False when none was skipped."""
    left = await left_alone(frontier, host)
    if left:
        await frontier.put_state(host, LEFT, "{}", seconds=STATE_TTL_SECONDS)
    return bool(left)


class TrapDetector:
    """Decides which URLs to skip, and which hosts to park."""

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier
        self._hosts: OrderedDict[str, HostHistory] = OrderedDict()
        self._any_skipped = False

    def skip_reason(self, url: str) -> Reason:
        """Return why a URL should not be fetched; none when it may be."""
        host = self._hosts.get(host_key(url)) if self._any_skipped else None
        return host.skip_reason(url) if host else NO_REASON

    async def observe(self, lease: Lease, page: ParsedPage, *, relevant: bool, duplicate: bool) -> Reason:
        """Record a page; return why its host should be parked, none when it should not.

        Of a host with relevant pages in other parts only the trap itself is skipped.
        """
        if lease.host_pages < FIRST_PAGES:
            return NO_REASON
        host = await self._watched(lease)
        finding = host.observe(page, parent=lease.parent, relevant=relevant, duplicate=duplicate)
        if finding is None or finding.part in host.left:
            return NO_REASON
        if finding.part == ALL or lease.host_relevant + relevant <= finding.relevant:
            return finding.reason
        host.left[finding.part] = finding.reason
        self._any_skipped = True
        stored = json.dumps({part: reason.encoded for part, reason in host.left.items()})
        await self._frontier.put_state(lease.host, LEFT, stored, seconds=STATE_TTL_SECONDS)
        return NO_REASON

    def probe(self, lease: Lease) -> list[Candidate]:
        """Return the soft-404 probe for a host with enough pages, once."""
        return [detector.candidate(lease)] if lease.host_pages + 1 == PROBE_AT else []

    async def take_probe(self, lease: Lease, page: ParsedPage | None) -> Reason:
        """Store the response of a host to the soft-404 probe; return a summary."""
        missing = detector.signature(page) if page else []
        (await self._watched(lease)).missing = frozenset(missing)
        await self._frontier.put_state(lease.host, detector.STATE_KIND, json.dumps(missing), seconds=STATE_TTL_SECONDS)
        return Reason(ReasonKind.PROBE_ANSWERED if missing else ReasonKind.PROBE)

    async def is_missing(self, lease: Lease, page: ParsedPage) -> bool:
        """Return whether a page is a soft 404."""
        if lease.host_pages < PROBE_AT:
            return False
        host = await self._watched(lease)
        if lease.host_pages == PROBE_KNOWN_AT:
            host.missing = await self._answer_for_missing(lease.host)
        return detector.is_like(page, host.missing)

    async def _watched(self, lease: Lease) -> HostHistory:
        host = self._hosts.get(lease.host)
        if host is None:
            host = HostHistory()
            host.left.update(await left_alone(self._frontier, lease.host))
            host.missing = await self._answer_for_missing(lease.host)
            self._any_skipped |= bool(host.left)
            self._hosts[lease.host] = host
            if len(self._hosts) > _MAX_HOSTS:
                self._hosts.popitem(last=False)
        self._hosts.move_to_end(lease.host)
        return host

    async def _answer_for_missing(self, host: str) -> frozenset[int]:
        stored = await self._frontier.get_state(host, detector.STATE_KIND)
        return frozenset(json.loads(stored) if stored else ())
