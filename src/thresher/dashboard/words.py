"""Which words counted in a judgement: the judge as it is now, loaded beside the event loop when somebody asks."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from thresher.attempt import counted
from thresher.build import Crawl
from thresher.classify.base import Judge
from thresher.errors import ThresherError
from thresher.records import ParsedPage

logger = logging.getLogger(__name__)

STORE_SECONDS = 30.0
"""A judge that was learned in a shared store is loaded again after so long."""


class JudgedWords:
    """Asks the judge of a crawl; loads it again when what it learned was written anew."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._judge: Judge | None = None
        self._version: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")

    async def of(self, page: ParsedPage) -> list[dict[str, Any]]:
        """Return the words that counted in a page, those for the topic first; none when the judge cannot be asked."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._words, page)

    def close(self) -> None:
        """Let the thread go."""
        self._thread.shutdown()

    def _words(self, page: ParsedPage) -> list[dict[str, Any]]:
        try:
            words = self._loaded().words(page)
        except ThresherError:
            logger.warning("the judge of %s cannot be asked", self._crawl.name, exc_info=True)
            return []
        return [{"term": word.written, "weight": word.weight} for word in counted(page, words)]

    def _loaded(self) -> Judge:
        version = self._newest()
        if self._judge is None or version != self._version:
            self._judge, self._version = self._crawl.judge(), version
        return self._judge

    def _newest(self) -> Any:
        """Tell one state of the judge's notes from another."""
        if self._crawl.is_shared:
            return int(time.monotonic() / STORE_SECONDS)
        files = sorted((self._crawl.folder.model / "judge").glob("**/*"))
        return [(file, file.stat().st_mtime_ns) for file in files if file.is_file()]
