"""thresher join: add a machine to a crawl that was started on another one."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from thresher.assembly import check_crawl
from thresher.cli.output import echo, json_option
from thresher.cli.run import RESULT_KEYS, RunReporter, metrics_options, print_result
from thresher.cli.stores import fetch_definition, joined, store_options
from thresher.config.folder import CrawlFolder
from thresher.coordination.crawl_definition import Definition, is_inside
from thresher.coordination.store_binding import StoreRecord
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, StoreUnreachable, UnknownCrawl
from thresher.locale.translation import _
from thresher.runner.limits import Limits
from thresher.runner.supervisor import SupervisorOptions, run_crawl
from thresher.urls.store_address import same_store, shown_store

WAIT_STEP_SECONDS = 2.0


@click.command()
@store_options(required=True)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where this machine stores what it fetches, such as /data/solar; by default a folder with the crawl's name.",
)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Worker processes.")
@click.option(
    "--name",
    "machine",
    default="",
    metavar="NAME",
    help="The name of this machine, such as crawler-2; by default its host name.",
)
@click.option(
    "--pages",
    type=click.IntRange(min=1),
    help="Exit when the crawl has this many pages, such as 100000, all machines counted.",
)
@click.option(
    "--wait-seconds",
    type=click.FloatRange(min=0),
    default=300.0,
    show_default=True,
    help="How long to wait for a crawl that is not in the store yet, or a store that does not answer.",
)
@metrics_options
@json_option(RESULT_KEYS)
def join(
    store: str,
    name: str,
    folder: Path | None,
    workers: int,
    machine: str,
    pages: int | None,
    wait_seconds: float,
    metrics_port: int | None,
    metrics_address: str,
    as_json: bool,
) -> None:
    """Join a crawl that was started on another machine.

    It is started there by thresher run DIR --store URL. This command works for it until it ends. What this machine
    fetches stays in its own folder. Ctrl-C lets open requests finish and exits; the other machines continue. A second
    Ctrl-C stops at once.

    \b
    Examples:
      thresher join --store redis://10.0.0.5:6379/0 --crawl solar --workers 4
    """
    crawl = _join(store, name, folder, wait_seconds=wait_seconds)
    check_crawl(crawl)
    place = shown_store(store)
    echo(_("{folder} works for {name} in {store}.", folder=crawl.folder.root, name=name, store=place), err=True)
    with RunReporter() as reporter:
        options = SupervisorOptions(
            workers=workers,
            limits=Limits(pages=pages),
            report=reporter.show,
            is_owner=False,
            name=machine,
            metrics=(metrics_address, metrics_port) if metrics_port else None,
        )
        result = run_crawl(crawl, options)
    print_result(crawl.folder.root, result, as_json=as_json)
    sys.exit(result.exit_code)


def _join(store: str, name: str, folder: Path | None, *, wait_seconds: float = 0.0) -> CrawlSetup:
    """Create or update the folder of this machine.

    Raises:
        ConfigError: The folder belongs to another crawl.
        UnknownCrawl: No such crawl appeared in time.
    """
    if folder is None and not is_inside(name):
        raise ConfigError(_("{name!r} cannot be the name of a folder; give one: --dir DIR", name=name))
    root = folder or Path(name)
    crawl_folder = CrawlFolder(root)
    if crawl_folder.topic.exists() and crawl_folder.joined_options().name != name:
        raise ConfigError(_("{folder} holds another crawl; choose another folder: --dir DIR", folder=root))
    record = StoreRecord.read(crawl_folder)
    if record and not same_store(store, record.store):
        raise ConfigError(
            _(
                "{folder} works for a crawl in {store}; choose another folder: --dir DIR",
                folder=root,
                store=shown_store(record.store),
            )
        )
    definition = _wait_for_definition(store, name, wait_seconds)
    root.mkdir(parents=True, exist_ok=True)
    with crawl_folder.only_one_run():
        crawl = joined(root, definition, store, name)
    for missing in (file for file in definition.elsewhere if not (root / Path(file).expanduser()).exists()):
        raise ConfigError(
            _("topic.yaml names {file}, outside of its folder; put it there on this machine too", file=missing)
        )
    return crawl


def _wait_for_definition(store: str, name: str, wait_seconds: float) -> Definition:
    """Get the definition of a crawl; wait if it is not in the store yet.

    Raises:
        UnknownCrawl: It did not appear in time.
        StoreUnreachable: The store did not answer in time.
    """
    deadline, is_waiting = time.monotonic() + wait_seconds, False
    while True:
        try:
            return fetch_definition(store, name)
        except (UnknownCrawl, StoreUnreachable) as error:
            if time.monotonic() >= deadline:
                raise
            if not is_waiting:
                echo(_("{error}. Waiting up to {seconds:g} s.", error=error, seconds=wait_seconds), err=True)
            is_waiting = True
        time.sleep(min(WAIT_STEP_SECONDS, max(0.0, deadline - time.monotonic())))
