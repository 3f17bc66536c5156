"""Imports point downwards only, and what is heavy is imported only where it is named."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
LEVELS = [
    {"locale"},
    {"compression", "errors", "native", "reasons"},
    {"records"},
    {"atomic_file", "intervals", "registry", "linkgraph", "sqlite_files", "urls", "text"},
    {"objects"},
    {"charts", "modelstate", "config", "parsing", "frontier"},
    {"topics", "storage", "politeness", "traps"},
    {"judges"},
    {"strategies", "search", "export", "monitoring"},
    {"feedback", "refresh", "sitemaps", "capacity", "collection"},
    {"pipeline", "coordination"},
    {"backend"},
    {"crawl"},
    {"engine"},
    {"assembly"},
    {"seeding"},
    {"operations", "verify", "batch"},
    {"status"},
    {"runner"},
    {"api", "watch"},
    {"cli"},
]
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
PACKAGES = {
    "thresher": set(),
    "thresher_papers": {"thresher"},
    "thresher_ui": {"thresher"},
    "thresher_scrapy": {"thresher"},
    "thresher_lab": {"thresher", "thresher_papers"},
}
"""The import packages of the wheel, and which of them each may import."""
HEAVY = {
    "scrapy": {"thresher_scrapy"},
    "twisted": {"thresher_scrapy"},
    "zope": {"thresher_scrapy"},
    "dns": {"thresher.engine"},
    "pycurl": {"thresher.engine"},
    "pypdfium2": {"thresher.parsing"},
    "redis": {"thresher.frontier"},
    "obstore": {"thresher.objects"},
    "ray": {"thresher.batch"},
    "playwright": {"thresher.engine"},
    "matplotlib": {"thresher.api", "thresher_lab"},
    "sklearn": {"thresher_papers", "thresher_lab"},
    "scipy": {"thresher_papers", "thresher_lab"},
    "mcp": {"thresher_ui"},
    "openai": {"thresher.feedback"},
    "starlette": {"thresher_ui"},
    "uvicorn": {"thresher_ui"},
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
ALL_FILES = [path for package in PACKAGES for path in (SOURCE.parent / package).rglob("*.py")]


@pytest.fixture(scope="module")
def imported():
    """The modules that each file imports, by its module name with all that it names."""
    return {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): [*imports_of(path)] for path in ALL_FILES}


def is_in(module, packages):
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def points_downwards(module, name):
    part, pieces = (*module.split("."), "__init__")[1], name.split(".")
    if module.partition(".")[0] != "thresher" or part in ("__init__", "__main__"):
        return True
    if pieces[0] != "thresher" or len(pieces) == 1 or pieces[1] in (part, "__version__"):
        return True
    return LEVEL[pieces[1]] < LEVEL[part]


def wrong_imports(imported, is_right):
    return [
        f"{module} imports {name}" for module, names in imported.items() for name in names if not is_right(module, name)
    ]


def test_imports_point_downwards(imported):
    assert not wrong_imports(imported, points_downwards)


def test_heavy_packages_stay_in_their_place(imported):
    assert not wrong_imports(
        imported, lambda module, name: is_in(module, HEAVY.get(name.partition(".")[0], PACKAGES.keys()))
    )


def test_every_part_has_one_level():
    assert {part_of(path) for path in FILES} == set(LEVEL)
    assert sum(map(len, LEVELS)) == len(LEVEL)


def test_packages_import_only_the_core_and_the_core_none_of_them(imported):
    def is_right(module, name):
        package, other = module.partition(".")[0], name.partition(".")[0]
        return other not in PACKAGES or other == package or other in PACKAGES[package]

    assert not wrong_imports(imported, is_right)


WITHOUT_SCRAPY = """
import importlib, pkgutil, sys
for name in ("scrapy", "twisted", "zope"):
    sys.modules[name] = None  # as if it were not installed
import thresher
for module in pkgutil.walk_packages(thresher.__path__, "thresher."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
try:
    import thresher_scrapy
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
