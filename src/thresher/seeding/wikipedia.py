"""Wikipedia as a source of seeds, by the MediaWiki API: articles, their external links, and members of their category.

For each phrase the articles that a search finds, the external links of the first of them, and the articles of the
category of the same name. The first article is also followed to the languages of the topic that have no phrase.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from thresher.config.schema import CrawlConfig
from thresher.seeding.base import MAX_PER_SOURCE, SeedCandidate, SeedQuery
from thresher.seeding.service import ServiceClient
from thresher.text.languages import phrase_languages
from thresher.urls.canonical import canonicalize, host_key

ENDPOINT = "https://{language}.wikipedia.org/w/api.php"
"""Used when the user names the source without an address."""
LANGUAGES = ("en", "zh")
ARTICLES, EXTERNAL_LINKS, MEMBERS = 5, 20, 20


class WikipediaArticles:
    """A MediaWiki site, in one or more languages.

    Args:
        address: The URL of its API, with ``{language}`` in place of the language; empty for Wikipedia.
        config: The crawl, for its network, its delay and its contact address.
    """

    def __init__(self, address: str, config: CrawlConfig) -> None:
        self._address, self._config = address or ENDPOINT, config
        self._clients: dict[str, ServiceClient] = {}
        self._client("en")  # a wrong address is refused at once
        self.titles: dict[str, str] = {}
        """The titles of the first articles, by language."""

    def find(self, query: SeedQuery) -> list[SeedCandidate]:
        """Return articles first, then category members and external links."""
        found: dict[str, SeedCandidate] = {}
        self.titles = {}
        for language, phrase in query.phrases.items():
            for candidate in self._of_phrase(language or phrase_languages(phrase)[0], phrase):
                found.setdefault(candidate.url, candidate)
        for language in [code for code in LANGUAGES if code in self.titles and code not in query.phrases]:
            for candidate in self._of_article(language, self.titles[language], others=()):
                found.setdefault(candidate.url, candidate)
        return list(found.values())[:MAX_PER_SOURCE]

    def _of_phrase(self, language: str, phrase: str) -> Iterator[SeedCandidate]:
        search = {"generator": "search", "gsrsearch": phrase, "gsrlimit": str(ARTICLES), "gsrnamespace": "0"}
        articles = sorted(self._pages(language, search), key=lambda page: page.get("index", 0))
        for place, page in enumerate(articles, start=1):
            yield from _article(page, f"article {place} for “{phrase}”")
        if articles:
            title = str(articles[0].get("title", ""))
            yield from self._of_article(language, title, others=[code for code in LANGUAGES if code != language])

    def _of_article(self, language: str, title: str, *, others: Sequence[str]) -> Iterator[SeedCandidate]:
        """Yield what an article leads to; note its titles in other languages."""
        self.titles[language] = title
        own = {"titles": title, "redirects": "1", "ellimit": "max"}
        about = self._pages(language, own, prop="info|extlinks")
        for page in about:
            yield from _article(page, f"the article “{title}”")
        for other in others:
            for page in self._pages(language, {"titles": title, "lllang": other}, prop="info|langlinks"):
                self.titles |= _other_titles(page, other)
        members = {
            "generator": "categorymembers",
            "gcmtitle": f"Category:{title}",
            "gcmtype": "page",
            "gcmlimit": str(MEMBERS),
        }
        for page in self._pages(language, members):
            yield from _article(page, f"in the category “{title}”")
        for page in about:
            yield from _external(page, title)

    def _pages(self, language: str, parameters: Mapping[str, str], prop: str = "info") -> list[dict[str, Any]]:
        """Send a query, and return the pages of its answer; none when there are none."""
        client = self._client(language)
        wanted = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "prop": prop,
            "inprop": "url",
            "maxlag": "5",
        }
        answer = client.get_json({**wanted, **parameters})
        if not isinstance(answer, dict) or not isinstance(answer.get("query", {}), dict):
            raise client.malformed("the JSON of the MediaWiki API")
        if "error" in answer:
            raise client.refused(str(answer["error"].get("info", "")) if isinstance(answer["error"], dict) else "")
        pages = answer.get("query", {}).get("pages", [])
        if not isinstance(pages, list):
            raise client.malformed("the JSON of the MediaWiki API, formatversion 2")
        return [page for page in pages if isinstance(page, dict) and not page.get("missing")]

    def _client(self, language: str) -> ServiceClient:
        if language not in self._clients:
            endpoint = self._address.replace("{language}", language)
            example = ENDPOINT.replace("{language}", "en")
            self._clients[language] = ServiceClient("the wiki", endpoint, self._config, example=example)
        return self._clients[language]


def _article(page: Mapping[str, Any], reason: str) -> Iterator[SeedCandidate]:
    if url := canonicalize(str(page.get("fullurl", ""))):
        yield SeedCandidate(url=url, title=str(page.get("title", "")), source="wikipedia", reason=reason)


def _other_titles(page: Mapping[str, Any], language: str) -> dict[str, str]:
    links = page.get("langlinks", [])
    titles = [link["title"] for link in links if isinstance(link, dict) and "title" in link] if links else []
    return {language: str(titles[0])} if titles else {}


def _external(page: Mapping[str, Any], title: str) -> Iterator[SeedCandidate]:
    """Yield the external links of an article, one of each host."""
    links = page.get("extlinks", [])
    urls = [str(link.get("url", "")) for link in links if isinstance(link, dict)] if isinstance(links, list) else []
    hosts: dict[str, str] = {}
    for text in urls:
        if url := canonicalize(f"https:{text}" if text.startswith("//") else text):
            hosts.setdefault(host_key(url), url)
    for url in list(hosts.values())[:EXTERNAL_LINKS]:
        yield SeedCandidate(url=url, source="wikipedia", reason=f"an external link of the article “{title}”")
