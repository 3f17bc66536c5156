"""The levels of the architecture page, from the test that checks them, and the reference page of all modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from tests.docs.between import with_pieces
from tests.unit.test_imports import LEVELS, PACKAGES, SOURCE

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
_WIDTH = 96


def architecture_page() -> str:
    """Return the page with its levels as the code is now."""
    return with_pieces(ARCHITECTURE, {"levels": lambda: "\n".join(_levels())})


def modules_page() -> str:
    """Return a page with one line per module, from the docstrings."""
    written = "Written by `make docs` from the docstrings of packages and modules, the highest level first."
    return "\n".join(["# Modules", "", written, "", *_packages(), ""])


def _levels() -> Iterator[str]:
    """One row per level, the highest on top."""
    rule = f"   ├{'─' * _WIDTH}┤"
    yield from ("```text", f"   ┌{'─' * _WIDTH}┐")
    for level in reversed(range(len(LEVELS))):
        for place, row in enumerate(wrap("  ".join(sorted(LEVELS[level])), _WIDTH - 6)):
            yield f"{level if not place else '':>2} │  {row:<{_WIDTH - 4}}  │"
        if level:
            yield rule
    yield from (f"   └{'─' * _WIDTH}┘", "```")


def _packages() -> Iterator[str]:
    """A block per package: what it is for, and its modules."""
    yield from _package(SOURCE, "thresher", sorted(SOURCE.glob("[a-z]*.py")))
    folders = [SOURCE / part for level in reversed(LEVELS) for part in sorted(level) if (SOURCE / part).is_dir()]
    others = [SOURCE.with_name(package) for package in PACKAGES if package != SOURCE.name]
    parts = [path.parent for package in others for path in sorted(package.glob("*/__init__.py"))]
    for folder in (*folders, SOURCE.with_name("thresher_scrapy"), *parts):
        name = ".".join(folder.relative_to(SOURCE.parent).parts)
        yield ""
        yield from _package(folder, name, sorted(folder.rglob("*.py")))


def _package(folder: Path, name: str, modules: list[Path]) -> Iterator[str]:
    yield from (f"## `{name}`", "", _first_sentence(folder / "__init__.py"))
    names = {path: ".".join(path.relative_to(folder).with_suffix("").parts) for path in modules}
    shown = {path: name for path, name in names.items() if path.name != "__init__.py"}
    if not shown:
        return
    width = max(map(len, shown.values()))
    yield from ("", "```text")
    for path, module in shown.items():
        first, *rest = wrap(_first_sentence(path), 118 - width) or [""]
        yield f"{module:<{width}}  {first}".rstrip()
        yield from (f"{'':<{width}}  {line}" for line in rest)
    yield "```"


def _first_sentence(path: Path) -> str:
    """The first paragraph of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())
