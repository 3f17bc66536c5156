"""thresher work: one more machine for a crawl that was begun elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.run import Reporter, metrics_options, print_result
from thresher.cli.show import echo
from thresher.cli.stores import fetch_definition, joined, store_options
from thresher.engine.progress import Limits
from thresher.engine.run import run_crawl
from thresher.errors import ConfigError
from thresher.fleet.filenames import is_inside
from thresher.fleet.keys import without_password
from thresher.folder import CrawlFolder


@click.command()
@store_options(required=True)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where this machine keeps what it fetches; a folder with the crawl's name if left out.",
)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Worker processes.")
@click.option("--name", "machine", default="", metavar="NAME", help="This machine's name, when its host's will not do.")
@click.option(
    "--pages", type=click.IntRange(min=1), help="Leave when the crawl has this many pages, all machines counted."
)
@metrics_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def work(
    store: str,
    name: str,
    folder: Path | None,
    workers: int,
    machine: str,
    pages: int | None,
    metrics_port: int | None,
    metrics_address: str,
    as_json: bool,
) -> None:
    """Join a crawl that was begun on another machine, and work for it until it ends.

    It is begun there by thresher run DIR --store URL. What this machine fetches stays in its own folder. Ctrl-C lets
    open requests finish and leaves; the others go on. A second Ctrl-C stops at once.
    """
    crawl = _join(store, name, folder)
    crawl.check()
    echo(f"{crawl.folder.root} works for {name} in {without_password(store)}.", err=True)
    with Reporter() as reporter:
        result = run_crawl(
            crawl,
            workers=workers,
            limits=Limits(pages=pages),
            report=reporter.show,
            owner=False,
            name=machine,
            metrics=(metrics_address, metrics_port) if metrics_port else None,
        )
    print_result(crawl.folder.root, result, as_json=as_json)
    sys.exit(result.ending.exit_code if result.by_hand else 0)  # a crawl that ended is no failure of this machine


def _join(store: str, name: str, folder: Path | None) -> Crawl:
    """Make this machine's folder, or bring it up to date.

    Raises:
        ConfigError: The folder is another crawl's.
    """
    if folder is None and not is_inside(name):
        raise ConfigError(f"{name!r} cannot be the name of a folder; give one: --dir DIR")
    root = folder or Path(name)
    place = CrawlFolder(root)
    if place.topic.exists() and place.joined_changes().get("name") != name:
        raise ConfigError(f"{root} holds another crawl; choose another folder: --dir DIR")
    definition = fetch_definition(store, name)
    root.mkdir(parents=True, exist_ok=True)
    with place.only_one_run():
        crawl = joined(root, definition, store, name)
    for missing in (file for file in definition.elsewhere if not (root / Path(file).expanduser()).exists()):
        raise ConfigError(f"topic.yaml names {missing}, outside of its folder; put it there on this machine too")
    return crawl
