"""Ways out of the collection: rows ranked by relevance, as JSON lines, CSV or Parquet, streamed."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Any

from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord
from thresher.errors import ExportError
from thresher.text.printable import printable, printable_json

COLUMNS = {
    "url": "string",
    "title": "string",
    "relevance": "float64",
    "relevant": "bool",
    "language": "string",
    "depth": "int32",
    "parent": "string",
    "anchor": "string",
    "score": "float64",
    "fetched_at": "string",
    "status": "int32",
    "text_hash": "string",
    "duplicate_of": "string",
}
"""The columns of every format, in order, with their types; `text` comes last when it is asked for."""

_FORMULA_STARTS = tuple("=+-@＝＋－＠")  # the wide forms count too in spreadsheets of East Asia
_ROWS_PER_GROUP = 5_000

Row = dict[str, Any]


def rows(
    collection: Collection, *, min_relevance: float = 0.0, duplicates: bool = False, text: bool = False
) -> Iterator[Row]:
    """Yield one row per page, most relevant first."""
    link_of = lru_cache(maxsize=512)(lambda parent: {link.url: link for link in collection.links(parent)})
    url_of = lru_cache(maxsize=65_536)(lambda fingerprint: _url(collection, fingerprint))
    for record in collection.ranked(min_relevance=min_relevance, duplicates=duplicates):
        link = link_of(record.parent).get(record.url) if record.parent else None
        row = _row(record, parent=url_of(record.parent), anchor=link.anchor if link else "")
        row["duplicate_of"] = url_of(record.duplicate_of)
        if text:
            row["text"] = collection.text(record.fingerprint)
        yield row


def _url(collection: Collection, fingerprint: int) -> str:
    record = collection.find(fingerprint) if fingerprint else None
    return record.url if record else ""


def _row(record: PageRecord, *, parent: str, anchor: str) -> Row:
    joined = {"parent": parent, "anchor": anchor}
    return {
        **{name: joined[name] if name in joined else getattr(record, name) for name in COLUMNS},
        "fetched_at": datetime.fromtimestamp(record.fetched_at, UTC).isoformat(timespec="seconds"),
        "text_hash": f"{record.text_hash & 0xFFFFFFFFFFFFFFFF:016x}",
    }


def write_jsonl(pages: Iterable[Row], out: IO[str], *, text: bool = False, raw: bool = False) -> int:
    """Write one JSON object per line; return how many."""
    number = 0
    for number, row in enumerate(pages, start=1):  # noqa: B007 - the last number is the answer
        out.write(printable_json(row) + "\n")
    return number


def write_csv(pages: Iterable[Row], out: IO[str], *, text: bool = False, raw: bool = False) -> int:
    """Write comma-separated rows; unless `raw`, a spreadsheet runs none as a formula and a terminal obeys none."""
    if raw:  # a bare carriage return would end its row
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    else:
        writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_columns(text))
    number = 0
    for number, row in enumerate(pages, start=1):  # noqa: B007 - the last number is the answer
        cells = (row[name] for name in _columns(text))
        writer.writerow(cells if raw else map(harmless, cells))
    return number


def harmless(cell: Any) -> Any:
    """Put an apostrophe before what a spreadsheet would run as a formula, and take out what a terminal would obey."""
    if not isinstance(cell, str):
        return cell
    starts_one = cell.startswith(("\t", "\r", "\n")) or cell.lstrip().startswith(_FORMULA_STARTS)
    return f"'{printable(cell)}" if starts_one else printable(cell)


def write_parquet(pages: Iterable[Row], path: Path, *, text: bool = False) -> int:
    """Write a Parquet file in bounded memory; it appears under its name only when it is whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {**COLUMNS, "text": "string"}
    schema = pa.schema([(name, pa.type_for_alias(types[name])) for name in _columns(text)])
    unfinished = path.with_name(path.name + ".part")
    number = 0
    with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
        for group in _groups(pages):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))
            number += len(group)
    unfinished.replace(path)
    return number


def _groups(pages: Iterable[Row]) -> Iterator[list[Row]]:
    iterator = iter(pages)
    while group := list(islice(iterator, _ROWS_PER_GROUP)):
        yield group


def _columns(text: bool) -> list[str]:
    return [*COLUMNS, "text"] if text else list(COLUMNS)


TEXT_WRITERS: dict[str, Callable[..., int]] = {"jsonl": write_jsonl, "csv": write_csv}
FORMATS = (*TEXT_WRITERS, "parquet")


def export(pages: Iterable[Row], form: str, path: Path | None, out: IO[str], **options: bool) -> int:
    """Write pages in a format, into a file or to `out`; return how many.

    Raises:
        ExportError: Parquet was asked for without a file.
    """
    if form == "parquet":
        if path is None:
            raise ExportError("parquet is not for a terminal or pipe; name a file: -o pages.parquet")
        return write_parquet(pages, path, text=options.get("text", False))
    write = TEXT_WRITERS[form]
    if path is None:
        return write(pages, out, **options)
    with path.open("w", encoding="utf-8", newline="") as file:
        return write(pages, file, **options)
