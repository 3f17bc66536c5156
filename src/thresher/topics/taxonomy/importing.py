"""Import of taxonomies; the format of a file is detected by its first bytes.

    ODP's RDF dump      structure.rdf.u8 and content.rdf.u8          `odp`
    a table of paths    tab-separated, or JSON objects line by line  `tables`
    written by hand     YAML                                         `yaml`

Each may be compressed with gzip or zstd.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast

from thresher.compression import zstd
from thresher.errors import ConfigError, StoreError
from thresher.topics.taxonomy.bundled import complete_labels
from thresher.topics.taxonomy.odp import read_odp
from thresher.topics.taxonomy.tables import read_json_lines, read_tsv
from thresher.topics.taxonomy.writer import TaxonomyWriter
from thresher.topics.taxonomy.yaml import read_yaml

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LOOKED_AT = 1 << 16
_BUFFER = 1 << 20
_YAML_LINE = re.compile(r"[^\t]*:(\s|$)|\s*- |[{\[]")


class TaxonomyFormat(Enum):
    """The formats of taxonomies; the values are used in messages."""

    RDF = "an ODP dump"
    TSV = "a table of paths"
    JSON_LINES = "a list of JSON objects"
    YAML = "YAML"


@dataclass(frozen=True)
class TaxonomySource:
    """An open file: its format, and its decompressed bytes."""

    kind: TaxonomyFormat
    file: BinaryIO


@dataclass(kw_only=True)
class ImportResult:
    """Counts of nodes, of example pages, of repaired characters, of skipped entries, and of completed nodes."""

    nodes: int = 0
    examples: int = 0
    repaired: int = 0
    skipped: int = 0
    completed: int = 0
    kinds: dict[str, str] = field(default_factory=dict)


def import_taxonomy(
    files: Sequence[Path],
    output: Path,
    *,
    complete: bool = True,
    progress: Callable[[ImportResult], None] = lambda _: None,
) -> ImportResult:
    """Import files of any format into one new taxonomy file.

    Args:
        complete: Add English or Chinese labels and keywords of the bundled taxonomy where they are missing.
        progress: Called from time to time with the counts so far.

    Raises:
        ConfigError: A file is not valid, or `output` exists.
        StoreError: A compressed file is damaged.
    """
    if output.exists():
        raise ConfigError(f"{output} is there already; remove it, or choose another name")
    if not output.parent.is_dir():
        raise ConfigError(f"there is no folder {output.parent} to write {output.name} into; make it first")
    imported = ImportResult()
    with TaxonomyWriter(output, complete=complete_labels if complete else lambda _: 0) as writer:
        for path in files:
            with open_source(path) as source:
                imported.kinds[str(path)] = source.kind.value
                for repaired, skipped in _read(source, path.name, writer):
                    imported.repaired += repaired
                    imported.skipped += skipped
                    imported.nodes, imported.examples = writer.nodes, writer.examples
                    progress(imported)
        imported.nodes, imported.examples = writer.nodes, writer.examples
        if not imported.nodes:
            raise ConfigError(f"{', '.join(imported.kinds)}: no topic in it ({imported.skipped} lines left out)")
    imported.completed = writer.completed
    return imported


def _read(source: TaxonomySource, name: str, writer: TaxonomyWriter) -> Iterator[tuple[int, int]]:
    """Read one file; yield the numbers of repaired characters and skipped entries since the last time."""
    if source.kind is TaxonomyFormat.RDF:
        yield from read_odp(source.file, name, writer)
    elif source.kind is TaxonomyFormat.YAML:
        read_yaml(source.file, name, writer)
    else:
        read = read_json_lines if source.kind is TaxonomyFormat.JSON_LINES else read_tsv
        yield from read(source.file, writer)


@contextmanager
def open_source(path: Path) -> Iterator[TaxonomySource]:
    """Open a file, decompress it if needed, and detect its format.

    Raises:
        ConfigError: It does not exist, or is empty.
        StoreError: It is compressed and damaged.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.read(4)
            raw.seek(0)
            with io.BufferedReader(_unpacked(raw, packed), _BUFFER) as file:
                kind = _kind(file.peek(_LOOKED_AT)[:_LOOKED_AT], path)
                yield TaxonomySource(kind, cast(BinaryIO, file))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no file {path}; check the path") from error
    except (EOFError, zlib.error, gzip.BadGzipFile, zstd.ZstdError) as error:
        raise StoreError(f"{path} cannot be unpacked: {error}") from error


def _unpacked(raw: BinaryIO, packed: bytes) -> io.RawIOBase:
    if packed.startswith(_GZIP):
        return cast(io.RawIOBase, gzip.GzipFile(fileobj=raw))
    if packed.startswith(_ZSTD):
        return cast(io.RawIOBase, zstd.ZstdFile(raw))
    return cast(io.RawIOBase, raw)


def _kind(head: bytes, path: Path) -> TaxonomyFormat:
    text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if not text:
        raise ConfigError(f"{path} is empty; name a file with topics")
    if text.startswith("<"):
        return TaxonomyFormat.RDF
    if text.startswith('{"'):
        return TaxonomyFormat.JSON_LINES
    lines = [line for line in text.splitlines()[:50] if line.strip() and not line.startswith("#")]
    if any("\t" in line.strip() for line in lines) or not any(map(_YAML_LINE.match, lines)):
        return TaxonomyFormat.TSV
    return TaxonomyFormat.YAML
