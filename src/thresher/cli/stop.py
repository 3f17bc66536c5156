"""thresher stop: stop a crawl on all its machines."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.stores import opened, store_options
from thresher.locale.translation import _
from thresher.runner.shutdown import wait_until_stopped


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
@json_option(
    {
        "crawl": "The name of the crawl.",
        "ended": "Whether the run has ended; false with a shared store, whose machines finish later.",
    },
)
def stop(dir: Path | None, store: str | None, name: str | None, as_json: bool) -> None:  # noqa: A002 - so on the command line
    """Stop a crawl, on all its machines.

    Workers finish open requests, save and exit. The crawl is named by its folder, or by its store and its name there.
    The command that started it can continue it. For a crawl on this machine alone, the command waits for the end; a run
    that does not react is reported, and the exit code is 1.

    \b
    Examples:
      thresher stop solar
      thresher stop --store redis://10.0.0.5:6379/0 --crawl solar
    """
    with opened(dir, store, name) as crawl:
        is_here = asyncio.run(crawl.backend.stop_run())
        if is_here:
            wait_until_stopped(crawl)
            echo(_("The run of {folder} has ended.", folder=crawl.folder.root), err=True)
        else:
            echo(_("All machines of {name} will finish open requests and exit.", name=crawl.name), err=True)
        if as_json:
            echo_json({"crawl": crawl.name, "ended": is_here})
