"""Webs from finished crawls, to replay them under other strategies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from thresher.config.folder import CrawlFolder
from thresher.storage.page_store import FoundLink
from thresher.storage.reader import PageStoreReader
from thresher_lab.webs.importers.pagefile import SourcePage


def from_crawl(folder: Path) -> Iterator[SourcePage]:
    """Yield the pages that a crawl has fetched, the most relevant first.

    A crawl keeps text and links, but no markup, so each page is rebuilt from its title, text and links. Links
    that the crawl did not keep are missing. Pages that it judged relevant are labelled with the crawl's name.

    Args:
        folder: The crawl's folder, with topic.yaml in it.

    Raises:
        CrawlNotFound: The folder holds no crawl.
    """
    crawl = CrawlFolder(folder).existing()
    with PageStoreReader(crawl.pages) as collection:
        for record in collection.ranked(duplicates=True):
            links = collection.links(record.fingerprint)
            yield SourcePage(
                url=record.url,
                html=minimal_html(record.title, collection.text(record.fingerprint), links),
                title=record.title,
                language=record.language,
                topics=(crawl.name,) if record.relevant else (),
            )


def minimal_html(title: str, text: str, links: Sequence[FoundLink]) -> str:
    """Return minimal markup with the title, text and links of a page."""
    items = "\n".join(f'<li><a href="{escape(link.url)}">{escape(link.anchor)}</a></li>' for link in links)
    body = text.removeprefix(title).strip()  # a page's text begins with its title
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body>\n<p>{escape(body)}</p>\n<ul>\n{items}\n</ul>\n</body></html>\n"
    )
