"""One page: how it was found, how it was judged and by which words, and where it links to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from thresher.errors import ConfigError
from thresher.feedback.labels import verdicts
from thresher.locale.translation import _
from thresher.operations.explain import frontier_info_of
from thresher.parsing.main_content import PageContent
from thresher.storage.page_store import FoundLink
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import canonicalize, fingerprint
from thresher_ui.dashboard.open_crawl import OpenCrawl

MAX_LINKS = 50
MAX_CHARACTERS = 200_000


async def page(open_crawl: OpenCrawl, *, url: str) -> dict[str, Any]:
    """Return everything known about a URL.

    Raises:
        ConfigError: It is not an http or https URL.
    """
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(_("{url!r} is not an http or https URL", url=url))
    frontier_info = await frontier_info_of(open_crawl.frontier_reader, canonical)
    explanation = await open_crawl.judge.explain(canonical, frontier_info)
    content, links = await open_crawl.reader.ask(lambda collection: _stored(fingerprint(canonical), collection))
    return {
        **explanation.as_json(details=True),
        "text": content.text[:MAX_CHARACTERS],
        "markdown": content.markdown[:MAX_CHARACTERS],
        **asdict(content.metadata),
        "links": [_link(link) for link in links],
        "label": verdicts(await open_crawl.labels()).get(canonical),
    }


def _stored(number: int, collection: PageStoreReader) -> tuple[PageContent, list[FoundLink]]:
    links = sorted(collection.links(number), key=lambda link: -link.score)[:MAX_LINKS]
    return collection.content(number), links


def _link(link: FoundLink) -> dict[str, Any]:
    return {"url": link.url, "anchor": link.anchor, "score": link.score, "parts": dict(link.parts)}
