"""A linter for the prose of the documentation: ``python -m tests.docs.prose [FILES]``.

It prints for each page the words, the average and the maximum sentence length, and every finding with its line. The
rules: no banned words, at most 30 words in a sentence, at most 16 on average. A Chinese page has a limit of characters
in a sentence and no average. Ends with 1 when there are findings.

Sentences are counted in prose alone: code blocks, tables, headings and comments are left out. Inline code is one word,
and so is a URL. A list item ends a sentence. Banned words are searched in headings and tables too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path

from tests.docs.blocks import ROOT

MAX_AVERAGE_WORDS, MAX_WORDS, MAX_CHARACTERS = 16, 30, 60
BANNED = {
    r"wish(es|ed)?": "setting, request, order",
    r"hears?|heard|hearing": "receive, poll",
    r"crew": "workers",
    r"told": "reported, set, given; or name who does what",
    r"said": "stated, configured, reported",
    r"whoever": "anyone who, users who",
    r"so many": "that number of, N",
    r"let go of": "release, delete",
    r"(its|their|his|a|the|label) books?": "log, record, table",
    r"wardens?": "host policy",
    r"errands?": "side request",
    r"muster(ed|s)?": "registry, worker list",
    r"fellows?": "other workers",
    r"shel(f|ves)": "cache, store",
    r"(second thoughts?|thinks? again|thinking again)": "retraining, rescoring",
    r"brought along": "migrated",
}
"""Words of a private language, as regular expressions, each with what to write in their place."""

_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^#+\s")
_TABLE = re.compile(r"^\s*\|")
_NO_PROSE = re.compile(r"^\s*(\[[^\]]+\]:\s|!!! |\?\?\? |={3,}$|-{3,}$|<[^>]+>$)")
_MARKUP = [
    (re.compile(r"<!--.*?-->", flags=re.DOTALL), ""),
    (re.compile(r"(`+)[^`].*?\1", flags=re.DOTALL), "CODE"),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\[\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<?https?://[^\s<>()]*[^\s<>().,;:!?。，]>?"), "URL"),
    (re.compile(r"</?\w+[^>]*>"), ""),
    (re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)"), ""),
]
_END = re.compile(r"[.!?][\"')\]”’]*(?=\s)|[。！？][」』”）]*|[.!?…][\"')\]”’]*$")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:et\sal|e\.g|i\.e|vs|cf|approx|Fig|Eq|pp?|[A-Z])\.$")
CHINESE = re.compile(r"[\u3400-\u9fff]")
_COUNTED_IN_CHINESE = re.compile(r"[\u3400-\u9fff]|[A-Za-z0-9][\w.:/-]*")
_BANNED = {
    re.compile(rf"\b({pattern})\b".replace(" ", r"\s"), flags=re.IGNORECASE): instead
    for pattern, instead in BANNED.items()
}


@dataclass(frozen=True)
class Part:
    """A paragraph or list item; a heading or table row when not `running`. `text` keeps the line breaks."""

    line: int
    text: str
    running: bool

    def line_at(self, position: int) -> int:
        return self.line + self.text.count("\n", 0, position)

    def banned(self) -> Iterator[tuple[int, str]]:
        for pattern, instead in _BANNED.items():
            for match in pattern.finditer(self.text):
                yield self.line_at(match.start()), f"{' '.join(match[0].split())!r}; write: {instead}"

    def sentences(self) -> Iterator[Sentence]:
        """Cut the text at the ends of its sentences; an abbreviation ends none."""
        start = 0
        for end in (*(match.end() for match in _END.finditer(self.text)), len(self.text)):
            piece = self.text[start:end]
            if end < len(self.text) and _ABBREVIATION.search(piece):
                continue
            if any(map(str.isalnum, piece)):
                first = start + len(piece) - len(piece.lstrip())
                yield Sentence(self.line_at(first), " ".join(piece.split()))
            start = end


@dataclass(frozen=True)
class Sentence:
    """A sentence of running text, and the line that it starts on."""

    line: int
    text: str

    @property
    def words(self) -> int:
        """Count what has a letter or a digit between two spaces."""
        return sum(any(map(str.isalnum, word)) for word in self.text.split())

    @property
    def characters(self) -> int:
        """Count Chinese characters; a word or a number in other letters counts as one."""
        return len(_COUNTED_IN_CHINESE.findall(self.text))


@dataclass(frozen=True)
class Prose:
    """The text of one page without code."""

    parts: list[Part]

    @cached_property
    def sentences(self) -> list[Sentence]:
        return [sentence for part in self.parts if part.running for sentence in part.sentences()]

    @cached_property
    def chinese(self) -> bool:
        """Whether more than a fifth of the page's characters are Chinese."""
        text = "".join(part.text for part in self.parts)
        return 5 * len(CHINESE.findall(text)) > len(text)

    @property
    def words(self) -> int:
        return sum(sentence.words for sentence in self.sentences)

    @property
    def average(self) -> float:
        return self.words / len(self.sentences) if self.sentences else 0.0

    @property
    def maximum(self) -> int:
        return max((each.characters if self.chinese else each.words for each in self.sentences), default=0)

    def findings(self) -> list[str]:
        """Return what breaks a rule, in the order of the page; the average stands last."""
        found = [finding for part in self.parts for finding in part.banned()]
        found += [(each.line, message) for each in self.sentences for message in self._too_long(each)]
        messages = [f"line {line}: {message}" for line, message in sorted(found)]
        if not self.chinese and self.average > MAX_AVERAGE_WORDS:
            messages.append(f"{self.average:.1f} words in a sentence on average, at most {MAX_AVERAGE_WORDS}")
        return messages

    def summary(self) -> str:
        if self.chinese:
            return f"{len(self.sentences)} sentences, {self.maximum} characters at most"
        return f"{self.words} words, {self.average:.1f} in a sentence on average, {self.maximum} at most"

    def _too_long(self, sentence: Sentence) -> Iterator[str]:
        if self.chinese and sentence.characters > MAX_CHARACTERS:
            yield f"{sentence.characters} characters, at most {MAX_CHARACTERS}: {sentence.text}"
        elif not self.chinese and sentence.words > MAX_WORDS:
            yield f"{sentence.words} words, at most {MAX_WORDS}: {sentence.text}"


def read_prose(markdown: str) -> Prose:
    """Find the paragraphs, list items, headings and table rows of a page."""
    lines = groupby(_numbered(markdown), key=lambda line: line[0])
    return Prose(
        [_part([(number, text) for _, number, text in part], running=part_number > 0) for part_number, part in lines]
    )


def _part(lines: list[tuple[int, str]], *, running: bool) -> Part:
    """Join lines and remove their markup; line breaks inside of it are kept, so lines can be counted."""
    text = "\n".join(text for _, text in lines)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(partial(_with_breaks, replacement), text)
    return Part(lines[0][0], text, running)


def _with_breaks(replacement: str, match: re.Match[str]) -> str:
    new = match.expand(replacement)
    return new + "\n" * (match[0].count("\n") - new.count("\n"))


def _numbered(markdown: str) -> Iterator[tuple[int, int, str]]:
    """Give the lines that are not code with the number of their part, below 0 outside of running text."""
    part, in_code, in_comment = 1, False, False
    for number, line in enumerate(markdown.splitlines(), start=1):
        if _FENCE.match(line):
            in_code, part = not in_code, part + 1
        elif in_code or in_comment or _NO_PROSE.match(line):
            in_comment = in_comment and "-->" not in line
        elif line.lstrip().startswith("<!--"):
            in_comment, part = "-->" not in line, part + 1
        elif _TABLE.match(line) or _HEADING.match(line):
            part += 1
            yield -part, number, line
        elif not line.strip(" >"):
            part += 1
        else:
            item = _ITEM.match(line)
            part += bool(item)
            yield part, number, line[item.end() if item else 0 :].strip(" >")


def prose_of(page: Path) -> Prose:
    """Read a page; of the changelog what is unreleased and the newest version, because older entries are history."""
    text = page.read_text(encoding="utf-8")
    if page.name == "CHANGELOG.md":
        text = "\n## ".join(text.split("\n## ")[:3])
    return read_prose(text)


def pages() -> list[Path]:
    """List the pages of the repository: those at its root and in docs."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def main(names: Sequence[str]) -> int:
    """Print what the linter finds on pages, by default on all."""
    failed = 0
    for page in [Path(name) for name in names] or pages():
        prose = prose_of(page)
        findings = prose.findings()
        failed += bool(findings)
        print(f"{page.resolve().relative_to(ROOT)}: {prose.summary()}")
        print("".join(f"  {finding}\n" for finding in findings), end="")
    print(f"{failed} pages with findings")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
