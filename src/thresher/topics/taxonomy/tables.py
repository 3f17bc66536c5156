"""Import of taxonomies from tables: a line per node or per example page.

A tab-separated file has a header line, or its columns are in this order, of which only the first is required: path,
Chinese label, description, and then URL, title and description of an example page. JSON lines use the same names.
Invalid lines are skipped and counted, since such files are collected from many sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from thresher.text.languages import language as language_of
from thresher.topics.taxonomy.paths import clean_path
from thresher.topics.taxonomy.writer import TaxonomyWriter

MAX_TEXT = 5_000
"""Longer titles and descriptions are cut."""

_NAMES = {
    "path": "path", "topic": "path", "category": "path", "node": "path",
    "en": "en", "label": "en", "label_en": "en", "zh": "zh", "label_zh": "zh", "zh_label": "zh",
    "url": "url", "title": "title", "description": "description",
}  # fmt: skip
_MAX_LINE_BYTES = 1 << 20
_PROGRESS_EVERY = 10_000

Damage = Iterator[tuple[int, int]]
"""Numbers of repaired characters and of skipped lines since the last item."""


def read_tsv(file: BinaryIO, writer: TaxonomyWriter) -> Damage:
    """Read a tab-separated table into a taxonomy."""
    columns: list[str] = []
    skipped = 0
    for number, line in enumerate(_lines(file)):
        fields = [piece.strip() for piece in line.split("\t")]
        if number == 0 and (columns := _header(fields)):
            continue
        row = dict(zip(columns, fields, strict=False)) if columns else _in_usual_order(fields)
        skipped += not add_row(row, writer)
        if number % _PROGRESS_EVERY == 0:
            yield 0, skipped
            skipped = 0
    yield 0, skipped


def read_json_lines(file: BinaryIO, writer: TaxonomyWriter) -> Damage:
    """Read JSON objects, one per line, into a taxonomy."""
    skipped = 0
    for number, line in enumerate(_lines(file)):
        skipped += not add_row(_object(line), writer)
        if number % _PROGRESS_EVERY == 0:
            yield 0, skipped
            skipped = 0
    yield 0, skipped


def add_row(row: Mapping[str, str], writer: TaxonomyWriter) -> bool:
    """Add the node and the example page of a row; return whether the row is valid."""
    path = clean_path(row.get("path", ""))
    if not path:
        return False
    writer.add_node(path)
    url, about = row.get("url", ""), row.get("description", "")
    for language in ("en", "zh"):
        if row.get(language):
            writer.add_label(path, language, clean_text(row[language]))
    if url:
        if not is_web_address(url):
            return False
        writer.add_example(path, url, clean_text(row.get("title", "")), clean_text(about))
        about = row.get("node_description", "")
    if about:
        writer.add_label(path, language_of(about) or "en", description=clean_text(about))
    return True


def clean_text(text: str) -> str:
    """Collapse white space, and truncate overlong text."""
    return " ".join(text[:MAX_TEXT].split())


def is_web_address(url: str) -> bool:
    """Return whether this can be the URL of a page; whether it may be fetched is decided later."""
    return url.startswith(("http://", "https://")) and url.isprintable() and " " not in url and len(url) <= MAX_TEXT


def _lines(file: BinaryIO) -> Iterator[str]:
    while line := file.readline(_MAX_LINE_BYTES):
        text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip("\r\n")
        if text.strip() and not text.startswith("#"):
            yield text


def _header(fields: Sequence[str]) -> list[str]:
    """Return the normalized names of the columns; empty when the line is not a header."""
    names = [_NAMES.get(field.lower(), "") for field in fields]
    return names if "path" in names else []


def _in_usual_order(fields: Sequence[str]) -> dict[str, str]:
    path, *rest = fields
    place = next((place for place, field in enumerate(rest) if is_web_address(field)), len(rest))
    node = dict(zip(("zh", "node_description"), rest[:place], strict=False))
    page = dict(zip(("url", "title", "description"), rest[place:], strict=False))
    if not page:
        node["description"] = node.pop("node_description", "")
    return {"path": path, **node, **page}


def _object(line: str) -> dict[str, str]:
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {_NAMES[name]: text for name, text in read.items() if name in _NAMES and isinstance(text, str)}
