"""The harvest curve: relevant pages against all that were fetched, in the order in which they came."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.dashboard.watched import WatchedCrawl


async def harvest(watched: WatchedCrawl, *, points: int = 200) -> dict[str, Any]:
    """Return so many points of the curve at most; the rate of a point is that of the pages since the one before."""
    pages = await watched.pages()
    relevant = np.cumsum(pages.rows["relevant"] & pages.rows["counts"])
    places = np.unique(np.linspace(0, len(pages), min(points, len(pages)) + 1).round().astype(int))[1:]
    curve, before = [], (0, 0)
    for place in places.tolist():
        here = (place, int(relevant[place - 1]))
        rate = (here[1] - before[1]) / (here[0] - before[0])
        curve.append({"pages": here[0], "relevant": here[1], "rate": rate})
        before = here
    return {"points": curve, "pages": len(pages), "relevant": pages.tally.relevant}
