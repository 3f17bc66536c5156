"""Import of taxonomies; the format of a file is detected by its first bytes.

    ODP's RDF dump      structure.rdf.u8 and content.rdf.u8          `odp`
    a table of paths    tab-separated, or JSON objects line by line  `tables`
    written by hand     YAML                                         `yaml`

Each may be compressed with gzip or zstd.

`read_odp` parses the dump of the Open Directory (ODP, DMOZ): structure.rdf.u8 and content.rdf.u8.

    <Topic r:id="Top/Sports/Basketball">            both files: a node
      <d:Title>  <d:Description>                    its label and description
      <symbolic r:resource="NBA:Top/Sports/…"/>     a link into another branch; `related` likewise
      <altlang r:resource="Chinese_Simplified:Top/World/Chinese_Simplified/…"/>
    <ExternalPage about="http://…">                 content: an example page
      <d:Title>  <d:Description>  <topic>

The real files contain control characters, invalid UTF-8 and bare ampersands; they are repaired and counted. A document
type is refused: the dump has none, and entities could expand to gigabytes.
"""

from __future__ import annotations

import codecs
import gzip
import html
import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import BinaryIO, cast
from xml.parsers import expat

from thresher.compression import zstd
from thresher.errors import ConfigError, StoreError
from thresher.topics.taxonomy.bundled import complete_labels
from thresher.topics.taxonomy.paths import clean_path, path_language
from thresher.topics.taxonomy.tables import MAX_TEXT, Damage, clean_text, is_web_address, read_json_lines, read_tsv
from thresher.topics.taxonomy.writer import TaxonomyWriter
from thresher.topics.taxonomy.yaml import read_yaml

_CHUNK = 1 << 18
_MAX_TOKEN_CHARACTERS = 4 << 20
_MAX_REFERENCE_CHARACTERS = 12
_MAX_LINKS = 100_000
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?:(?:amp|lt|gt|quot|apos);|#(\d{1,7});|#x([0-9a-fA-F]{1,6});)?")
_TAG = re.compile(r"<[^<>]{0,200}>")
_REPLACEMENT = "\ufffd"
_LINKS = {"symbolic": "symbolic", "symbolic1": "symbolic", "symbolic2": "symbolic", "related": "related"}
_LINKS |= {"altlang": "alternate", "altlang1": "alternate"}
_TEXTS = frozenset({"Title", "Description", "topic"})


def read_odp(file: BinaryIO, name: str, writer: TaxonomyWriter) -> Damage:
    """Read a file of the dump into a taxonomy; yield the numbers of repaired characters and skipped entries.

    Raises:
        ConfigError: It is not well-formed XML, or has a document type.
    """
    dump = _Dump(writer)
    repaired = RepairedText(file)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype(name)
    parser.StartElementHandler, parser.EndElementHandler = dump.start, dump.end
    parser.CharacterDataHandler = dump.characters
    fed = 0
    try:
        for text in repaired:
            packed = text.encode("utf-8")
            parser.Parse(packed)
            fed += len(packed)
            if fed - parser.CurrentByteIndex > _MAX_TOKEN_CHARACTERS:
                raise ConfigError(
                    f"{name}:{parser.CurrentLineNumber}: no end of a tag in {_MAX_TOKEN_CHARACTERS >> 20} MB"
                )
            yield repaired.take_count(), dump.take_skipped()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise ConfigError(f"{name}:{error.lineno}: not well-formed XML: {message}; is the file complete?") from error
    dump.end_topic()
    yield repaired.take_count(), dump.take_skipped()


def _refuse_doctype(name: str) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise ConfigError(f"{name}: it declares a document type, which the ODP dump never does; not read")

    return refuse


class RepairedText:
    """The text of a file in chunks, with everything repaired that XML forbids."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._count = 0

    def take_count(self) -> int:
        """Return the number of repaired characters since the last call."""
        count, self._count = self._count, 0
        return count

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        held = ""
        last = b""
        while chunk := self._file.read(_CHUNK):
            decoded = decoder.decode(chunk)
            # U+FFFD in the file itself is not damage; it may be split across two chunks.
            self._count += decoded.count(_REPLACEMENT) - (last + chunk).count(_REPLACEMENT.encode())
            last = (last + chunk)[-2:]
            text = held + decoded
            cut = text.find("&", max(0, len(text) - _MAX_REFERENCE_CHARACTERS))
            held = text[cut:] if cut >= 0 else ""
            yield self._repair(text[: len(text) - len(held)])
        yield self._repair(held + decoder.decode(b"", True))

    def _repair(self, text: str) -> str:
        text, forbidden = _FORBIDDEN.subn(" ", text)
        self._count += forbidden
        return _REFERENCE.sub(self._mend_reference, text) if "&" in text else text

    def _mend_reference(self, match: re.Match[str]) -> str:
        decimal, hexadecimal = match.groups()
        if decimal or hexadecimal:
            code = int(decimal) if decimal else int(hexadecimal, 16)
            allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0xFFFF < code < 0x110000
            self._count += not allowed
            return match[0] if allowed else " "
        if match[0] == "&":
            self._count += 1
            return "&amp;"
        return match[0]


class _Dump:
    """Handler of parser events that writes to a taxonomy; it stores one topic or page at a time."""

    def __init__(self, writer: TaxonomyWriter) -> None:
        self._writer = writer
        self._skipped = 0
        self._path = self._url = ""
        self._urls: dict[str, None] = {}
        self._texts: dict[str, str] = {}
        self._pieces: list[str] | None = None
        self._length = 0

    def take_skipped(self) -> int:
        """Return the number of skipped nodes, links and pages since the last call."""
        skipped, self._skipped = self._skipped, 0
        return skipped

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element; prefixes are ignored, since dumps differ in them."""
        tag = name.rpartition(":")[2]
        if tag in _TEXTS:
            self._pieces, self._length = [], 0
        elif tag == "Topic":
            self.end_topic()
            self._texts.clear()
            self._path = clean_path(_attribute(attributes, "id"))
        elif tag == "ExternalPage":
            self._texts.clear()
            self._url = _attribute(attributes, "about").strip()
        elif tag in _LINKS:
            self._link(_LINKS[tag], _attribute(attributes, "resource"))
        elif tag in ("link", "link1") and len(self._urls) < _MAX_LINKS:
            self._urls[_attribute(attributes, "resource").strip()] = None

    def characters(self, text: str) -> None:
        if self._pieces is not None and self._length < 2 * MAX_TEXT:
            self._pieces.append(text)
            self._length += len(text)

    def end(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        if tag in _TEXTS and self._pieces is not None:
            self._texts[tag] = "".join(self._pieces)
            self._pieces = None
        elif tag == "Topic":
            self._topic()
        elif tag == "ExternalPage":
            self._page()

    def end_topic(self) -> None:
        """Add the links of the last topic that had no page element of their own."""
        for url in self._urls:
            self._add_page(self._path, url, "", "")
        self._urls.clear()

    def _topic(self) -> None:
        if not self._path:
            return
        self._writer.add_node(self._path)
        title, description = self._texts.get("Title", ""), _words(self._texts.get("Description", ""))
        if title or description:
            label = clean_text(title).replace("_", " ")
            self._writer.add_label(self._path, path_language(self._path), label, description)

    def _page(self) -> None:
        path = clean_path(self._texts.get("topic", "")) or self._path
        self._urls.pop(self._url, None)
        self._add_page(
            path, self._url, _words(self._texts.get("Title", "")), _words(self._texts.get("Description", ""))
        )

    def _add_page(self, path: str, url: str, title: str, description: str) -> None:
        if path and is_web_address(url):
            self._writer.add_example(path, url, title, description)
        else:
            self._skipped += 1

    def _link(self, kind: str, resource: str) -> None:
        """Add a link; resources have the form ``Name:Top/…``, and the name may contain colons."""
        start = resource.find("Top/")
        target = clean_path(resource[start:]) if start >= 0 else ""
        if self._path and target:
            self._writer.add_link(self._path, kind, target)
        else:
            self._skipped += 1


def _attribute(attributes: dict[str, str], wanted: str) -> str:
    return next((value for name, value in attributes.items() if name.rpartition(":")[2] == wanted), "")


def _words(text: str) -> str:
    """Strip HTML markup from a description."""
    if "<" in text or "&" in text:
        text = html.unescape(_TAG.sub(" ", text))
    return clean_text(text)


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
