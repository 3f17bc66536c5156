"""Waiting for items: a page is done when all its items are through the pipelines."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from scrapy import signals
from scrapy.signalmanager import SignalManager


@dataclass
class _Page:
    """The items of one response that are still under way."""

    response: Any
    left: int = 0
    none_left: asyncio.Event = field(default_factory=asyncio.Event)


class ItemWatch:
    """Knows which items have reached their end: scraped, dropped, or broken by a pipeline."""

    def __init__(self, sent: SignalManager) -> None:
        self._pages: dict[int, _Page] = {}
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            sent.connect(self._ended, signal)

    def begins(self, response: Any) -> None:
        """Note that a response has one more item."""
        page = self._pages.setdefault(id(response), _Page(response))
        page.left += 1
        page.none_left.clear()

    async def all_ended(self, response: Any) -> None:
        """Wait until all items of a response have reached their end."""
        if page := self._pages.get(id(response)):
            await page.none_left.wait()
            del self._pages[id(response)]

    def _ended(self, response: Any = None) -> None:
        if page := self._pages.get(id(response)):
            page.left -= 1
            if page.left <= 0:
                page.none_left.set()
