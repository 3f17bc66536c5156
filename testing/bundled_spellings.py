"""Fill in the spellings of the bundled taxonomy: ``python -m testing.bundled_spellings``.

Pinyin and initials are read from the Chinese labels by pypinyin; words and abbreviations of the token table are added
to those of the file. Run it after every change of ``bundled.tsv``; a test checks that it changes nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from thresher.topics.taxonomy.bundled import COLUMNS
from thresher.topics.taxonomy.paths import default_label
from thresher.topics.token_table import TokenTable, fold, full_pinyin, initials

FILE = Path(__file__).parents[1] / "src" / "thresher" / "topics" / "taxonomy" / "bundled.tsv"


def with_spellings(text: str) -> str:
    """Return the text of the file with all spellings."""
    header = "\t".join(COLUMNS)
    lines = text.splitlines()
    return "".join(f"{line if line.startswith('#') or line == header else _filled(line)}\n" for line in lines)


def _filled(line: str) -> str:
    cells = dict(zip(COLUMNS, line.split("\t"), strict=True))
    label, chinese = default_label(cells["path"]), cells["zh"]
    row = TokenTable.shipped().find(label)
    for name, known in (("words", row.words if row else ()), ("abbreviations", row.abbreviations if row else ())):
        cells[name] = _cell([*_entries(cells[name]), *known], without=fold(label))
    pinyin = full_pinyin(chinese)
    cells["pinyin"] = _cell([pinyin, re.sub("([ln])v", r"\1u", pinyin)])  # ü is written v or u
    cells["initials"] = _cell([initials(chinese)] if not re.search("[A-Za-z]", chinese) else [])
    return "\t".join(cells.values())


def _entries(cell: str) -> list[str]:
    return [] if cell == "-" else cell.split(", ")


def _cell(entries: list[str], *, without: str = "") -> str:
    return ", ".join(dict.fromkeys(entry for entry in entries if entry and entry != without)) or "-"


if __name__ == "__main__":
    FILE.write_text(with_spellings(FILE.read_text(encoding="utf-8")), encoding="utf-8")
