"""Part files: the pages of a crawl as Parquet, with the columns that a job reads.

Each URL is written once, by its last row over all segments, also those copied from the collection. Rows are streamed,
so memory does not grow with the crawl. Texts, markup and links stay in the zstd frames of the page store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thresher.storage.reader import PageStoreReader

PART_BYTES = 32 << 20
"""A part file is complete when its values have this many bytes; a part is what one process reads at a time."""
PART_ROWS = 4_096
GROUP_ROWS = 256
"""Rows that are written, and read, at once."""

_TYPES = {
    "fingerprint": pa.int64(),
    "url": pa.string(),
    "segment": pa.string(),
    "title": pa.string(),
    "language": pa.string(),
    "relevance": pa.float64(),
    "relevant": pa.bool_(),
    "reward": pa.float64(),
    "parts": pa.string(),
    "topics": pa.string(),
    "text": pa.binary(),
    "main": pa.binary(),
    "markup": pa.binary(),
    "links": pa.binary(),
    "terms": pa.binary(),
}
_TEXT_WITHOUT_TERMS = "iif(terms IS NULL, text, NULL) AS text"

Row = Mapping[str, Any]


def write_parts(collection: PageStoreReader, folder: Path, columns: Sequence[str]) -> list[Path]:
    """Write the pages of a crawl as part files; return their paths.

    Args:
        columns: Of `_TYPES`; a text is left out where `terms` are read too and there are some.
    """
    stored = [name for name in columns if name != "segment"]
    if "terms" in columns:
        stored = [_TEXT_WITHOUT_TERMS if name == "text" else name for name in stored]
    rows = ({**dict(row), "segment": segment} for segment, row in collection.latest(stored))
    return write_part_files(rows, folder, columns)


def write_part_files(rows: Iterator[Row], folder: Path, columns: Sequence[str]) -> list[Path]:
    """Write rows as part files; there is one at least."""
    schema = pa.schema([(name, _TYPES[name]) for name in columns])
    paths: list[Path] = []
    group = _next_group(rows, schema)
    while group or not paths:
        paths.append(folder / f"part-{len(paths):05}.parquet")
        with pq.ParquetWriter(paths[-1], schema, compression="none") as writer:
            written_bytes = written_rows = 0
            while group and written_bytes < PART_BYTES and written_rows < PART_ROWS:
                writer.write_table(group)
                written_bytes, written_rows = written_bytes + group.nbytes, written_rows + len(group)
                group = _next_group(rows, schema)
    return paths


def _next_group(rows: Iterator[Row], schema: Any) -> Any:
    """Return the next rows as a table; None after the last one."""
    values = [[_value(row[field.name], field.type) for field in schema] for row in islice(rows, GROUP_ROWS)]
    if not values:
        return None
    arrays = [pa.array(column, field.type) for column, field in zip(zip(*values, strict=True), schema, strict=True)]
    return pa.table(arrays, schema=schema)


def _value(value: Any, kind: Any) -> Any:
    if kind == pa.bool_():
        return bool(value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
