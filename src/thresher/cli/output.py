"""Output of commands: lines, tables and JSON, without terminal control characters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from thresher.locale.translation import Translatable, _, localized
from thresher.text.terminal import columns, printable, printable_json

if TYPE_CHECKING:
    from rich.text import Text

    from thresher.records import Forecast, ScoreBreakdown

CRAWL = click.Path(exists=True, file_okay=False, path_type=Path)
"""The type of every DIR argument."""

F = TypeVar("F", bound=Callable[..., Any])

_WIDE_KEY = "thresher.wide"
_PIPE_WIDTH, _WIDE = 120, 1_000_000
"""Columns of a table that is written to a pipe, and with --wide: each row in one line."""


def echo(line: object = "", *, err: bool = False) -> None:
    """Print one line in the user's language; every command prints through here, `echo_json` or `echo_table`."""
    click.echo(printable(localized(line)), err=err)


def padded(text: object, width: int, *, right: bool = False) -> str:
    """Return a text in the user's language, with spaces up to a number of columns; aligned left or right."""
    shown = localized(text)
    spaces = " " * (width - columns(shown))
    return spaces + shown if right else shown + spaces


class JsonOption(click.Option):
    """The option --json, with what the reference says about the result.

    Args:
        keys: The keys of the result and their meanings; a key is always there unless its meaning begins with "Only".
        rows: Whether the result is a list of such objects.
        note: A sentence on what else may be printed.
    """

    def __init__(
        self, *names: Any, keys: Mapping[str, str], rows: bool = False, note: str = "", **options: Any
    ) -> None:
        super().__init__(*names, **options)
        self.keys, self.rows, self.note = keys, rows, note


def json_option(keys: Mapping[str, str], *, rows: bool = False, note: str = "") -> Callable[[F], F]:
    """Add --json to a command; with it, standard output is one JSON document and nothing else."""
    text = "Print the result as JSON, and nothing else."
    return click.option("--json", "as_json", is_flag=True, cls=JsonOption, keys=keys, rows=rows, note=note, help=text)


wide_option = click.option(
    "--wide",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({_WIDE_KEY: value}),
    help="Print each row of the table in one line, however long.",
)
"""For commands whose tables have URLs or sentences; `echo_table` reads the value."""


def in_words(forecast: Forecast, waiting: int) -> Translatable:
    """Return a forecast as text."""
    return _(
        "{interval} of the {waiting:,} waiting URLs lead to relevant pages "
        "(90 % interval, computed after {pages:,} pages)",
        interval=forecast.interval,
        waiting=waiting,
        pages=forecast.pages,
    )


def values_of(breakdown: ScoreBreakdown) -> str:
    """Return the parts of a score as text."""
    return ", ".join(f"{name} {value:.3f}" for name, value in breakdown.items())


def echo_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(printable_json(value, indent=2))


def echo_table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers are right-aligned."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    listed = [[_cell(value) for value in row] for row in rows]
    for place, name in enumerate(names):
        numeric = all(isinstance(value[1], int | float) for row in listed if (value := row[place]))
        table.add_column(localized(name), justify="right" if numeric else "left", overflow="fold", no_wrap=numeric)
    for row in listed:
        table.add_row(*(text for text, _ in row))
    context = click.get_current_context(silent=True)
    is_wide = context.meta.get(_WIDE_KEY) if context else None  # None: the command has no such option
    on_pipe = _WIDE if is_wide is None else _PIPE_WIDTH
    width = _WIDE if is_wide else None if sys.stdout.isatty() else on_pipe
    console = Console(file=sys.stdout, highlight=False, width=width)
    console.print(table)


def _cell(value: Any) -> tuple[Text, Any]:
    from rich.text import Text

    if isinstance(value, float):
        return Text(f"{value:.3f}"), value
    if isinstance(value, int) and not isinstance(value, bool):
        return Text(f"{value:,}"), value
    return Text(printable(localized(value))), value
