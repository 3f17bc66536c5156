"""The command line: one file per command, each a thin call into the layers below.

`thresher --help` must answer at once, so a command's module is imported only when the command is called; the
sentences here are the first ones of the commands' own help, and a test compares them.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import suppress
from importlib import import_module

import click

from thresher import __version__
from thresher.errors import ThresherError, did_you_mean, system_error
from thresher.text.printable import printable

COMMANDS = {
    "demo": "Crawl a made-up web on this machine, three strategies side by side; no network needed.",
    "new": "Start a crawl: write topic.yaml and seeds.txt into a new folder.",
    "topics": "Import a taxonomy such as ODP; find, show and list its topics.",
    "try": "Fetch a page, judge it and say why; nothing is stored.",
    "run": "Crawl, or go on where the last run stopped.",
    "work": "Join a crawl that was begun on another machine, and work for it until it ends.",
    "stop": "Stop a crawl: workers finish what is open, save and leave, on all machines.",
    "status": "Print a crawl in numbers.",
    "why": "Say why a page is there or not: one sentence, then its path from a seed and the parts of its scores.",
    "frontier": "List the URLs that come next.",
    "hosts": "List hosts: their pages, harvest, delay, and why they are parked.",
    "label": "Label pages as on topic or not; the judge is retrained, and verdicts and queue are updated.",
    "search": 'Search the pages of a crawl, in English and Chinese; "quoted words" stand next to each other.',
    "export": "Write the pages of a crawl, most relevant first; or its hosts, or its links.",
    "changes": "List the pages that are new, changed, moved or gone since the last refresh.",
    "verify": "Check that archive, pages and frontier of a crawl agree; mend what a crash left.",
    "strategies": "List the crawl strategies, or describe one.",
    "train": "Learn what a strategy must know before it crawls: from an earlier crawl, or from a frozen web.",
    "judges": "List the judges of pages, or describe one.",
    "plan": "Say what a crawl of a given size needs: workers, store, RAM, disk, line, days, and what limits it first.",
    "lab": "Try and compare strategies on frozen webs, without a network.",
    "ui": "Show crawls in a browser: numbers, pages with their reasons, the queue, hosts, and labels that teach.",
    "doctor": "Look at this machine: what is there, what is missing, how to get it.",
}
_PLACES = {"try": "try_page"}
"""Where a command is found whose own name Python keeps for itself."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports them when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order a user meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        place = _PLACES.get(cmd_name, cmd_name)
        command: click.Command = getattr(import_module(f"thresher.cli.{place}"), place)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of a name that is unknown say which one is close."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command is called {args[0]!r};{did_you_mean(args[0], COMMANDS)} thresher --help lists all")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="thresher")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def thresher(debug: bool) -> None:
    """Find the pages about a topic, and fetch as few others as possible.

    Start here:  thresher new DIR --topic "a phrase" --seed https://…
    """


def main() -> None:
    """Run a command; errors of ours, of the operating system and of SQLite end in words and an exit code."""
    try:
        try:
            thresher.main()
        finally:
            sys.stdout.flush()
    except (ThresherError, OSError, sqlite3.Error) as error:
        if "--debug" in sys.argv:
            raise
        known = error if isinstance(error, ThresherError) else system_error(error)
        for line in str(known).splitlines():
            click.echo(printable(line), err=True)
        _drop_output()
        sys.exit(known.exit_code)


def _drop_output() -> None:
    """Discard output that cannot be written: Python would try again at its end, and print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
