"""One page: why it is here, what was thought of it and by which words, and where it leads."""

from __future__ import annotations

from typing import Any

from thresher.archive.collection import Collection
from thresher.archive.pages import FoundLink, PageRecord
from thresher.build import Crawl
from thresher.dashboard.watched import WatchedCrawl
from thresher.dashboard.words import JudgedWords
from thresher.errors import ConfigError
from thresher.explain import Explanation, Standing, explanation_of, standing_of
from thresher.labels import last_words
from thresher.records import ParsedPage
from thresher.urls.canonical import canonicalize, fingerprint

MOST_LINKS = 50
MOST_CHARACTERS = 200_000


async def page(watched: WatchedCrawl, words: JudgedWords, *, url: str) -> dict[str, Any]:
    """Return all that is known of a URL.

    Raises:
        ConfigError: It is no http or https URL.
    """
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(f"{url!r} is not an http or https URL")
    standing = await standing_of(watched.look, canonical)
    explanation, record, text, links = await watched.reader.ask(
        lambda collection: _stored(watched.crawl, canonical, standing, collection)
    )
    parsed = ParsedPage(url=canonical, title=record.title, text=text, language=record.language) if record else None
    return {
        **explanation.as_json(),
        "title": record.title if record else "",
        "words": await words.of(parsed) if parsed and text else [],
        "text": text[:MOST_CHARACTERS],
        "links": [_link(link) for link in links],
        "label": last_words(await watched.labels()).get(canonical),
    }


def _stored(
    crawl: Crawl, url: str, standing: Standing, collection: Collection
) -> tuple[Explanation, PageRecord | None, str, list[FoundLink]]:
    number = fingerprint(url)
    links = sorted(collection.links(number), key=lambda link: -link.score)[:MOST_LINKS]
    explanation = explanation_of(crawl, url, standing, collection)
    return explanation, collection.find(number), collection.main_text(number), links


def _link(link: FoundLink) -> dict[str, Any]:
    return {"url": link.url, "anchor": link.anchor, "score": link.score, "parts": dict(link.parts)}
