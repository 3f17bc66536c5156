"""The drawing of the parts and their levels: written from the test that holds the code to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from tests.docs.between import with_pieces
from tests.unit.test_imports import LEVELS, SOURCE, WITHIN

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "explanation" / "architecture.md"
_WIDTH = 96
_DRAWN = {
    "levels": lambda: "\n".join(_drawing()),
    "within": lambda: "\n".join(wrap(_within(), 120)),
    "parts": lambda: "\n".join(_table()),
}


def architecture_page() -> str:
    """Return the page with its drawing and its table as the code is now."""
    return with_pieces(ARCHITECTURE, _DRAWN)


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


def _within() -> str:
    """Who knows whom on one level."""
    knows = {part: ", ".join(sorted(f"`{other}`" for one, other in WITHIN if one == part)) for part, _ in WITHIN}
    said = "; ".join(f"`{part}` knows {others}" for part, others in sorted(knows.items()))
    return f"Inside a level only files of one subject, which were parted for length, know each other: {said}."


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
