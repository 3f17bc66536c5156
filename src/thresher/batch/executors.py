"""Running a batch job: in this process, or on Ray Data; both give equal tables.

Thresher schedules nothing itself: Ray reads the part files, spreads them over processes and machines, and repeats what
was lost with one of them. The part files are removed at the end.

`write_parts` writes part files: the pages of a crawl as Parquet, with the columns that a job reads.

Each URL is written once, by its last row over all segments, also those copied from the collection. Rows are streamed,
so memory does not grow with the crawl. Texts, markup and links stay in the zstd frames of the page store.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thresher.atomic_file import atomic_write
from thresher.batch.jobs import BatchJob, apply_judgements, open_job
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
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


LOCAL = "local"
"""In place of the address of a Ray cluster: one on this machine, for as long as the job runs."""


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """What a job did.

    Args:
        counts: The numbers of its result.
        parts: The number of part files.
        read_seconds: For writing the part files.
        seconds: For all of it.
        unreadable: Damaged pages that were left out; they are marked in the result.
        applied: Judgements that were written back; None when that was not asked for.
    """

    counts: dict[str, int]
    parts: int
    read_seconds: float
    seconds: float
    unreadable: int = 0
    applied: int | None = None


def run_batch(
    name: str, crawl: CrawlSetup, path: Path, *, ray: str = "", work: Path | None = None, apply: bool = False
) -> BatchResult:
    """Run a job over all pages of a crawl, and write its result as a Parquet file.

    Args:
        name: Of `JOBS`.
        ray: The address of a Ray cluster, or ``local``; empty for this process.
        work: A folder for part files; on a cluster of several machines one that all of them mount.
        apply: Whether changed judgements are written back to the crawl; the caller holds the lock of a run.

    Raises:
        ConfigError: Ray is not installed or not reached, or the judge does not learn.
    """
    began = time.monotonic()
    job = open_job(name, crawl)
    with tempfile.TemporaryDirectory(prefix="thresher-batch-", dir=work) as temporary, atomic_write(path) as unfinished:
        with PageStoreReader(crawl.folder.pages) as collection:
            paths = write_parts(collection, Path(temporary), job.columns)
        read_seconds = time.monotonic() - began
        rows = on_ray(job, paths, address=ray) if ray else in_process(job, paths)
        result = job.reduce(rows)
        pq.write_table(result, unfinished, compression="zstd")
    applied = apply_judgements(crawl, result) if apply else None
    seconds = time.monotonic() - began
    return BatchResult(
        counts=dict(job.counts(result)),
        parts=len(paths),
        read_seconds=read_seconds,
        seconds=seconds,
        unreadable=result["unreadable"].to_pylist().count(True),
        applied=applied,
    )


def in_process(job: BatchJob, paths: Sequence[Path]) -> Any:
    """Map the rows of part files one batch after the other; return the mapped rows, sorted by fingerprint."""
    return _sorted(job, (job.map(batch) for path in paths for batch in _batches(path)))


def _batches(path: Path) -> Iterator[Any]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=GROUP_ROWS):
            yield pa.Table.from_batches([batch])


def on_ray(job: BatchJob, paths: Sequence[Path], *, address: str = LOCAL, processes: int | None = None) -> Any:
    """Map the rows of part files on a Ray cluster; return the mapped rows, sorted by fingerprint.

    Args:
        processes: Of a cluster that is started here; by default one per core.
    """
    with _ray(address, processes) as ray:
        ray.data.DataContext.get_current().enable_progress_bars = False
        pages = ray.data.read_parquet([str(path.resolve()) for path in paths])
        mapped = pages.map_batches(job.map, batch_format="pyarrow", batch_size=GROUP_ROWS, zero_copy_batch=True)
        tables = ray.get(mapped.to_arrow_refs())
        return _sorted(job, (table for table in tables if len(table)))


@contextmanager
def _ray(address: str, processes: int | None = None) -> Iterator[Any]:
    """Connect to a cluster, or start one on this machine, and leave it again; a connection of the program is used."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    try:
        import ray
        import ray.data
    except ModuleNotFoundError as error:
        raise ConfigError(f'--ray needs another package: pip install "thresher-crawler[ray]" ({error})') from error
    if ray.is_initialized():
        yield ray
        return
    options = {"include_dashboard": False, "num_cpus": processes} if address == LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="warning", **options)
    except Exception as error:  # it raises no narrower class when a node does not start
        ray.shutdown()
        place = "started on this machine" if address == LOCAL else f"reached at {address}"
        raise ConfigError(
            f"no Ray cluster could be {place}: {error}; check the address, or run without --ray"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _sorted(job: BatchJob, tables: Iterable[Any]) -> Any:
    rows = pa.concat_tables([job.schema.empty_table(), *(table.cast(job.schema) for table in tables)])
    return rows.sort_by("fingerprint").combine_chunks()
