"""thresher stop: stop a crawl on all its machines."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo
from thresher.cli.stores import opened, store_options
from thresher.runner.shutdown import stop as stop_crawl
from thresher.runner.shutdown import wait_until_stopped


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
def stop(dir: Path | None, store: str | None, name: str | None) -> None:  # noqa: A002 - so on the command line
    """Stop a crawl: workers finish open requests, save and exit, on all machines.

    The crawl is named by its folder, or by its store and its name there. The command that started it can continue it.
    For a crawl on this machine alone, the command waits for the end; a run that does not react is reported, and the
    exit code is 1.
    """
    with opened(dir, store, name) as crawl:
        asyncio.run(stop_crawl(crawl))
        if crawl.is_shared:
            echo(f"All machines of {crawl.name} will finish open requests and exit.", err=True)
        else:
            wait_until_stopped(crawl)
            echo(f"The run of {crawl.folder.root} has ended.", err=True)
