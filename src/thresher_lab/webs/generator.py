"""Generated webs: as many pages as wanted, each computed on demand, always the same for the same seed.

Nothing is stored: addresses, links, labels and text of a page follow from the seed and the page's number. Its
shape is set by parameters; see `generated_graph.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random

from thresher.errors import ConfigError, UnknownName
from thresher.topics.token_table import TokenTable, fold
from thresher_lab.webs.generated_graph import DEAD, Layout, LayoutBlock, PageRole, host_starts
from thresher_lab.webs.page_markup import WORDS, Draft, Target, write_page
from thresher_lab.webs.virtualweb import WebPage, belongs, levels
from thresher_lab.webs.vocabulary import GENERAL, LANGUAGES, TOPICS, vocabulary
from thresher_lab.webs.vocabulary.prose import Prose, prose
from thresher_lab.webs.webstore import fingerprint_of

_TOPIC_SHARE = 0.6  # of the words of a page that is about something
_HINT_SHARE = 0.1  # the same for a page of a tunnel, which only leads there
_GBK_HOSTS = 3  # one Chinese host in this many
_CALENDAR_LINKS = 5  # one page in this many, on a host with a calendar
_REMEMBERED = 1 << 13
_FIRST_MONTH = "2020/1/"
_SYLLABLES = (
    "an",
    "bei",
    "chen",
    "dong",
    "fang",
    "hai",
    "jia",
    "kang",
    "lin",
    "min",
    "ping",
    "shan",
    "tian",
    "wen",
    "xin",
)

_ADDRESS = re.compile(r"http://[a-z]+(\d{1,9})\.example/(?:(?:[a-z]+/){1,3}(?:[a-z]+-)?(\d{1,9})\.html)?").fullmatch
_CALENDAR = re.compile(r"http://[a-z]+(\d{1,9})\.example/calendar/(\d{1,6})/(1[0-2]|[1-9])/").fullmatch


def generate(
    seed: int,
    *,
    pages: int = 10_000,
    hosts: int = 100,
    languages: Sequence[str] = LANGUAGES,
    topics: Sequence[str] = tuple(TOPICS),
    locality: float = 0.6,
    hub_share: float = 0.05,
    tunnel_depth: int = 1,
    traps: float = 0.02,
    dead_links: float = 0.03,
    page_bytes: int = 5_000,
    links_per_page: int = 20,
    taxonomy_strength: float = 0.0,
) -> GeneratedWeb:
    """Plan a web; its pages are computed on demand.

    Args:
        seed: Different seeds give different webs.
        pages: Their number, traps not counted; a million is fine.
        hosts: Their number; some are large, most are small.
        languages: Of hosts: ``en``, ``zh``.
        topics: Labels from `vocabulary.TOPICS`, the most frequent first; two of five pages are about none of them.
        locality: Share of a page's links that stay with its topic.
        hub_share: Share of pages that are lists of links to pages of their topic.
        tunnel_depth: Least number of irrelevant pages between two groups of pages of one topic.
        traps: Share of hosts with a calendar that never ends.
        dead_links: Share of links that lead nowhere.
        page_bytes: About how long pages are.
        links_per_page: About how many links they have.
        taxonomy_strength: Share of the URLs of pages with a topic that spell labels of its path, in Chinese by pinyin,
            and share of the links between groups of pages that lead to the same topic or to one below the same parent.

    Raises:
        ConfigError: A parameter has an impossible value.
    """
    shares = {"locality": locality, "hub_share": hub_share, "traps": traps, "dead_links": dead_links}
    for name, share in {**shares, "taxonomy_strength": taxonomy_strength}.items():
        if not 0 <= share <= 1:
            raise ConfigError(f"{name} must be from 0 to 1, got {share}")
    for kind, wanted, known in (("language", languages, LANGUAGES), ("topic", topics, TOPICS)):
        if unknown := [name for name in wanted if name not in known]:
            raise UnknownName(kind, unknown[0], known)
    try:
        starts = host_starts(pages, hosts, tunnel_depth)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    layout = Layout(
        seed=seed,
        starts=starts,
        topics=tuple(topics),
        languages=tuple(languages),
        locality=locality,
        hub_share=hub_share,
        tunnel_depth=tunnel_depth,
        dead_links=dead_links,
        links_per_page=links_per_page,
        taxonomy_strength=taxonomy_strength,
    )
    return GeneratedWeb(layout, traps=traps, page_bytes=page_bytes)


class GeneratedWeb:
    """A web that is computed; see `generate`."""

    def __init__(self, layout: Layout, *, traps: float, page_bytes: int) -> None:
        self._layout = layout
        self._traps = traps
        self._page_bytes = page_bytes
        self._site = lru_cache(maxsize=_REMEMBERED)(self._find_site)
        shape = f"{layout} {layout.pages} {layout.hosts} {traps} {page_bytes}"
        if layout.taxonomy_strength:  # without it, names are those of earlier versions
            shape += f" {layout.taxonomy_strength}"
        self.name = f"generated-{fingerprint_of(shape)}"

    def close(self) -> None:
        """Do nothing: no file is open."""

    def __len__(self) -> int:
        return self._layout.pages

    def get(self, url: str) -> WebPage | None:
        """Return the page at a URL; calendars, which are not among the numbered pages, are endless."""
        page = self.page_id(url)
        if page is not None:
            return self._page(page, url)
        month = _CALENDAR(url)
        if month and int(month[1]) < self._layout.hosts and url.startswith(self._calendar(int(month[1])) or "-"):
            return self._month(url, int(month[1]), int(month[2]), int(month[3]))
        return None

    def urls(self) -> Iterator[str]:
        return map(self.url_of, range(len(self)))

    def page_id(self, url: str) -> int | None:
        match = _ADDRESS(url)
        if match is None or int(match[1]) >= self._layout.hosts:
            return None
        page = self._layout.front(int(match[1])) + int(match[2] or 0)
        return page if page < len(self) and self.url_of(page) == url else None

    def url_of(self, page_id: int) -> str:
        if not 0 <= page_id < len(self):
            raise IndexError(f"{self.name} has the pages 0 to {len(self) - 1}, not {page_id}")
        return self._address(page_id, self._layout.block_of(page_id))

    def _address(self, page: int, block: LayoutBlock | None) -> str:
        layout = self._layout
        if block is None:
            return self._site(layout.host_of(page))
        name, draw = str(page - layout.front(block.host)), layout.draw(b"name", page)
        if draw % 2 and layout.language(block.host) == "en":
            name = f"{self._prose(page, block).keyword(draw >> 1).replace('-', '')}-{name}"
        return f"{self._site(block.host)}{self._section(block)}/{name}.html"

    def _find_site(self, host: int) -> str:
        draw = self._layout.draw(b"host", host)
        if self._layout.language(host) == "zh":
            name = _SYLLABLES[draw % len(_SYLLABLES)] + _SYLLABLES[(draw >> 16) % len(_SYLLABLES)]
        else:
            nouns = vocabulary("en", GENERAL).nouns
            name = nouns[draw % len(nouns)]
        return f"http://{name}{host}.example/"

    def _section(self, block: LayoutBlock) -> str:
        if labels := self._layout.path_labels(block):
            return "/".join(_spelled(label, self._layout.language(block.host)) for label in labels)
        return _SYLLABLES[self._layout.draw(b"section", block.host, block.number) % len(_SYLLABLES)]

    def _calendar(self, host: int) -> str:
        """Return the first URL of a host's calendar; empty when it has none."""
        has_one = self._layout.draw(b"trap", host) < self._traps * (1 << 64)
        return f"{self._site(host)}calendar/" if has_one else ""

    def topics(self) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for block in self._layout.blocks():
            for level in levels(block.topic):
                counts[level] += block.end - block.island
        return dict(sorted(counts.items()))

    def targets(self, topic: str) -> frozenset[int]:
        found: set[int] = set()
        for block in self._layout.blocks():
            if belongs([block.topic], topic):
                found.update(range(block.island, block.end))
        if not found:
            raise UnknownName("topic", topic, self.topics())
        return frozenset(found)

    def is_topic(self, url: str, topic: str) -> bool:
        page = self.page_id(url)
        return page is not None and belongs(self._labels(page, self._layout.block_of(page)), topic)

    def _labels(self, page: int, block: LayoutBlock | None) -> tuple[str, ...]:
        return (block.topic,) if block and block.topic and page >= block.island else ()

    def hosts(self) -> dict[str, int]:
        starts = self._layout.starts
        return {self._site(host).split("/")[2]: starts[host + 1] - starts[host] for host in range(self._layout.hosts)}

    def links_from(self, page_id: int) -> tuple[int, ...]:
        front = self._layout.front(self._layout.host_of(page_id))
        links = dict.fromkeys([front, *self._layout.links(page_id)])
        return tuple(link for link in links if link != DEAD)

    def _page(self, page: int, url: str) -> WebPage:
        layout, block = self._layout, self._layout.block_of(page)
        random = Random(layout.draw(b"text", page))  # noqa: S311 - reproducible, not secret
        writer = self._prose(page, block)
        draft = Draft(
            title=self._title(page, block),
            charset=self._charset(layout.host_of(page)),
            keywords=[writer.keyword(random.getrandbits(32)) for _ in range(4)],
            prose=writer,
            noise=self._noise(writer.language, random),
            navigation=self._navigation(page),
            links=[self._target(link, writer.language, random) for link in layout.links(page)],
            bytes=int(self._page_bytes * (0.6 + 0.8 * random.random())),
        )
        return WebPage(
            url=url,
            title=draft.title,
            language=writer.language,
            topics=self._labels(page, block),
            html=write_page(draft, random),
            charset=draft.charset,
        )

    def _prose(self, page: int, block: LayoutBlock | None) -> Prose:
        language = self._layout.language(block.host if block else self._layout.host_of(page))
        if block is None or not block.topic:
            return prose(language, "", 0.0)
        return prose(language, block.topic, _TOPIC_SHARE if page >= block.island else _HINT_SHARE)

    def _noise(self, language: str, random: Random) -> Prose:
        topics = tuple(TOPICS)
        return prose(language, topics[random.getrandbits(16) % len(topics)], _TOPIC_SHARE)

    def _charset(self, host: int) -> str:
        is_gbk = self._layout.language(host) == "zh" and self._layout.draw(b"charset", host) % _GBK_HOSTS == 0
        return "gbk" if is_gbk else "utf-8"

    def _title(self, page: int, block: LayoutBlock | None) -> str:
        writer = self._prose(page, block)
        if self._layout.kind(page, block) is PageRole.TUNNEL:
            writer = prose(writer.language, "", 0.0)
        return writer.title(self._layout.draw(b"title", page))

    def _navigation(self, page: int) -> list[Target]:
        host = self._layout.host_of(page)
        words, calendar = WORDS[self._layout.language(host)], self._calendar(host)
        links = [(self._site(host), words["front"])]
        if calendar and self._layout.draw(b"calendar", page) % _CALENDAR_LINKS == 0:
            links.append((calendar + _FIRST_MONTH, words["calendar"]))
        return links

    def _target(self, link: int, language: str, random: Random) -> Target:
        """Return the URL of a link, and an anchor that is more or less informative."""
        words = WORDS[language]
        if link == DEAD:
            site = self._site(random.getrandbits(32) % self._layout.hosts)
            return f"{site}gone/{random.getrandbits(24)}.html", words["more"]
        block = self._layout.block_of(link)
        writer, url, luck = self._prose(link, block), self._address(link, block), random.random()
        if writer.language == language and luck < 0.6:
            return url, self._title(link, block)
        if writer.language == language and luck < 0.75:
            return url, writer.keyword(random.getrandbits(32))
        return url, words["more"] if luck < 0.85 else words["here"] if luck < 0.92 else url

    def _month(self, url: str, host: int, year: int, month: int) -> WebPage:
        layout, calendar = self._layout, self._calendar(host)
        writer = prose(layout.language(host), "", 0.0)
        months = [divmod(year * 12 + month - 1 + step, 12) for step in (-1, 1, 12)]
        draft = Draft(
            title=f"{WORDS[writer.language]['calendar']} {year}-{month}",
            charset=self._charset(host),
            keywords=(),
            prose=writer,
            noise=writer,
            navigation=[(self._site(host), WORDS[writer.language]["front"])],
            links=[(f"{calendar}{then}/{number + 1}/", f"{then}-{number + 1}") for then, number in months],
            bytes=1_000,
        )
        html = write_page(draft, Random(layout.draw(b"month", host, year * 12 + month)))  # noqa: S311 - not secret
        return WebPage(
            url=url, title=draft.title, language=writer.language, topics=(), html=html, charset=draft.charset
        )


def _spelled(label: str, language: str) -> str:
    """Write a label as in URLs: as itself, or on Chinese hosts by the pinyin of its Chinese name."""
    row = TokenTable.shipped().find(label) if language == "zh" else None
    return row.pinyin[0] if row and row.pinyin else fold(label)
