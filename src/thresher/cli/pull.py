"""thresher pull: a local copy of a collection."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import echo, echo_json, json_option
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.locale.translation import _


@click.command()
@click.argument("collection", metavar="COLLECTION")
@click.argument("dir", type=click.Path(file_okay=False, path_type=Path))
@json_option(
    {
        "pages": "Pages in the folder.",
        "files": "Files in the folder.",
        "lost_segments": "Entries, segments and files of the collection that are missing or damaged.",
    },
)
def pull(collection: str, dir: Path, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Copy the pages of all machines into a folder.

    COLLECTION is its URL, such as s3://bucket/prefix, or the folder of a crawl that has one. Given again, the command
    adds what is new. The exit code is 1 when objects of the collection are missing or damaged.

    \b
    Examples:
      thresher pull s3://crawls/solar solar-copy
      thresher pull solar solar-copy --json
    """
    url = collection if "://" in collection else _collection_of(Path(collection))
    from thresher.operations.gather import gather as gather_pages

    copy = asyncio.run(gather_pages(url, dir))
    if as_json:
        echo_json({"pages": copy.pages, "files": copy.files, "lost_segments": list(copy.lost)})
    pages, files = copy.pages, copy.files
    echo(_("{pages:,} pages and {files:,} files are in {folder}.", pages=pages, files=files, folder=dir), err=True)
    if copy.lost:
        incomplete = _(
            "The copy is not complete: {n:,} object of the collection missing or damaged. "
            "On a machine of the crawl: thresher verify DIR --repair",
            "The copy is not complete: {n:,} objects of the collection missing or damaged. "
            "On a machine of the crawl: thresher verify DIR --repair",
            n=len(copy.lost),
        )
        echo(incomplete, err=True)
        raise SystemExit(1)


def _collection_of(folder: Path) -> str:
    url = CrawlSetup.open(folder).config.collection
    if not url:
        raise ConfigError(_("{folder} has no collection; give its URL, such as s3://bucket/prefix", folder=folder))
    return url
