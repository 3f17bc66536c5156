"""thresher ui: the dashboard."""

from __future__ import annotations

import asyncio
import re
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from thresher.cli.output import CRAWL, echo
from thresher.cli.stores import opened
from thresher.coordination.connection import CONNECT_SECONDS, connect_store
from thresher.coordination.crawls import crawls_in
from thresher.coordination.store_binding import STORE_VARIABLE
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.frontier.base import async_closing
from thresher.locale.translation import _, localized

if TYPE_CHECKING:
    from thresher_ui.dashboard.serve import Served

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_PUBLIC_URL = re.compile(r"https?://[^/?#@\s]+", re.IGNORECASE).fullmatch
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


@click.command()
@click.argument("dirs", nargs=-1, type=CRAWL, metavar="[DIR]...")
@click.option(
    "--store",
    metavar="URL",
    envvar=STORE_VARIABLE,
    help="A store whose crawls are shown, such as redis://10.0.0.5:6379/0.",
)
@click.option(
    "--crawl",
    "names",
    multiple=True,
    metavar="NAME",
    help="A crawl of the store, such as solar; by default all of them.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="IP", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 for any free port.")
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A further host name that browsers may use, such as crawler.example.org.",
)
@click.option(
    "--public-url",
    default="",
    metavar="URL",
    help="Where browsers reach it through a proxy, such as https://crawler.example.org; https makes its cookie Secure.",
)
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def ui(
    dirs: tuple[Path, ...],
    store: str | None,
    names: tuple[str, ...],
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    public_url: str,
    no_open: bool,
) -> None:
    """Show crawls in a browser, and label pages there.

    The screens show status, pages with explanations, the queue, and hosts. Several folders are shown side by side; with
    --store, the crawls of a shared store. By default it listens on this machine only. It requires a token that is new
    at each start; the printed address logs in once.

    \b
    Examples:
      thresher ui solar wind
      thresher ui --store redis://10.0.0.5:6379/0 --port 9000 --no-open
    """
    public_url = public_url.lower().rstrip("/")
    if public_url and not _PUBLIC_URL(public_url):
        raise click.UsageError(
            localized(_("--public-url takes a scheme and a host, such as https://crawler.example.org"))
        )
    if host in EVERYWHERE and not (allow_host or public_url):
        needed = _("--host {host} needs --allow-host NAME or --public-url: the name that browsers will use", host=host)
        raise click.UsageError(localized(needed))
    if not dirs and not store:
        raise click.UsageError(localized(_("which crawl? Give folders, or --store URL")))
    dashboard = _dashboard()
    with ExitStack() as kept:
        crawls = dashboard.by_name(_crawls(kept, dirs, store, names))
        if host not in LOOPBACK and not public_url.startswith("https://"):
            readable = _(
                "Connections to {host} are not encrypted, so the token can be read; use a tunnel or a TLS proxy.",
                host=host,
            )
            echo(readable, err=True)
        dashboard.serve(
            lambda: dashboard.CrawlService(crawls),
            dashboard.ListenAddress(host=host, port=port, names=allow_host, public_url=public_url),
            lambda served: _announce(served, open_browser=not no_open),
        )


def _dashboard() -> ModuleType:
    """Import the dashboard, which needs more packages than a crawl.

    Raises:
        ConfigError: They are not installed.
    """
    try:
        from thresher_ui.dashboard import serve
    except ModuleNotFoundError as error:
        raise ConfigError(
            _('the dashboard needs more packages: pip install "thresher-crawler[ui]" ({error})', error=error)
        ) from error
    return serve


def _crawls(kept: ExitStack, dirs: Sequence[Path], store: str | None, names: Sequence[str]) -> list[CrawlSetup]:
    """Open the requested crawls; those of a store get temporary folders."""
    if dirs:
        return [kept.enter_context(opened(folder, store, None)) for folder in dirs]
    assert store is not None
    listed = names or asyncio.run(_names(store))
    if not listed:
        raise ConfigError(_("the store has no crawl; start one: thresher run DIR --store …"))
    return [kept.enter_context(opened(None, store, name)) for name in listed]


async def _names(store: str) -> list[str]:
    async with async_closing(connect_store(store, patience_seconds=CONNECT_SECONDS)) as connection:
        return await crawls_in(connection)


def _announce(served: Served, *, open_browser: bool) -> None:
    echo(served.address)
    if "?key=" in served.address:
        how = _(
            "Open this address; it logs in once. Token for programs and other browsers: {token}", token=served.token
        )
    else:
        how = _("Open this address. Token for programs and other browsers: {token}", token=served.token)
    echo(how, err=True)
    echo(_("Ctrl-C ends the dashboard; crawls continue."), err=True)
    if open_browser:
        threading.Thread(target=webbrowser.open, args=[served.address], daemon=True).start()
