"""The command line: one module per command, each a thin call into the packages below.

`thresher --help` must be fast, so a command's module is imported only when the command is called; the sentences here
are the first ones of the commands' own help, and a test compares them. Installed packages add commands by entry points
in the group ``thresher.commands``, as `thresher_lab` does.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import click

from thresher import __version__
from thresher.errors import ThresherError, did_you_mean, system_error
from thresher.text.terminal import printable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = {
    "demo": "Crawl a made-up web on this machine, three strategies side by side; no network needed.",
    "new": "Start a crawl: write topic.yaml and seeds.txt into a new folder.",
    "seeds": "Find pages to start a crawl from, judge them, and add those that you accept to seeds.txt.",
    "topics": "Find, show and list topics of the bundled taxonomy or of another; import one such as ODP.",
    "try": "Fetch a page, judge it and explain the verdict; nothing is stored.",
    "run": "Crawl, or continue where the last run stopped.",
    "work": "Join a crawl that was started on another machine, and work for it until it ends.",
    "stop": "Stop a crawl: workers finish open requests, save and exit, on all machines.",
    "status": "Print the status of a crawl.",
    "why": "Explain a URL: one sentence on its state, then its path from a seed and the parts of its scores.",
    "frontier": "List the URLs that come next.",
    "hosts": "List hosts: their pages, harvest, block pages, delay, and why they are parked.",
    "label": "Label pages as on topic or not; the judge is retrained, and verdicts and queue are updated.",
    "search": 'Search the pages of a crawl, in English and Chinese; "quoted words" must be adjacent.',
    "export": "Write the pages of a crawl, most relevant first; or its hosts, its links, or its pages in chunks.",
    "batch": "Run a job over all pages of a crawl: judge them again, group near duplicates, rank them by links.",
    "watch": "Watch a topic: revisit pages and search for new ones on a schedule, and report what changed.",
    "changes": "List the pages that are new, changed, moved or gone since the last refresh.",
    "gather": "Copy a collection into a folder: all pages of all machines, for work without a network.",
    "verify": "Check that archive, pages and frontier of a crawl agree; repair what a crash left.",
    "strategies": "List the crawl strategies, or describe one.",
    "collect": "Gather training data for a strategy, train its model, and report the quality of the model.",
    "judges": "List the judges of pages, or describe one.",
    "plan": "Estimate what a crawl of a given size needs: workers, store, RAM, disk, traffic, days, its bottleneck.",
    "lab": "Try and compare strategies on frozen webs, without a network.",
    "ui": "Show crawls in a browser: status, pages with explanations, the queue, hosts, and labelling.",
    "mcp": "Offer the crawls of a folder to an AI agent, as tools of the Model Context Protocol.",
    "doctor": "Check this machine: what is installed, what is missing, how to get it.",
}
_MODULES = {"try": "try_page", "strategies": "listing", "judges": "listing"}
"""Modules that are not named like their commands."""
_LAB_COMMANDS = ("demo", "lab")
"""Commands of `thresher_lab`, listed here so that the help does not import them."""
_RENAMED = {"train": "thresher collect; for a frozen web: thresher lab train"}
"""Commands of earlier versions."""
_GROUP = "thresher.commands"


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports them when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of `COMMANDS`, those of other packages last."""
        return [*COMMANDS, *_others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: click.Command
        if cmd_name in COMMANDS and cmd_name not in _LAB_COMMANDS:
            module = import_module(f"thresher.cli.{_MODULES.get(cmd_name, cmd_name)}")
            command = module.try_page if cmd_name == "try" else getattr(module, cmd_name)
            return command
        installed = _installed()
        if cmd_name not in installed:
            return None
        command = installed[cmd_name].load()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, suggest a similar one."""
        name = args[0]
        if name in _RENAMED:
            ctx.fail(f"thresher {name} is now {_RENAMED[name]}")
        if name not in COMMANDS and not name.startswith("-") and name not in _installed():
            ctx.fail(f"no command is called {name!r};{did_you_mean(name, COMMANDS)} thresher --help lists all")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing those of Thresher."""
        others = [(name, entry.load().get_short_help_str()) for name, entry in _others().items()]
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *others])


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # imported lazily: most commands are our own, and it takes long

    return {entry.name: entry for entry in entry_points(group=_GROUP)}


def _others() -> dict[str, EntryPoint]:
    """Return the commands of other packages."""
    return {name: entry for name, entry in _installed().items() if name not in {*COMMANDS, *_RENAMED}}


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="thresher")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
def thresher(debug: bool) -> None:
    """Find the pages about a topic, and fetch as few others as possible.

    Start here:  thresher new DIR --topic "a phrase" --seed https://…
    """


def main() -> None:
    """Run a command; known errors, also of the operating system and SQLite, become a message and an exit code."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through all installed packages
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
    """Discard output that cannot be written: Python would try again at exit, and print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
