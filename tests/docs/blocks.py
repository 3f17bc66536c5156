"""The code blocks of the documentation, each with its place, and with the excuse of those that cannot run here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
_DOCS = ROOT / "docs"
PAGES = [
    *(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"),
    *sorted(_DOCS.rglob("*.md")),
]
ORIGINALS = {
    ROOT / "README.zh-CN.md": ROOT / "README.md",
    **{page: _DOCS / page.relative_to(_DOCS / "zh") for page in sorted((_DOCS / "zh").rglob("*.md"))},
}
"""The Chinese pages, each with the English page that it translates."""
EXCUSE = re.compile(r"^\s*<!-- not run: (?P<reason>.+) -->$")
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)$")
_PROMPT = re.compile(r"^\$ ")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Args:
        line: Where its first line stands on the page, from 1.
        excuse: Why it is not run; empty when it is.
    """

    page: Path
    line: int
    language: str
    text: str
    excuse: str = ""

    @property
    def place(self) -> str:
        """Where to find it, for people."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """What a reader would type: lines after a prompt, with the lines that go on from them."""
        return [command for command, _ in self.dialogue]

    @property
    def dialogue(self) -> list[tuple[str, list[str]]]:
        """The commands, each with the lines of output that are shown below it."""
        found: list[tuple[str, list[str]]] = []
        goes_on = False
        for line in self.text.splitlines():
            if _PROMPT.match(line):
                found.append((line[2:], []))
            elif goes_on:
                found[-1] = (f"{found[-1][0]}\n{line}", [])
            elif found and line.strip():
                found[-1][1].append(line)
            goes_on = bool(found) and not found[-1][1] and (found[-1][0].endswith("\\") or line.startswith("> "))
        return found


def blocks_of(page: Path) -> list[Block]:
    """Read the blocks of a page in their order."""
    return list(_blocks(page, page.read_text(encoding="utf-8").splitlines()))


def _blocks(page: Path, lines: list[str]) -> Iterator[Block]:
    number, before = 0, ""
    while number < len(lines):
        opened = _FENCE.match(lines[number])
        if opened:
            closing = f"{opened['indent']}```"
            end = lines.index(closing, number + 1)
            text = dedent("\n".join(lines[number + 1 : end])) + "\n"
            excuse = EXCUSE.match(before)
            yield Block(page, number + 2, opened["language"], text, excuse["reason"] if excuse else "")
            number = end
        before = lines[number] or before
        number += 1
