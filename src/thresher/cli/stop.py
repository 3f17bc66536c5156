"""thresher stop: let a crawl come to its end, wherever it runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.show import CRAWL, echo
from thresher.cli.stores import opened, store_options
from thresher.engine.stopping import stop as stop_crawl
from thresher.engine.stopping import wait_until_stopped


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
def stop(dir: Path | None, store: str | None, name: str | None) -> None:  # noqa: A002 - so on the command line
    """Stop a crawl: workers finish what is open, save and leave, on all machines.

    The crawl is named by its folder, or by its store and its name there. The command that began it goes on. Of a crawl
    on this machine alone the end is waited for; a run that does not react is reported, and the exit code is 1.
    """
    with opened(dir, store, name) as crawl:
        asyncio.run(stop_crawl(crawl))
        if crawl.is_shared:
            echo(f"All machines of {crawl.name} are told to finish what is open and leave.", err=True)
        else:
            wait_until_stopped(crawl)
            echo(f"The run of {crawl.folder.root} has ended.", err=True)
