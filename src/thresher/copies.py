"""Copies: pages whose text another page brought first, or that name the same page as the one to keep."""

from __future__ import annotations

from collections import OrderedDict

from thresher.frontier.base import Frontier, UrlState
from thresher.records import RENDERED, ParsedPage
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key


def content_hash(text: str) -> int:
    """Hash a page's text, by which copies are known; 0 for a page without text."""
    return fingerprint(text) or 1 if text else 0


_CLAIMS = 10_000
"""Far more than the pages that one worker can have under way."""


class Copies:
    """Finds out whether a page was there before.

    A page that names another one as the one to keep is a copy of that when that is here, and else of the first page
    that named it. The named page itself gives way only to pages of its own host: nobody can push out the page of
    another host by naming it. So of mirrors that name the original, one may be kept beside it, when it came first.
    Two workers that bring the same text at the same moment both keep it.
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._claimed: OrderedDict[int, int] = OrderedDict()

    async def look_up(self, page: ParsedPage) -> tuple[int, int]:
        """Return whose copy a page is (0 for nobody's), and by which number later copies of it are known."""
        own, content = fingerprint(page.url), content_hash(page.text)
        first = await self._first_with(content)
        if first in (0, own) and page.canonical:
            first = await self._named(page)
            content = content if page.canonical == page.url else _name(page)
        if first in (0, own):
            self._claim(own, content, content_hash(page.text), own)
        return (0 if first == own else first), content

    async def _named(self, page: ParsedPage) -> int:
        """Return the page that came first of those that name the same address."""
        if page.canonical != page.url:
            named = fingerprint(page.canonical)
            entry = None if named in self._claimed else await self._frontier.find(page.canonical)
            if named in self._claimed or (entry and entry.state is UrlState.DONE and entry.reason in ("", RENDERED)):
                return named
        return await self._first_with(_name(page))

    async def _first_with(self, content: int) -> int:
        """Return who brought a content first; a page of this worker may be on its way to the frontier still."""
        if not content:
            return 0
        return await self._frontier.first_with(content) or self._claimed.get(content, 0)

    def _claim(self, page: int, *numbers: int) -> None:
        for number in numbers:
            self._claimed[number] = page
            self._claimed.move_to_end(number)
        while len(self._claimed) > _CLAIMS:
            self._claimed.popitem(last=False)


def _name(page: ParsedPage) -> int:
    """Hash the address that a page names, apart from all texts; the same for all pages of one host or of others."""
    elsewhere = " elsewhere" if host_key(page.canonical) != host_key(page.url) else ""
    return fingerprint(f"canonical{elsewhere} {page.canonical}") or 1
