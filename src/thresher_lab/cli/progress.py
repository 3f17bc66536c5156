"""Progress of many crawls of the lab."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from thresher.cli.output import echo

PLAIN_SECONDS = 5.0
STOPPED = 11
"""The exit code after a stop by the user."""


class LabReporter:
    """A bar on a terminal; elsewhere a plain line every few seconds, and at the end."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(file=sys.stderr), transient=True)
        self._task = self._bar.add_task("crawls", total=None)
        self._next = 0.0

    def __enter__(self) -> LabReporter:
        if self._bar.console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar.console.is_terminal:
            self._bar.stop()

    def show(self, done: int, total: int) -> None:
        if self._bar.console.is_terminal:
            self._bar.update(self._task, completed=done, total=total)
        elif done == total or time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            echo(f"{done:,} of {total:,} crawls", err=True)
