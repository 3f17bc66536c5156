"""Server-sent events: one poller per crawl, shared by all listeners."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from thresher.errors import ThresherError
from thresher_ui.dashboard.errors import Refused
from thresher_ui.dashboard.service import CrawlService

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
MAX_LISTENERS = 100
_CHANGES_WITH_TIME = ("budgets",)
"""Keys that change with the clock; a change of these alone is not sent."""

Item = bytes


class Announcer:
    """Sends the status of crawls to listeners when it changes.

    Args:
        service: Where the status is read.
        poll_seconds: Time between two reads.
        heartbeat_seconds: Time after which a comment is sent when there is no event, to find dead connections.
    """

    def __init__(
        self, service: CrawlService, *, poll_seconds: float = POLL_SECONDS, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> None:
        self._service = service
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._listeners: dict[str, set[asyncio.Queue[Item]]] = {}
        self._pollers: dict[str, asyncio.Task[None]] = {}
        self._last: dict[str, Item] = {}

    def subscribe(self, crawl: str) -> asyncio.Queue[Item]:
        """Add a listener; return its queue, which `leave` removes.

        Raises:
            Refused: There are too many listeners.
        """
        if sum(map(len, self._listeners.values())) >= MAX_LISTENERS:
            raise Refused(409, f"{MAX_LISTENERS} event streams are open already")
        mailbox: asyncio.Queue[Item] = asyncio.Queue(maxsize=1)
        self._listeners.setdefault(crawl, set()).add(mailbox)
        if crawl in self._last:
            mailbox.put_nowait(self._last[crawl])
        if crawl not in self._pollers:
            self._pollers[crawl] = asyncio.ensure_future(self._poll(crawl))
        return mailbox

    def leave(self, crawl: str, mailbox: asyncio.Queue[Item]) -> None:
        """Remove a listener; with the last one, end the poller."""
        listeners = self._listeners[crawl]
        listeners.discard(mailbox)
        if not listeners:
            self._pollers.pop(crawl).cancel()
            self._last.pop(crawl, None)

    async def stream(self, crawl: str, mailbox: asyncio.Queue[Item]) -> AsyncIterator[Item]:
        """Yield events as bytes, and a heartbeat comment when there are none for a while."""
        try:
            yield b"retry: 2000\n\n"
            while True:
                try:
                    yield await asyncio.wait_for(mailbox.get(), self._heartbeat_seconds)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.leave(crawl, mailbox)

    async def close(self) -> None:
        for poller in self._pollers.values():
            poller.cancel()

    async def _poll(self, crawl: str) -> None:
        before: dict[str, Any] = {}
        while True:
            try:
                now = await self._service.status(crawl)
            except ThresherError:
                logger.warning("the status of %s cannot be read now", crawl, exc_info=True)
            else:
                if _comparable(now) != _comparable(before):
                    before = now
                    self._send(crawl, b"event: status\ndata: " + json.dumps(now).encode() + b"\n\n")
            await asyncio.sleep(self._poll_seconds)

    def _send(self, crawl: str, item: Item) -> None:
        self._last[crawl] = item
        for mailbox in self._listeners[crawl]:
            with suppress(asyncio.QueueEmpty):  # a slow listener gets the newest event only
                mailbox.get_nowait()
            mailbox.put_nowait(item)


def _comparable(status: dict[str, Any]) -> dict[str, Any]:
    stable = {name: value for name, value in status.items() if name not in _CHANGES_WITH_TIME}
    return {**stable, "limits": {name: rule["limit"] for name, rule in status.get("budgets", {}).items()}}
