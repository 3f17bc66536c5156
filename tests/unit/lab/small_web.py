"""A web of a few pages, written down in a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from thresher.urls.canonical import host_key
from thresher_lab.webs.virtualweb import WebPage, belongs, levels


class SmallWeb:
    """Pages by URL: (topics, words, links)."""

    name = "small"

    def __init__(self, pages: Mapping[str, tuple[Sequence[str], str, Sequence[str]]]) -> None:
        self._pages = dict(pages)
        self._urls = list(pages)

    def __len__(self) -> int:
        return len(self._urls)

    def get(self, url: str) -> WebPage | None:
        if url not in self._pages:
            return None
        topics, words, links = self._pages[url]
        anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        html = f"<html><head><title>{words}</title></head><body><p>{words}</p><ul>{anchors}</ul></body></html>"
        charset = "gbk" if not words.isascii() else "utf-8"
        return WebPage(url=url, title=words, language="en", topics=tuple(topics), html=html, charset=charset)

    def urls(self) -> Iterator[str]:
        return iter(self._urls)

    def page_id(self, url: str) -> int | None:
        return self._urls.index(url) if url in self._pages else None

    def url_of(self, page_id: int) -> str:
        return self._urls[page_id]

    def topics(self) -> dict[str, int]:
        labels = (label for topics, _, _ in self._pages.values() for label in topics)
        return dict(Counter(level for label in labels for level in levels(label)))

    def targets(self, topic: str) -> frozenset[int]:
        return frozenset(number for number, url in enumerate(self._urls) if self.is_topic(url, topic))

    def is_topic(self, url: str, topic: str) -> bool:
        return url in self._pages and belongs(self._pages[url][0], topic)

    def hosts(self) -> dict[str, int]:
        return dict(Counter(map(host_key, self._urls)))

    def links_from(self, page_id: int) -> tuple[int, ...]:
        _, _, links = self._pages[self._urls[page_id]]
        return tuple(self._urls.index(link) for link in dict.fromkeys(links) if link in self._pages)


def u(name: str, host: str = "a.example") -> str:
    return f"http://{host}/{name}"


def tea_and_solar() -> SmallWeb:
    """A seed leads to a hub of tea and a hub of solar pages, and to a dead link; the tea hub comes first."""
    tea = [u(f"tea{number}") for number in range(10)]
    solar = [u(f"solar{number}", "b.example") for number in range(10)]
    pages = {u("seed"): (["energy/solar"], "solar start", [u("teahub"), u("dead"), u("solarhub")])}
    pages[u("teahub")] = (["food"], "tea tea", tea)
    pages[u("solarhub")] = (["energy/solar"], "solar hub", solar)
    pages |= {url: (["food"], f"tea leaf {number}", []) for number, url in enumerate(tea)}
    pages |= {url: (["energy/solar"], f"solar cell {number}", [u("seed")]) for number, url in enumerate(solar)}
    return SmallWeb(pages)
