"""thresher ui: the dashboard."""

from __future__ import annotations

import asyncio
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo
from thresher.cli.stores import opened
from thresher.errors import ConfigError
from thresher.fleet.binding import STORE_VARIABLE
from thresher.fleet.crawls import crawls_in
from thresher.fleet.links import HELLO_SECONDS, store_link

if TYPE_CHECKING:
    from thresher.dashboard.serve import Served

LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


@click.command()
@click.argument("dirs", nargs=-1, type=CRAWL, metavar="[DIR]...")
@click.option(
    "--store", metavar="URL", envvar=STORE_VARIABLE, help="A store whose crawls are shown, such as redis://…."
)
@click.option("--crawl", "names", multiple=True, metavar="NAME", help="A crawl of the store; all of them if left out.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="IP", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 for any that is free.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A further name under which browsers may ask.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def ui(
    dirs: tuple[Path, ...],
    store: str | None,
    names: tuple[str, ...],
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    no_open: bool,
) -> None:
    """Show crawls in a browser: numbers, pages with their reasons, the queue, hosts, and labels that teach.

    Several folders are shown side by side; with --store, the crawls of a shared store. It listens on this machine only,
    and asks for a token that is drawn at each start; the address that is printed holds it, and works once.
    """
    if host in EVERYWHERE and not allow_host:
        raise click.UsageError(f"--host {host} needs --allow-host NAME: the name by which browsers will ask")
    if not dirs and not store:
        raise click.UsageError("which crawl? Give folders, or --store URL")
    dashboard = _dashboard()
    with ExitStack() as kept:
        crawls = dashboard.by_name(_crawls(kept, dirs, store, names))
        if host not in LOOPBACK:
            echo(
                f"Who can listen to the line to {host} can read the token; better a tunnel, or a proxy with TLS.",
                err=True,
            )
        dashboard.serve(
            lambda: dashboard.Desk(crawls),
            dashboard.Place(host=host, port=port, names=allow_host),
            lambda served: _tell(served, open_browser=not no_open),
        )


def _dashboard() -> ModuleType:
    """Import the dashboard, which needs more than a crawl does.

    Raises:
        ConfigError: That is not installed.
    """
    try:
        from thresher.dashboard import serve
    except ModuleNotFoundError as error:
        raise ConfigError(f'the dashboard needs more packages: pip install "thresher[ui]" ({error})') from error
    return serve


def _crawls(kept: ExitStack, dirs: Sequence[Path], store: str | None, names: Sequence[str]) -> list[Crawl]:
    """Open the crawls that are asked for; those of a store have folders for as long as they are shown."""
    if dirs:
        return [kept.enter_context(opened(folder, store, None)) for folder in dirs]
    assert store is not None
    listed = names or asyncio.run(_names(store))
    if not listed:
        raise ConfigError("the store holds no crawl; put one in: thresher run DIR --store …")
    return [kept.enter_context(opened(None, store, name)) for name in listed]


async def _names(store: str) -> list[str]:
    link = store_link(store, patience_seconds=HELLO_SECONDS)
    try:
        return await crawls_in(link)
    finally:
        await link.close()


def _tell(served: Served, *, open_browser: bool) -> None:
    echo(served.address)
    echo(f"Open this address; it works once. Token for programs and other browsers: {served.token}", err=True)
    echo("Ctrl-C ends the dashboard; crawls go on.", err=True)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=[served.address], daemon=True).start()
