"""Imports point downwards only, and what is heavy is imported only where it is named."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
LEVELS = [
    {"errors", "native", "reasons"},
    {"records"},
    {"atomic_file", "intervals", "registry", "linkgraph", "sqlite_files", "urls", "text"},
    {"objects"},
    {"charts", "modelstate", "config", "parsing", "frontier"},
    {"topics", "storage", "politeness", "traps"},
    {"judges"},
    {"strategies", "search", "export", "monitoring"},
    {"feedback", "refresh", "sitemaps", "training", "capacity", "collection"},
    {"pipeline", "coordination"},
    {"backend"},
    {"crawl"},
    {"engine"},
    {"assembly"},
    {"seeding"},
    {"operations", "verify", "batch"},
    {"status"},
    {"runner"},
    {"api", "dashboard", "scrapy_addon", "watch"},
    {"mcp_server"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
HEAVY = {
    "scrapy": {"scrapy_addon"},
    "twisted": {"scrapy_addon"},
    "zope": {"scrapy_addon"},
    "pycurl": {"engine"},
    "pypdfium2": {"parsing"},
    "redis": {"frontier"},
    "obstore": {"objects"},
    "ray": {"batch"},
    "playwright": {"engine"},
    "matplotlib": {"api"},
    "sklearn": {"judges", "strategies", "training"},
    "scipy": {"judges", "strategies"},
    "mcp": {"mcp_server"},
    "openai": {"feedback"},
    "starlette": {"dashboard", "mcp_server"},
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


@pytest.fixture(scope="module")
def imported():
    return {path.relative_to(SOURCE): [*imports_of(path)] for path in FILES}


def points_downwards(part, name):
    pieces = name.split(".")
    if pieces[0] != "thresher" or len(pieces) == 1 or pieces[1] in (part, "__version__"):
        return True
    return LEVEL[pieces[1]] < LEVEL[part]


def wrong_imports(imported, is_right):
    return [f"{path} imports {name}" for path, names in imported.items() for name in names if not is_right(path, name)]


def test_imports_point_downwards(imported):
    assert not wrong_imports(imported, lambda path, name: points_downwards(part_of(SOURCE / path), name))


def test_heavy_packages_stay_in_their_place(imported):
    def is_right(path, name):
        allowed = HEAVY.get(name.split(".")[0])
        return allowed is None or part_of(SOURCE / path) in allowed

    assert not wrong_imports(imported, is_right)


def test_every_part_has_one_level():
    assert {part_of(path) for path in FILES} == set(LEVEL)
    assert sum(map(len, LEVELS)) == len(LEVEL)


def test_thresher_never_imports_the_lab(imported):
    assert not wrong_imports(imported, lambda path, name: name.partition(".")[0] != "thresher_lab")


WITHOUT_SCRAPY = """
import importlib, pkgutil, sys
for name in ("scrapy", "twisted", "zope"):
    sys.modules[name] = None  # as if it were not installed
import thresher
for module in pkgutil.walk_packages(thresher.__path__, "thresher."):
    if not module.name.startswith("thresher.scrapy_addon") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
try:
    import thresher.scrapy_addon
except ImportError as error:
    print(error)
"""


def test_only_the_add_on_needs_scrapy_and_says_how_to_get_it():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_SCRAPY], capture_output=True, text=True, check=True)
    assert ran.stdout == 'the Scrapy add-on needs Scrapy: pip install "thresher-crawler[scrapy]"\n'


def test_help_imports_neither_scrapy_nor_scikit_learn():
    script = (
        "import sys, thresher.cli as c\ntry: c.thresher.main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scrapy", "twisted", "sklearn", "pydantic", "rich", "pyarrow"} & set(loaded)
