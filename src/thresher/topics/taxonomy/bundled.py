"""The taxonomy that ships with Thresher: `bundled.tsv`, written for it, with names in English and Chinese.

The head of the file describes its columns. A path that was released stays, so that a topic.yaml which names it works
with every later version; new nodes may be added. Labels are unique, so that a label identifies a node: nodes of other
taxonomies with the same label are completed by its other language.

It has no example pages. Its spellings in URLs extend the token table in crawls that have a taxonomy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from thresher.errors import ConfigError
from thresher.topics.taxonomy.paths import default_label, parent_of
from thresher.topics.token_table import TokenRow, TokenTable, fold

BUNDLED = "bundled"
"""Its name in topic.yaml, in the place of a file."""

BUNDLED_TITLE = "the bundled taxonomy"
"""Its name in messages."""

COLUMNS = (
    "path", "zh", "words", "abbreviations", "pinyin", "initials",
    "description_en", "description_zh", "keywords_en", "keywords_zh",
)  # fmt: skip
_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledNode:
    """One line of the file.

    Args:
        labels: Its name, by language.
        row: Its spellings in URLs.
    """

    path: str
    labels: Mapping[str, str]
    descriptions: Mapping[str, str]
    keywords: Mapping[str, Sequence[str]]
    row: TokenRow


@cache
def bundled_nodes() -> tuple[BundledNode, ...]:
    """Return all nodes, parents before children."""
    text = resources.files(__package__).joinpath("bundled.tsv").read_text(encoding="utf-8")
    return tuple(parse_bundled(text))


def parse_bundled(text: str) -> Iterator[BundledNode]:
    """Parse the file; lines that start with # are comments, the first other line is the header.

    Raises:
        ConfigError: A line has not the columns of the header.
    """
    lines = [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]
    for cells in lines:
        if len(cells) != len(COLUMNS) or (cells is lines[0] and tuple(cells) != COLUMNS):
            raise ConfigError(f"bundled.tsv: {cells[0]!r}: the columns must be {', '.join(COLUMNS)}")
    for cells in lines[1:]:
        yield _node(dict(zip(COLUMNS, cells, strict=True)))


def _node(cells: Mapping[str, str]) -> BundledNode:
    english, chinese = default_label(cells["path"]), cells["zh"]
    spelled = {name: _entries(cells[name]) for name in ("words", "abbreviations", "pinyin", "initials")}
    return BundledNode(
        path=cells["path"],
        labels={"en": english, "zh": chinese},
        descriptions={"en": cells["description_en"], "zh": cells["description_zh"]},
        keywords={"en": _entries(cells["keywords_en"]), "zh": _entries(cells["keywords_zh"])},
        row=TokenRow(labels=(english,), chinese=(chinese,), **spelled),
    )


def _entries(cell: str) -> tuple[str, ...]:
    return () if cell == _NONE else tuple(cell.split(", "))


def write_bundled(db: sqlite3.Connection) -> None:
    """Write the bundled taxonomy into empty tables, in few statements: every crawl with a node of it starts so."""
    number_of = {node.path: number for number, node in enumerate(bundled_nodes(), start=1)}
    db.executemany(
        "INSERT INTO node (id, path, parent, depth, language) VALUES (?, ?, ?, ?, 'en')",
        ((number, path, number_of.get(parent_of(path), 0), path.count("/") + 1) for path, number in number_of.items()),
    )
    db.executemany(
        "INSERT INTO label VALUES (?, ?, ?, ?, 1)",
        (
            (number_of[node.path], language, label, node.descriptions[language])
            for node in bundled_nodes()
            for language, label in node.labels.items()
        ),
    )
    db.executemany(
        "INSERT INTO keyword VALUES (?, ?, ?, ?)",
        (
            (number_of[node.path], language, place, keyword)
            for node in bundled_nodes()
            for language, keywords in node.keywords.items()
            for place, keyword in enumerate(keywords)
        ),
    )


def with_bundled_spellings(table: TokenTable) -> TokenTable:
    """Extend a token table by the labels of the bundled taxonomy; a row with the same label is extended."""
    rows = {row.labels[0]: row for row in table}
    for node in bundled_nodes():
        known = table.find(node.labels["en"]) or table.find(node.labels["zh"])
        row = _merged(known, node.row) if known else node.row
        rows[row.labels[0]] = row
    return TokenTable(rows.values())


@cache
def bundled_token_table() -> TokenTable:
    """Return the shipped token table, extended by the labels of the bundled taxonomy."""
    return with_bundled_spellings(TokenTable.shipped())


def _merged(row: TokenRow, more: TokenRow) -> TokenRow:
    names = ("labels", "words", "abbreviations", "chinese", "pinyin", "initials")
    return TokenRow(**{name: tuple(dict.fromkeys((*getattr(row, name), *getattr(more, name)))) for name in names})


def complete_labels(db: sqlite3.Connection) -> int:
    """Add the missing language to nodes with one label, in English or Chinese, that a bundled node has too.

    Label and keywords of the missing language are added. Labels are compared without case, blanks and punctuation;
    other names of the token table count, so that ``Movies`` is completed like ``Film``.

    Returns:
        The number of completed nodes.
    """
    by_name = _by_name()
    single = db.execute(
        "SELECT node, language, label FROM label WHERE language IN ('en', 'zh') AND label <> '' "
        "GROUP BY node HAVING count(*) = 1"
    )
    found = [
        (number, "zh" if language == "en" else "en", node)
        for number, language, label in single
        if (node := by_name.get((language, fold(label))))
    ]
    db.executemany(
        "INSERT INTO label VALUES (?, ?, ?, '', 0) ON CONFLICT DO UPDATE SET label = excluded.label",
        ((number, language, node.labels[language]) for number, language, node in found),
    )
    db.executemany(
        "INSERT OR IGNORE INTO keyword VALUES (?, ?, ?, ?)",
        (
            (number, language, place, keyword)
            for number, language, node in found
            for place, keyword in enumerate(node.keywords[language])
        ),
    )
    return len(found)


@cache
def _by_name() -> Mapping[tuple[str, str], BundledNode]:
    """Return the nodes by language and folded name; labels come before the other names of their rows."""
    found: dict[tuple[str, str], BundledNode] = {}
    for node in bundled_nodes():
        row = bundled_token_table().find(node.labels["en"]) or node.row
        for language, names in (("en", row.labels), ("zh", row.chinese)):
            found |= {(language, fold(name)): node for name in names if (language, fold(name)) not in found}
    own = {(language, fold(label)): node for node in bundled_nodes() for language, label in node.labels.items()}
    return found | own
