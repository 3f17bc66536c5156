"""thresher stop: let a crawl come to its end, wherever it runs."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo
from thresher.cli.stores import opened, store_options
from thresher.engine.progress import Ending
from thresher.errors import ThresherError
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.orders import OrderBook


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
def stop(dir: Path | None, store: str | None, name: str | None) -> None:  # noqa: A002 - so on the command line
    """Stop a crawl: workers finish what is open, save and leave, on all machines.

    The crawl is named by its folder, or by its store and its name there. The command that began it goes on.
    """
    with opened(dir, store, name) as crawl:
        if crawl.is_shared:
            asyncio.run(_order(crawl))
            echo(f"All machines of {crawl.name} finish what is open and leave.", err=True)
        else:
            _stop_here(crawl)


async def _order(crawl: Crawl) -> None:
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        await OrderBook(link, crawl.name).stop(Ending.STOPPED.name)
    finally:
        await link.close()


def _stop_here(crawl: Crawl) -> None:
    runner = crawl.folder.runner()
    if not runner:
        raise ThresherError(f"no run of {crawl.folder.root} is under way")
    os.kill(runner, signal.SIGTERM)
    echo(f"The run of {crawl.folder.root} finishes what is open and leaves.", err=True)
