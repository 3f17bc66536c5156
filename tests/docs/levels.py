"""The drawing of the parts and their levels: written from the test that holds the code to them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from tests.unit.test_imports import LEVELS, SOURCE

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
_WIDTH = 96
_DRAWN = {"levels": lambda: "\n".join(_drawing()), "parts": lambda: "\n".join(_table())}


def architecture_page() -> str:
    """Return the page with its drawing and its table as the code is now."""
    text = ARCHITECTURE.read_text(encoding="utf-8")
    for name, draw in _DRAWN.items():
        between = re.compile(rf"(?<=<!-- {name}: written by make docs -->\n).*?(?=<!-- /{name} -->)", flags=re.DOTALL)
        [_] = between.findall(text)
        text = between.sub(lambda _, draw=draw: f"\n{draw()}\n\n", text)
    return text


def _drawing() -> Iterator[str]:
    """One row per level, the highest on top."""
    rule = f"  ├{'─' * _WIDTH}┤"
    yield from ("```text", f"  ┌{'─' * _WIDTH}┐")
    for level in reversed(range(len(LEVELS))):
        for place, row in enumerate(wrap("  ".join(sorted(LEVELS[level])), _WIDTH - 6)):
            yield f"{level if not place else ' '} │  {row:<{_WIDTH - 4}}  │"
        if level:
            yield rule
    yield from (f"  └{'─' * _WIDTH}┘", "```")


def _table() -> Iterator[str]:
    yield from ("| part | is |", "|---|---|")
    for level in reversed(LEVELS):
        for part in sorted(level):
            yield f"| `{part}` | {_first_sentence(part)} |"


def _first_sentence(part: str) -> str:
    """What a part says of itself."""
    path = SOURCE / part / "__init__.py" if (SOURCE / part).is_dir() else SOURCE / f"{part}.py"
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].split())
