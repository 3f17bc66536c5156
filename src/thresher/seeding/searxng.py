"""SearXNG as a search engine: its documented JSON interface, ``GET ENDPOINT?q=…&format=json``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from time import monotonic, sleep
from typing import Any, Protocol

from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.seeding.base import MAX_PER_SOURCE, SeedCandidate, SeedQuery, SourceFailed
from thresher.seeding.service import ServiceClient
from thresher.urls.canonical import canonicalize

EXAMPLE = "https://search.example.org/search"
PAGES_OF_RESULTS = 2
"""Pages of results that are requested for each phrase."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """One result: a canonical URL, and the title that the engine gives."""

    url: str
    title: str = ""


class SearchSource(Protocol):
    """A search engine."""

    def search(self, query: str) -> Sequence[SearchResult]:
        """Return results, best first.

        Raises:
            SourceFailed: There is no answer.
        """
        ...


class SearxSearch:
    """A SearXNG search, for any query and as a source of seeds.

    Args:
        endpoint: Its URL, such as ``https://search.example.org/search``.
        config: The crawl, for its network, its delay and its contact address.
    """

    def __init__(
        self,
        endpoint: str,
        config: CrawlConfig,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        if not endpoint:
            raise ConfigError(f"the source searxng needs the address of a search: searxng={EXAMPLE}")
        self._client = ServiceClient("the search source", endpoint, config, example=EXAMPLE, clock=clock, sleep=sleep)

    def search(self, query: str, *, language: str = "", page: int = 1) -> list[SearchResult]:
        parameters = {"q": query, "format": "json"}
        if language:
            parameters["language"] = language
        if page > 1:
            parameters["pageno"] = str(page)
        response = self._client.get(parameters)
        self._client.check(response, {403: "SearXNG answers 403 unless its settings list json under search.formats"})
        try:
            rows: Any = self._client.parsed(response)["results"]
            found = [row for row in rows if isinstance(row, dict)]
        except (KeyError, TypeError) as error:
            raise self._client.malformed("the JSON of SearXNG, an object with results") from error
        urls = ((canonicalize(str(row.get("url", ""))), str(row.get("title") or "")) for row in found)
        return [SearchResult(url=url, title=title) for url, title in urls if url][:MAX_PER_SOURCE]

    def find(self, query: SeedQuery) -> list[SeedCandidate]:
        """Search for each phrase in its language, and return the results by turns."""
        lists = [list(self._results(phrase, language)) for language, phrase in query.phrases.items()]
        turns = (found for turn in zip_longest(*lists) for found in turn if found)
        return list({found.url: found for found in turns}.values())[:MAX_PER_SOURCE]

    def _results(self, phrase: str, language: str) -> Iterator[SeedCandidate]:
        place = 0
        for page in range(1, PAGES_OF_RESULTS + 1):
            try:
                found = self.search(phrase, language=language, page=page)
            except SourceFailed:
                if page == 1:
                    raise
                return  # the first page of results is enough
            for result in found:
                place += 1
                reason = f"result {place} for “{phrase}”"
                yield SeedCandidate(url=result.url, title=result.title, source="searxng", reason=reason)
            if not found:
                return
