"""What a reader is instructed to do and a test should not do: installing, editing, building. It is checked instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import yaml

from tests.docs.blocks import ROOT
from tests.e2e.conftest import quick


class Failed(AssertionError):
    """A command of the documentation did not do what it should."""


def require(path: Path) -> None:
    """Say so when a file is not there."""
    if not path.exists():
        raise Failed(f"{path} is not there")


def _installs(words: list[str], _line: str, _folder: Path) -> None:
    """Packages must be ours with extras that exist, or folders of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in [word for before, word in pairwise(words) if not word.startswith("-") and before != "-c"]:
        ours = re.fullmatch(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,]+)\])?", word)
        if ours and ours["name"] in (".", project["name"]):
            wanted = set((ours["extras"] or "").split(",")) - {""}
            if wanted - set(project["optional-dependencies"]):
                raise Failed(f"there is no extra {wanted}")
        else:
            require(ROOT / word)


def _edits(words: list[str], line: str, folder: Path) -> None:
    """Files must be there; what the comment says is written into the first one."""
    for word in words:
        require(folder / word if (folder / word).exists() else ROOT / word)
    printed = yaml.safe_load(line.partition("#")[2]) if "#" in line else None
    if isinstance(printed, dict):
        [name, value] = next(iter(printed.items()))
        quick(folder / Path(words[0]).parent, **{name: yaml.safe_dump(value, default_flow_style=True).strip()})


def _makes(words: list[str], _line: str, _folder: Path) -> None:
    """Targets must be in the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        if not re.search(rf"^{word}:", text, flags=re.MULTILINE):
            raise Failed(f"make {word}: there is no such target")


CHECKS: dict[str, Callable[[list[str], str, Path], None]] = {"pip": _installs, "vi": _edits, "make": _makes}
