"""Commands that look at a crawl or write its settings, called without a process of their own.

Starting Python and reading all modules takes a second of a processor; commands that fetch nothing need no process to
be themselves. Their entrance is the one of ``python -m thresher``: what it prints and its exit code are the user's.
"""

from __future__ import annotations

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from testing.command_tree import check_json
from thresher.cli import main

PROCESSES = {"demo", "join", "run", "seeds", "train", "try"}
"""These make processes, take signals or turn a reactor: they are never called here."""


def called(*arguments: object, folder: Path) -> CompletedProcess[str]:
    """Call a command as if from a folder."""
    words = list(map(str, arguments))
    assert words[0] not in PROCESSES, f"{words[0]} needs a process of its own"
    out, err = _paper(), _paper()
    with (
        chdir(folder),
        patch.object(sys, "argv", ["thresher", *words]),
        patch.dict("os.environ", {"NO_COLOR": "1"}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = _exit_code()
    check_json(words, printed := _read(out))
    return CompletedProcess(words, code, printed, _read(err))


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _paper() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _read(paper: io.TextIOWrapper) -> str:
    paper.seek(0)
    return paper.read()
