"""Detect that a crawl without a browser met pages that need one.

Workers look until one of them has found such a page; the first host is state of the crawl in the frontier. The
supervisor prints it at the end of the run (`runner.supervisor`). For 30 days the notice is not repeated.
"""

from __future__ import annotations

import logging

from thresher.frontier.base import CRAWL_WIDE, SharedState
from thresher.records import FetchedPage, Lease

logger = logging.getLogger(__name__)

STATE_KIND = "needs a browser"
PRINTED = ""
TTL_SECONDS = 30 * 86_400.0


class ScriptNotice:
    """Looks for the first page of a worker that has no content without its scripts."""

    def __init__(self, frontier: SharedState) -> None:
        self._frontier = frontier
        self._is_found = False

    async def check(self, lease: Lease, page: FetchedPage) -> None:
        """Store the host of a page that needs a browser, unless one is known."""
        from thresher.engine.browser.detection import is_challenge, needs_rendering  # the supervisor needs none

        if self._is_found or not needs_rendering(page) or is_challenge(page):
            return
        self._is_found = True
        logger.warning("seems to need JavaScript, and there is no browser: %s", page.url)
        if await self._frontier.get_state(CRAWL_WIDE, STATE_KIND) is None:
            await self._frontier.put_state(CRAWL_WIDE, STATE_KIND, lease.host, seconds=TTL_SECONDS)
