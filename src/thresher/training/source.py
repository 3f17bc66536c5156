"""Where training pages come from: the same for all that is learned before a crawl, and during one."""

from __future__ import annotations

from thresher.strategies.layering.source import ELSEWHERE, Source

__all__ = ["ELSEWHERE", "Source"]
