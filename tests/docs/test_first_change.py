"""The first change that CONTRIBUTING.md describes works: its patches apply, its test fails before and passes after."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.docs.blocks import ROOT, blocks_of

NEEDED = (
    "pyproject.toml",
    "src/thresher",
    "testing",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/levels.py",
    "tests/unit/urls",
)


@pytest.fixture
def repository(tmp_path):
    """A copy of what the change touches, and of what its test imports."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def steps():
    """Return the blocks of the section in their order."""
    page = ROOT / "CONTRIBUTING.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    start = lines.index("## Your first change, in ten minutes")
    end = next(number for number in range(start + 1, len(lines)) if lines[number].startswith("## "))
    return [block for block in blocks_of(page) if start < block.line < end]


def apply(block, folder):
    done = subprocess.run(
        ["git", "apply", "--unidiff-zero"], cwd=folder, input=block.text, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{block.place}: {done.stderr}"


def codes(block, folder):
    """Run the commands of a block in the copy, and return their exit codes."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
    commands = [[sys.executable, *shlex.split(command)[1:]] for command in block.commands]
    return [
        subprocess.run(command, cwd=folder, env=environment, capture_output=True).returncode for command in commands
    ]


def test_the_first_change_works_as_described(repository):
    write_test, fails, change, passes = steps()
    apply(write_test, repository)
    assert codes(fails, repository) == [1]
    apply(change, repository)
    assert codes(passes, repository) == [0, 0, 0]
