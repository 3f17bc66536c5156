"""Pages of which some pieces are written by the code: those between two comments that name the piece."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path


def with_pieces(page: Path, pieces: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with each of its pieces as the code is now."""
    text = page.read_text(encoding="utf-8")
    for name, write in pieces.items():
        between = re.compile(rf"(?<=<!-- {name}: written by make docs -->\n).*?(?=<!-- /{name} -->)", flags=re.DOTALL)
        [_] = between.findall(text)
        text = between.sub(lambda _, write=write: f"\n{write()}\n\n", text)
    return text
