"""What commands of the lab share: the options that name a web and the size of a crawl, and a web while it is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from thresher.lab.rows import Row
    from thresher.lab.virtualweb import Web

WEB = click.option("--web", "web_name", required=True, metavar="WEB", help="The web; thresher lab webs lists them.")
PAGES = click.option("--pages", type=click.IntRange(min=1), default=500, show_default=True, help="Fetches per crawl.")
SEEDS = click.option(
    "--seeds-per-set", type=click.IntRange(min=1), default=5, show_default=True, help="Pages that a crawl starts from."
)


@contextmanager
def opened(name: str) -> Iterator[Web]:
    """Open a web, and close it again."""
    from thresher.lab.open_web import open_web

    web = open_web(name)
    try:
        yield web
    finally:
        close = getattr(web, "close", None)
        if close:
            close()


def without_curves(row: Row) -> Row:
    """Leave out of a row what is no single figure."""
    return {name: value for name, value in row.items() if not name.endswith("curve")}
