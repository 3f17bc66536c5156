"""The command line: one module per command, each a thin call into the packages below.

`thresher --help` must be fast, so a command's module is imported only when the command is called; the sentences here
are the first ones of the commands' own help, and a test compares them. Installed packages add commands by entry points
in the group ``thresher.commands``, as the other packages of this wheel do.
"""

from __future__ import annotations

import gettext
import os
import sqlite3
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from thresher import __version__
from thresher.errors import ThresherError, did_you_mean, system_error
from thresher.locale.translation import DOMAIN, ENGLISH, LOCALE, _, environment_language, localized
from thresher.runner import limit_libraries
from thresher.text.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

TASKS = {
    "Start a crawl": {
        "demo": "Crawl a made-up web on this machine; no network needed.",
        "new": "Start a crawl: write topic.yaml and seeds.txt to a folder.",
        "seeds": "Find pages to start a crawl from, and judge them.",
        "topics": "Find and show topics of a taxonomy; import another one.",
        "try": "Fetch and judge a page, and explain the verdict.",
    },
    "Run it": {
        "run": "Crawl, or continue where the last run stopped.",
        "stop": "Stop a crawl, on all its machines.",
        "watch": "Crawl on a schedule, and report what changed.",
        "verify": "Check and repair the files and the queue of a crawl.",
    },
    "Look at it": {
        "status": "Show pages, harvest rate and queue of a crawl.",
        "why": "Explain why a URL was crawled, or why not.",
        "frontier": "List the URLs that come next.",
        "hosts": "List hosts; release parked ones.",
        "changes": "List pages that are new, changed, moved or gone.",
        "ui": "Show crawls in a browser, and label pages there.",
    },
    "Take pages out": {
        "search": "Search the text of the pages, in English and Chinese.",
        "export": "Write pages, hosts or links to a file.",
        "batch": "Run a job over all pages: rejudge, duplicates, links.",
        "mcp": "Offer crawls to an AI agent as tools (MCP).",
    },
    "Teach it": {
        "label": "Label pages as on topic or not; the judge is retrained.",
        "train": "Collect training data and train a strategy.",
        "judges": "List the judges of pages, or describe one.",
        "strategies": "List the crawl strategies, or describe one.",
    },
    "Many machines": {
        "join": "Join a crawl that was started on another machine.",
        "pull": "Copy the pages of all machines into a folder.",
        "plan": "Estimate workers, memory, disk and days of a crawl.",
    },
    "Research": {
        "lab": "Compare strategies on frozen webs, without a network.",
    },
    "This machine": {
        "identity": "Sign requests, so that sites can verify who crawls (Web Bot Auth).",
        "doctor": "Check what is installed and what is missing.",
        "completion": "Print the completion script of a shell.",
    },
}
"""The commands by task, in the order of the help."""
COMMANDS = {name: does for commands in TASKS.values() for name, does in commands.items()}
FIRST = ("demo", "new", "try", "run", "status", "why", "search", "export", "label", "ui")
"""The commands of the help's first screen; ``--all`` lists the others too."""
_ALL = "thresher.cli.all"
_MODULES = {"try": "try_page", "strategies": "listing", "judges": "listing"}
"""Modules that are not named like their commands."""
_ELSEWHERE = ("demo", "lab", "mcp", "train", "ui")
"""Commands of the other packages of this wheel, listed here so that the help does not import them."""
_RENAMED = {"collect": "train", "gather": "pull", "work": "join"}
"""Commands of earlier versions, which are accepted until the next one."""
_GROUP = "thresher.commands"


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports them when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of `COMMANDS`, those of other packages last."""
        return [*COMMANDS, *_others()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command: click.Command
        cmd_name = _RENAMED.get(cmd_name, cmd_name)
        if cmd_name in COMMANDS and cmd_name not in _ELSEWHERE:
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
            name = _RENAMED[args[0]]
            renamed = _("warning: thresher {old} is called thresher {new} now", old=args[0], new=name)
            click.echo(localized(renamed), err=True)
            args = [name, *args[1:]]
        if name not in COMMANDS and not name.startswith("-") and name not in _installed():
            hint = did_you_mean(name, COMMANDS)
            ctx.fail(
                localized(_("no command is called {name!r};{hint} thresher --all lists all", name=name, hint=hint))
            )
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let ``--all`` choose the help's commands wherever it stands: ``--help`` ends the parsing."""
        ctx.meta[_ALL] = "--all" in args
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the first commands, or all by task, without importing those of Thresher."""
        if not ctx.meta.get(_ALL):
            with formatter.section(localized(_("Commands (--all lists all {number})", number=len(COMMANDS)))):
                formatter.write_dl(_aligned({name: COMMANDS[name] for name in FIRST}))
            return
        for task, commands in TASKS.items():
            with formatter.section(localized(_(task))):
                formatter.write_dl(_aligned(commands))
        if others := {name: entry.load().get_short_help_str() for name, entry in _others().items()}:
            with formatter.section("Other packages"):
                formatter.write_dl(_aligned(others))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command, without importing the commands."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        found = {name: does for name, does in COMMANDS.items() if name.startswith(incomplete)}
        return [CompletionItem(name, help=localized(_(does))) for name, does in found.items()]


def _aligned(commands: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pad the names, so that the texts of all tasks begin in the same column."""
    width = max(map(len, COMMANDS))
    return [(name.ljust(width), localized(_(does))) for name, does in commands.items()]


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # imported lazily: most commands are our own, and it takes long

    return {entry.name: entry for entry in entry_points(group=_GROUP)}


def _others() -> dict[str, EntryPoint]:
    """Return the commands of other packages."""
    return {name: entry for name, entry in _installed().items() if name not in {*COMMANDS, *_RENAMED}}


def _print_help(ctx: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="thresher")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.option(
    "--all", "all_commands", is_flag=True, is_eager=True, expose_value=False, callback=_print_help,
    help="List all commands.",
)  # fmt: skip
def thresher(debug: bool) -> None:
    """Find the pages about a topic, and fetch as few others as possible.

    \b
    Examples:
      thresher demo
      thresher new solar --topic "solar cells; 太阳能电池" --seed https://example.org/
      thresher run solar --pages 500

    thresher COMMAND --help explains a command, with examples.
    """


def main() -> None:
    """Run a command; known errors, also of the operating system and SQLite, become a message and an exit code."""
    limit_libraries()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through all installed packages
    warnings.showwarning = _print_warning
    if environment_language() != ENGLISH:  # click takes the texts of its own errors from the domain
        gettext.bindtextdomain(DOMAIN, str(LOCALE))
        gettext.textdomain(DOMAIN)
    try:
        try:
            thresher.main()
        finally:
            sys.stdout.flush()
    except (ThresherError, OSError, sqlite3.Error) as error:
        if "--debug" in sys.argv:
            raise
        known = error if isinstance(error, ThresherError) else system_error(error)
        for line in localized(known).splitlines():
            click.echo(printable(line), err=True)
        _drop_output()
        sys.exit(known.exit_code)


def _print_warning(message: Warning | str, *_rest: object, **_more: object) -> None:
    """Print a warning for the user as one line, without the place in the source."""
    click.echo(printable(localized(_("warning: {message}", message=str(message)))), err=True)


def _drop_output() -> None:
    """Discard output that cannot be written: Python would try again at exit, and print a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
