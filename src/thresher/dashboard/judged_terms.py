"""The words that counted in a judgement: the current judge of a crawl, loaded on demand in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from thresher.errors import ThresherError
from thresher.judges.base import Judge
from thresher.operations.try_page import counted
from thresher.project import CrawlProject, build_judge
from thresher.records import ParsedPage

logger = logging.getLogger(__name__)

STORE_SECONDS = 30.0
"""Time after which a judge whose state is in a shared store is loaded again."""


class JudgedTerms:
    """The judge of a crawl, loaded again when its stored state has changed."""

    def __init__(self, crawl: CrawlProject) -> None:
        self._crawl = crawl
        self._judge: Judge | None = None
        self._version: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")

    async def of(self, page: ParsedPage) -> list[dict[str, Any]]:
        """Return the words that counted in a page, those for the topic first; none when the judge cannot be loaded."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._words, page)

    def close(self) -> None:
        self._thread.shutdown()

    def _words(self, page: ParsedPage) -> list[dict[str, Any]]:
        try:
            words = self._loaded().words(page)
        except ThresherError:
            logger.warning("the judge of %s cannot be loaded", self._crawl.name, exc_info=True)
            return []
        return [{"term": word.written, "weight": word.weight} for word in counted(page, words)]

    def _loaded(self) -> Judge:
        version = self._newest()
        if self._judge is None or version != self._version:
            self._judge, self._version = build_judge(self._crawl), version
        return self._judge

    def _newest(self) -> Any:
        """Return a value that changes with the stored state of the judge."""
        if self._crawl.is_shared:
            return int(time.monotonic() / STORE_SECONDS)
        files = sorted((self._crawl.folder.model / "judge").glob("**/*"))
        return [(file, file.stat().st_mtime_ns) for file in files if file.is_file()]
