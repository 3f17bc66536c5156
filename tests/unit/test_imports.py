"""Imports point downwards only, and what is heavy is imported only where it is named."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
LEVELS = [
    {"errors", "records", "sqlite_read"},
    {"urls", "text", "linkgraph", "config", "config_file", "chromium", "folder", "labels", "plan", "yaml_tree"},
    {"topics", "parse", "classify"},
    {"strategies", "frontier", "archive"},
    {
        "settle",
        "recollect",
        "rethink",
        "outlook",
        "failures",
        "ended",
        "wishes",
        "crew",
        "hearing",
        "backoff",
        "line",
        "registry",
        "warden",
        "budgets",
        "traps",
        "sitemaps",
        "copies",
        "fleet",
        "refresh",
        "search",
        "totals",
    },
    {"build", "training"},
    {
        "engine",
        "lab",
        "explain",
        "attempt",
        "founding",
        "hosts",
        "revisits",
        "labelled_urls",
        "listeners",
        "teaching",
        "verify",
    },
    {"dashboard"},
    {"cli", "api"},
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
WITHIN = {("config_file", "config"), ("config_file", "yaml_tree"), ("chromium", "config")}
WITHIN |= {("line", part) for part in ("settle", "rethink", "backoff", "warden", "copies", "refresh")}
WITHIN |= {
    ("teaching", "labelled_urls"),
    ("teaching", "listeners"),
    ("hearing", "crew"),
    ("hearing", "rethink"),
    ("rethink", "outlook"),
    ("rethink", "recollect"),
}
WITHIN |= {("warden", part) for part in ("budgets", "traps", "sitemaps")}
"""Files of one subject that were parted for length know each other."""
HEAVY = {
    "scrapy": {"engine"},
    "twisted": {"engine"},
    "redis": {"frontier"},
    "playwright": {"engine"},
    "matplotlib": {"lab", "api"},
    "sklearn": {"classify", "strategies", "training", "lab"},
    "scipy": {"classify", "strategies", "lab"},
    "starlette": {"dashboard"},
    "uvicorn": {"dashboard"},
}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "thresher":
                yield from (f"thresher.{alias.name}" for alias in node.names)


def part_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


FILES = [path for path in SOURCE.rglob("*.py") if part_of(path) not in ("__init__", "__main__")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downwards(path):
    part = part_of(path)
    for name in imports_of(path):
        pieces = name.split(".")
        if pieces[0] == "thresher" and len(pieces) > 1 and pieces[1] not in (part, "__version__"):
            below = LEVEL[pieces[1]] < LEVEL[part]
            assert below or (part, pieces[1]) in WITHIN, f"{path.relative_to(SOURCE)} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_stay_in_their_place(path):
    for name in imports_of(path):
        allowed = HEAVY.get(name.split(".")[0])
        assert allowed is None or part_of(path) in allowed, f"{path.relative_to(SOURCE)} imports {name}"


def test_every_part_has_one_level():
    assert {part_of(path) for path in FILES} == set(LEVEL)
    assert sum(map(len, LEVELS)) == len(LEVEL)


def test_parts_of_one_level_that_know_each_other_really_do():
    known = {
        (part_of(path), name.split(".")[1]) for path in FILES for name in imports_of(path) if name[:9] == "thresher."
    }
    assert known >= WITHIN
    assert {pair for pair in WITHIN if LEVEL[pair[0]] != LEVEL[pair[1]]} == set()


def test_help_imports_neither_scrapy_nor_scikit_learn():
    script = (
        "import sys, thresher.cli as c\ntry: c.thresher.main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scrapy", "twisted", "sklearn", "pydantic", "rich", "pyarrow"} & set(loaded)
