"""A finite web, generated from its numbers: every URL is known without fetching, every page is the same each time.

Page 0 is the seed. Half of a page's links form a tree over the page numbers, so that every page is reachable from
the seed within a few hops; the other half lead anywhere. A page's `key` is its address and path without the port,
such as ``127.0.0.2/alder/birch-cedar.html``: the name under which the log of the recording server knows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random

from testing.recording_server import words

HOSTS_PER_BLOCK = 253
"""127.0.x.2 to 127.0.x.254; 127.0.0.1 is left to the control requests."""
MAX_HOSTS = HOSTS_PER_BLOCK * 256
MAX_PAGES = len(words.NAMES) ** 4


def address_of_host(host: int) -> str:
    """Return the loopback address that stands for a host number."""
    return f"127.0.{host // HOSTS_PER_BLOCK}.{host % HOSTS_PER_BLOCK + 2}"


@dataclass(frozen=True, kw_only=True)
class Site:
    """A generated web.

    Args:
        pages: How many pages there are in all.
        hosts: Over how many loopback addresses they are spread.
        page_bytes: The least size of a page; links that need more room get it.
        links: Links on every page.
        topic_share: Share of the pages that use the topic's words.
        skew: 1 spreads pages evenly; greater numbers crowd them onto the first hosts.
        seed: Another number makes another site.
    """

    pages: int
    hosts: int
    page_bytes: int = 2048
    links: int = 10
    topic_share: float = 0.5
    skew: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= min(MAX_HOSTS, self.pages):
            raise ValueError(f"hosts must be from 1 to {min(MAX_HOSTS, self.pages)}, got {self.hosts}")
        if self.pages > MAX_PAGES:
            raise ValueError(f"pages must be at most {MAX_PAGES}, got {self.pages}")
        if self.links < 2:
            raise ValueError(f"links must be at least 2, or pages would be out of reach, got {self.links}")

    @cached_property
    def addresses(self) -> list[str]:
        """The hosts, by number."""
        return [address_of_host(host) for host in range(self.hosts)]

    @cached_property
    def host_numbers(self) -> list[int]:
        """The host of every page; each host has at least one page."""
        random = Random(self.seed)
        drawn = [int(self.hosts * random.random() ** self.skew) for _ in range(self.hosts, self.pages)]
        return [*range(self.hosts), *drawn]

    @cached_property
    def on_topic(self) -> list[bool]:
        """Whether a page uses the topic's words, by page; the seed does."""
        random = Random(self.seed + 1)
        return [True, *(random.random() < self.topic_share for _ in range(1, self.pages))]

    @cached_property
    def page_numbers(self) -> dict[str, int]:
        """The number of every page, by its key."""
        return {self.key(page): page for page in range(self.pages)}

    def keys(self) -> set[str]:
        """Return the keys of all pages: what a complete crawl has asked for."""
        return set(self.page_numbers)

    def key(self, page: int) -> str:
        """Return the address and path of a page."""
        return self.addresses[self.host_numbers[page]] + path_of_page(page)

    def url(self, page: int, port: int) -> str:
        """Return the URL of a page when the recording server listens on `port`."""
        return f"http://{self.addresses[self.host_numbers[page]]}:{port}{path_of_page(page)}"

    def links_of(self, page: int) -> list[int]:
        """Return where a page links to: its children in the tree first, then pages from anywhere."""
        children = (self.links + 1) // 2
        first = page * children + 1
        targets = dict.fromkeys(range(first, min(first + children, self.pages)))
        random = Random(f"{self.seed} links of {page}")
        wanted = min(self.links, self.pages)
        while len(targets) < wanted:
            targets[int(random.random() * self.pages)] = None
        return list(targets)

    def render(self, page: int, port: int) -> bytes:
        """Return the HTML of a page."""
        random = Random(f"{self.seed} text of {page}")
        sentences = words.TOPIC_SENTENCES if self.on_topic[page] else words.SENTENCES
        title = random.choice(sentences)[:60]
        head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>\n'
        navigation = "".join(self._anchors(page, port, random))
        missing = self.page_bytes - len(head) - len(navigation) - len("<h1></h1>\n</body></html>\n") - len(title)
        text = "".join(_paragraphs(missing, sentences, random))
        return f"{head}<h1>{title}</h1>\n{text}{navigation}</body></html>\n".encode()

    def _anchors(self, page: int, port: int, random: Random) -> Iterator[str]:
        for target in self.links_of(page):
            sentences = words.TOPIC_SENTENCES if self.on_topic[target] else words.SENTENCES
            anchor = " ".join(random.choice(sentences).split(" ", 4)[:4])
            yield f'<p>See <a href="{self.url(target, port)}">{anchor}</a> for more.</p>\n'


def path_of_page(page: int) -> str:
    """Return the path of a page: words without digits, so that no guard against numbered traps takes offence."""
    rest, third = divmod(page, len(words.NAMES))
    rest, second = divmod(rest, len(words.NAMES))
    fourth, first = divmod(rest, len(words.NAMES))
    more = f"-{words.NAMES[fourth]}" if fourth else ""
    return f"/{words.NAMES[third]}/{words.NAMES[second]}-{words.NAMES[first]}{more}.html"


def _paragraphs(size: int, sentences: list[str], random: Random) -> Iterator[str]:
    while size > 0:
        text = ". ".join(random.choices(sentences, k=5))
        paragraph = f"<p>{text}.</p>\n"
        size -= len(paragraph)
        yield paragraph
