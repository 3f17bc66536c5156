"""Duplicates: pages with the text of an earlier page, or with the same canonical URL."""

from __future__ import annotations

from collections import OrderedDict

from thresher.frontier.base import CrawlStore, UrlState
from thresher.reasons.reason import COMPLETE_PAGES
from thresher.records import ParsedPage
from thresher.urls.canonical import fingerprint, host_key


def content_hash(text: str) -> int:
    """Hash a page's text, to find duplicates; 0 for a page without text."""
    return fingerprint(text) or 1 if text else 0


_CLAIMS = 10_000
"""Far more than one worker can have in progress."""


class DuplicateFinder:
    """Finds out whether a page is a duplicate.

    A page with rel=canonical is a duplicate of the canonical page if that was crawled, else of the first page with the
    same canonical URL. The canonical page itself is a duplicate only of pages of its own host: no host can displace the
    page of another one by declaring it canonical. So of mirrors that declare the original as canonical, one may be kept
    beside it, if it came first. Two workers that process the same text at the same time both keep it.
    """

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier
        self._claimed: OrderedDict[int, int] = OrderedDict()

    async def look_up(self, page: ParsedPage) -> tuple[int, int]:
        """Return the page that this one duplicates (0 for none), and the hash by which its own duplicates are found."""
        own, content = fingerprint(page.url), content_hash(page.text)
        first = await self._content_owner(content)
        if first in (0, own) and page.canonical:
            first = await self._canonical_owner(page)
            content = content if page.canonical == page.url else _canonical_hash(page)
        if first in (0, own):
            self._claim(own, content, content_hash(page.text), own)
        return (0 if first == own else first), content

    async def _canonical_owner(self, page: ParsedPage) -> int:
        """Return the canonical page if it was crawled, else the first page with the same canonical URL."""
        if page.canonical != page.url:
            canonical = fingerprint(page.canonical)
            entry = None if canonical in self._claimed else await self._frontier.find(page.canonical)
            if canonical in self._claimed or (
                entry and entry.state is UrlState.DONE and entry.reason.kind in COMPLETE_PAGES
            ):
                return canonical
        return await self._content_owner(_canonical_hash(page))

    async def _content_owner(self, content: int) -> int:
        """Return the first page with a content; also pages of this worker that are not committed yet."""
        if not content:
            return 0
        return await self._frontier.content_owner(content) or self._claimed.get(content, 0)

    def _claim(self, page: int, *numbers: int) -> None:
        for number in numbers:
            self._claimed[number] = page
            self._claimed.move_to_end(number)
        while len(self._claimed) > _CLAIMS:
            self._claimed.popitem(last=False)


def _canonical_hash(page: ParsedPage) -> int:
    """Hash the canonical URL of a page, distinct from all texts and for pages of the same host and of others."""
    elsewhere = " elsewhere" if host_key(page.canonical) != host_key(page.url) else ""
    return fingerprint(f"canonical{elsewhere} {page.canonical}") or 1
