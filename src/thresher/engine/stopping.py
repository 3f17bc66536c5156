"""How somebody who is not the run itself stops it: by an order to all machines, or by a signal to the one that runs."""

from __future__ import annotations

import os
import signal

from thresher.build import Crawl
from thresher.engine.progress import Ending
from thresher.errors import ThresherError
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.orders import OrderBook


async def stop(crawl: Crawl) -> None:
    """Let the workers of a crawl finish what is open and leave, wherever they are.

    Raises:
        ThresherError: No run is under way on this machine, and no other machine shares the crawl.
    """
    if crawl.is_shared:
        await _order(crawl)
        return
    runner = crawl.folder.runner()
    if not runner:
        raise ThresherError(f"no run of {crawl.folder.root} is under way")
    os.kill(runner, signal.SIGTERM)


async def _order(crawl: Crawl) -> None:
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        await OrderBook(link, crawl.name).stop(Ending.STOPPED.name)
    finally:
        await link.close()
