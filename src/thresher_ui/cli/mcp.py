"""thresher mcp: a server for AI agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from thresher.cli.output import echo
from thresher.errors import ConfigError
from thresher.urls.address_policy import networks

if TYPE_CHECKING:
    from thresher_ui.dashboard.serve import Served


@click.command()
@click.argument("root", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--allow-changes", is_flag=True, help="Also offer the tools that write, fetch and start runs.")
@click.option(
    "--allow-network",
    multiple=True,
    metavar="CIDR",
    help="A private network that crawls created here may fetch from, such as 10.0.0.0/8.",
)
@click.option("--http", is_flag=True, help="Serve over HTTP, with a token, in place of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="IP", help="With --http: where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8766, show_default=True, help="0 for any free port.")
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="With --http: a further name in the Host header, such as crawler.example.org.",
)
def mcp(
    root: Path,
    allow_changes: bool,
    allow_network: tuple[str, ...],
    http: bool,
    host: str,
    port: int,
    allow_host: tuple[str, ...],
) -> None:
    """Offer crawls to an AI agent as tools (MCP).

    The tools follow the Model Context Protocol. Every folder in ROOT with a topic.yaml is a crawl. By default the agent
    can only read; page text is marked as untrusted in all results. The agent's program starts this command and talks to
    it over standard input and output.

    With --http it listens, by default on this machine only, and requires the token that it prints; THRESHER_UI_TOKEN
    sets it.

    \b
    Examples:
      thresher mcp crawls
      thresher mcp crawls --allow-changes --http --port 9000
    """
    _check_networks(allow_network)
    try:
        from thresher_ui.dashboard.serve import ListenAddress
        from thresher_ui.mcp_server.server import make_server, serve_http
        from thresher_ui.mcp_server.tools import CrawlTools
    except ModuleNotFoundError as error:
        raise ConfigError(f'thresher mcp needs more packages: pip install "thresher-crawler[mcp]" ({error})') from error
    server = make_server(CrawlTools(root, networks=allow_network), allow_changes=allow_changes)
    if http:
        serve_http(server, ListenAddress(host=host, port=port, names=allow_host), _announce)
    else:
        server.run("stdio")


def _check_networks(given: tuple[str, ...]) -> None:
    try:
        networks(list(given))
    except ValueError as error:
        raise click.UsageError(f"--allow-network: {error}") from error


def _announce(served: Served) -> None:
    echo(served.address.partition("/login")[0] + "/mcp")
    echo(f"Send the token as Authorization: Bearer {served.token}", err=True)
