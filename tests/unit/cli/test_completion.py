"""Completion in a real shell."""

import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import get_completion_class

from testing.commands import called
from thresher.cli import thresher
from thresher.cli.completion import SHELLS

ASK = """\
eval "$(thresher completion bash)"
COMP_WORDS=({words}); COMP_CWORD={last}
_thresher_completion thresher
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(folder, *words):
    """Ask bash what it would offer for the last word."""
    script = ASK.format(words=" ".join(f"'{word}'" for word in words), last=len(words) - 1)
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash on this machine")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("thresher", "st"), ["stop", "status", "strategies"]),
        (("thresher", "run", "solar", "--mi"), ["--minutes"]),
        (("thresher", "topics", "f"), ["find"]),
        (("thresher", "batch", "du"), ["duplicates"]),
    ],
)
def test_bash_completes_commands_options_and_values(tmp_path, words, offered):
    assert completed(tmp_path, *words) == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_the_printed_script_is_the_one_of_click(tmp_path, shell):
    done = called("completion", shell, folder=tmp_path)
    script = get_completion_class(shell)(thresher, {}, "thresher", "_THRESHER_COMPLETE")
    assert done.returncode == 0
    assert done.stdout.split() == script.source().split()


def test_an_unknown_shell_is_refused_with_the_known_ones(tmp_path):
    done = called("completion", "tcsh", folder=tmp_path)
    assert done.returncode == 2
    assert all(shell in done.stderr for shell in SHELLS)


def test_completing_a_command_imports_none_of_them():
    before = set(sys.modules)
    items = thresher.shell_complete(click.Context(thresher), "wa")
    assert [item.value for item in items] == ["watch"]
    assert not {name for name in set(sys.modules) - before if name.startswith("thresher.cli.")}
