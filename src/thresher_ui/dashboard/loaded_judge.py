"""Explanations of URLs: the current judge of a crawl, loaded on demand in a thread of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from thresher.crawl import CrawlSetup
from thresher.judges.base import Judge
from thresher.operations.explain import Explanation, FrontierInfo, explanation_of, judge_of
from thresher.storage.reader import PageStoreReader


class LoadedJudge:
    """The judge of a crawl, loaded again when its stored state has changed."""

    def __init__(self, crawl: CrawlSetup) -> None:
        self._crawl = crawl
        self._judge: Judge | None = None
        self._version: object = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")

    async def explain(self, url: str, frontier_info: FrontierInfo) -> Explanation:
        """Explain a canonical URL; without words when the judge cannot be loaded."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._explain, url, frontier_info)

    def close(self) -> None:
        self._thread.shutdown()

    def _explain(self, url: str, frontier_info: FrontierInfo) -> Explanation:
        with PageStoreReader(self._crawl.folder.pages) as collection:
            return explanation_of(self._crawl, url, frontier_info, collection, self._loaded())

    def _loaded(self) -> Judge | None:
        version = self._crawl.backend.state_version("judge")
        if self._judge is None or version != self._version:
            self._judge, self._version = judge_of(self._crawl), version
        return self._judge
