"""Server-sent events: one poller for each crawl that somebody listens to, however many they are."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from thresher.dashboard.desk import Desk
from thresher.dashboard.errors import Refused
from thresher.errors import ThresherError

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
MOST_LISTENERS = 100
_NEVER_THE_SAME = ("budgets",)
"""What changes by the clock alone, and is no news by itself."""

Item = bytes


class Announcer:
    """Tells listeners how crawls stand.

    Args:
        desk: Whom to ask.
        look_seconds: How often.
        heartbeat_seconds: How often something is sent when nothing happens, so that dead connections are found.
    """

    def __init__(
        self, desk: Desk, *, look_seconds: float = LOOK_SECONDS, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> None:
        self._desk = desk
        self._look_seconds = look_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._listeners: dict[str, set[asyncio.Queue[Item]]] = {}
        self._pollers: dict[str, asyncio.Task[None]] = {}
        self._last: dict[str, Item] = {}

    def subscribe(self, crawl: str) -> asyncio.Queue[Item]:
        """Let one more listen to a crawl; to be given back to `leave`.

        Raises:
            Refused: Too many do already.
        """
        if sum(map(len, self._listeners.values())) >= MOST_LISTENERS:
            raise Refused(409, f"{MOST_LISTENERS} listeners are there already")
        mailbox: asyncio.Queue[Item] = asyncio.Queue(maxsize=1)
        self._listeners.setdefault(crawl, set()).add(mailbox)
        if crawl in self._last:
            mailbox.put_nowait(self._last[crawl])
        if crawl not in self._pollers:
            self._pollers[crawl] = asyncio.ensure_future(self._poll(crawl))
        return mailbox

    def leave(self, crawl: str, mailbox: asyncio.Queue[Item]) -> None:
        """Let one listen no more; with the last one the poller goes."""
        listeners = self._listeners[crawl]
        listeners.discard(mailbox)
        if not listeners:
            self._pollers.pop(crawl).cancel()
            self._last.pop(crawl, None)

    async def stream(self, crawl: str, mailbox: asyncio.Queue[Item]) -> AsyncIterator[Item]:
        """Yield events as they are sent, and a comment when there are none for long."""
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
        """Poll no more."""
        for poller in self._pollers.values():
            poller.cancel()

    async def _poll(self, crawl: str) -> None:
        before: dict[str, Any] = {}
        while True:
            try:
                now = await self._desk.status(crawl)
            except ThresherError:
                logger.warning("%s cannot be looked at now", crawl, exc_info=True)
            else:
                if _news(now) != _news(before):
                    before = now
                    self._tell(crawl, b"event: status\ndata: " + json.dumps(now).encode() + b"\n\n")
            await asyncio.sleep(self._look_seconds)

    def _tell(self, crawl: str, item: Item) -> None:
        self._last[crawl] = item
        for mailbox in self._listeners[crawl]:
            with suppress(asyncio.QueueEmpty):  # who is slow hears only the newest
                mailbox.get_nowait()
            mailbox.put_nowait(item)


def _news(status: dict[str, Any]) -> dict[str, Any]:
    news = {name: value for name, value in status.items() if name not in _NEVER_THE_SAME}
    return {**news, "limits": {name: rule["limit"] for name, rule in status.get("budgets", {}).items()}}
