"""The harvest curve: relevant pages over fetched pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher_ui.dashboard.open_crawl import OpenCrawl


async def harvest(open_crawl: OpenCrawl, *, points: int = 200) -> dict[str, Any]:
    """Return at most `points` points; the rate of a point is that of the pages since the previous one."""
    pages = await open_crawl.pages()
    relevant = np.cumsum(pages.rows["relevant"] & pages.rows["counts"])
    ends = np.unique(np.linspace(0, len(pages), min(points, len(pages)) + 1).round().astype(int))[1:]
    curve, before = [], (0, 0)
    for end in ends.tolist():
        here = (end, int(relevant[end - 1]))
        rate = (here[1] - before[1]) / (here[0] - before[0])
        curve.append({"pages": here[0], "relevant": here[1], "rate": rate})
        before = here
    return {"points": curve, "pages": len(pages), "relevant": pages.tally.relevant}
