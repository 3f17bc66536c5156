"""Shared by commands of the lab: the options for a web and the size of a crawl, and opening a web."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from thresher_lab.statistics.result_rows import Row
    from thresher_lab.webs.virtualweb import Web

WEB = click.option("--web", "web_name", required=True, metavar="WEB", help="The web; thresher lab webs lists them.")
PAGES = click.option("--pages", type=click.IntRange(min=1), default=500, show_default=True, help="Fetches per crawl.")
SEEDS = click.option(
    "--seeds-per-set", type=click.IntRange(min=1), default=5, show_default=True, help="Pages that a crawl starts from."
)


@contextmanager
def opened(name: str) -> Iterator[Web]:
    """Open a web, and close it at the end."""
    from thresher_lab.webs.open_web import open_web

    web = open_web(name)
    try:
        yield web
    finally:
        close = getattr(web, "close", None)
        if close:
            close()


def without_curves(row: Row) -> Row:
    """Return a row without its curves."""
    return {name: value for name, value in row.items() if not name.endswith("curve")}
