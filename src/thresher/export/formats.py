"""The formats that pages are exported in, by the names of the registry.

A format is an object with `is_folder` and `write`. A package adds one by an entry point in the group
``thresher.export_formats``.

`write_bulk` writes a bulk file for OpenSearch or Elasticsearch: for each page a line with its id, and one with its
columns.

`write_dataset` writes a dataset folder: Parquet shards and a dataset card, as `datasets`, DuckDB, pandas and polars
read them.

The folder appears under its name only when it is complete. The card states what was counted while the shards were
written, and nothing else.

`write_markdown_folder` writes a folder of Markdown: one file per page with its fields as YAML front matter, and an
index.

Each file is replaced atomically, and only when its content differs. So an export that was interrupted goes on when it
is repeated, and a repeated export leaves the files of unchanged pages as they are. Files of pages that are no longer
exported are removed; nothing else in the folder is touched. Whether a folder of an earlier export may be changed is
the caller's decision.
"""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

import yaml

from thresher.atomic_file import atomic_write
from thresher.errors import ExportError, is_disk_full
from thresher.export.link_graph import LinkGraphExport
from thresher.export.rows import (
    Columns,
    Row,
    export,
    has_quality,
    page_columns,
    page_contents,
    rows,
    text_file,
    time_text,
    write_parquet,
)
from thresher.locale.translation import _
from thresher.parsing.content_blocks import CONTROL
from thresher.parsing.main_content import PageContent
from thresher.storage.page_set import PageSet
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.reader import warc_paths
from thresher.storage.warc.subset import copy_records
from thresher.text.terminal import printable, printable_json
from thresher.urls.canonical import fingerprint, host_key

INDEX = "index.jsonl"
"""The index: one line per page with its file and its fields."""

_MAX_SLUG_BYTES = 80
_OUR_FILE = re.compile(r"[^/\\]{1,100}/[^/\\]{0,100}-[0-9a-f]{16}\.md").fullmatch
_OUTSIDE_NAMES = re.compile(r"[^\w.-]+|_+")


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """What an export did.

    Args:
        pages: Files that the folder holds for pages.
        written: Those of them that are new or changed.
        removed: Files of pages that are no longer exported.
    """

    pages: int = 0
    written: int = 0
    removed: int = 0


def write_markdown_folder(pages: Iterable[tuple[PageRecord, PageContent]], folder: Path) -> FolderSummary:
    """Write one file per page, and the index at the end.

    Raises:
        ExportError: The folder cannot be written, or its index is not that of an export.
    """
    before = _indexed(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        count = written = 0
        with atomic_write(folder / INDEX) as unfinished, unfinished.open("w", encoding="utf-8") as index:
            for record, content in pages:
                name, fields = file_name(record.url, record.fingerprint), front_matter(record, content)
                written += _write(folder / name, document(fields, content))
                index.write(printable_json({"file": name, **fields}) + "\n")
                before.discard(name)
                count += 1
        for name in before:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        if is_disk_full(error):
            raise
        raise ExportError(
            _("{path} cannot be written: {error}; choose another place", path=folder, error=_(str(error.strerror)))
        ) from error
    return FolderSummary(count, written, len(before))


def _indexed(folder: Path) -> set[str]:
    """Return the files that an earlier export wrote; none without an index.

    Raises:
        ExportError: The index is not that of an export.
    """
    try:
        lines = (folder / INDEX).read_text(encoding="utf-8").splitlines()
        return {name for line in lines if _OUR_FILE(name := str(json.loads(line)["file"])) and ".." not in name}
    except OSError:
        return set()
    except (ValueError, KeyError, TypeError) as error:
        raise ExportError(_("{file} was not written by an export; name another folder", file=folder / INDEX)) from error


def _write(path: Path, text: str) -> bool:
    """Write a file atomically; return False when it already has this content."""
    data = text.encode("utf-8", "replace")
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    except FileNotFoundError:
        path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(data)
    unfinished.replace(path)
    return True


def front_matter(record: PageRecord, content: PageContent) -> Row:
    """Return the fields of a page."""
    return {
        "title": record.title,
        "url": record.url,
        **asdict(content.metadata),
        "language": record.language,
        "relevance": round(record.relevance, 6),
        "relevant": record.relevant,
        "fetched_at": time_text(record.fetched_at),
        "opt_outs": " ".join(record.opt_outs),
        "text_hash": f"{record.text_hash & 0xFFFFFFFFFFFFFFFF:016x}",
    }


def document(fields: Row, content: PageContent) -> str:
    """Return the file of a page; JSON values are valid YAML, whatever a title contains."""
    lines = (f"{name}: {_scalar(value)}" for name, value in fields.items())
    return "\n".join(["---", *lines, "---", "", content.markdown, ""])


def _scalar(value: object) -> str:
    if isinstance(value, str):
        value = CONTROL.sub("", printable(value))
    return printable_json(value)


def file_name(url: str, fingerprint: int) -> str:
    """Return the path of a page's file: its host, the end of its URL, and its fingerprint, which makes it unique."""
    path = unquote(urlsplit(url).path, errors="replace").rstrip("/")
    last = unicodedata.normalize("NFC", path.rpartition("/")[2])
    slug = _OUTSIDE_NAMES.sub("-", last.removesuffix(".html")).strip("-.")
    short = slug.encode("utf-8", "replace")[:_MAX_SLUG_BYTES].decode("utf-8", "ignore") or "page"
    host = re.sub(r"[^a-z0-9.-]", "_", host_key(url)).strip(".")[:100] or "host"
    return f"{host}/{short}-{fingerprint & 0xFFFFFFFFFFFFFFFF:016x}.md"


SHARD_CHARACTERS = 256 << 20
"""A shard is complete when its texts have this many characters."""
CARD = "README.md"
_ORIGIN = "Pages that the focused crawler Thresher fetched for the topic"

_MAX_LICENSES = 1_000
_SHOWN_LICENSES = 20
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_MEANINGS = {
    "text": "main text, with its paragraphs",
    "markdown": "main content as Markdown",
    "author": "as the page states it",
    "published": "date of publication, as the page states it",
    "license": "licence, as the page states it",
    "language": "detected from the text",
    "relevance": "probability that the page is about the topic, by the classifier of the crawl",
    "relevant": "whether the relevance reached the threshold of the crawl",
    "fetched_at": "when this text was fetched, in UTC",
    "quality": "share of the rules of published text filters (C4, Gopher, FineWeb) that the main text passes",
    "quality_failed": "the rules that it does not pass",
}


@dataclass(slots=True)
class DatasetCounts:
    """What is counted while the rows pass."""

    pages: int = 0
    relevant: int = 0
    characters: int = 0
    first: str = ""
    last: str = ""
    languages: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    hosts: set[str] = field(default_factory=set)

    def counted(self, table: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on, except those without text."""
        for row in table:
            if not row["text"]:
                continue
            self.pages += 1
            self.relevant += bool(row["relevant"])
            self.characters += len(row["text"])
            self.first = min(self.first or row["fetched_at"], row["fetched_at"])
            self.last = max(self.last, row["fetched_at"])
            self.languages[row["language"]] += 1
            self.hosts.add(row["host"])
            known = row["license"] in self.licenses or len(self.licenses) < _MAX_LICENSES
            self.licenses[row["license"] if known else "other"] += 1
            yield row


def write_dataset(table: Iterable[Row], folder: Path, *, columns: Columns, name: str, topic: str) -> DatasetCounts:
    """Write a dataset folder; one of an earlier export is replaced, and nothing else.

    Args:
        table: The rows, with text and Markdown.
        folder: The folder.
        columns: The columns of the rows.
        name: The name of the crawl.
        topic: Its topic, in words.

    Raises:
        ExportError: The folder cannot be written, or holds other files.
    """
    unfinished = folder.with_name(f"{folder.name}.part")
    _check(folder, unfinished)
    counts = DatasetCounts()
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        (unfinished / "data").mkdir(parents=True)
        _write_shards(counts.counted(table), unfinished / "data", columns)
        card = dataset_card(counts, columns=columns, name=name, topic=topic)
        (unfinished / CARD).write_text(card, encoding="utf-8", errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.replace(folder)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if is_disk_full(error):
            raise
        raise ExportError(
            _("{path} cannot be written: {error}; choose another place", path=folder, error=_(str(error.strerror)))
        ) from error
    return counts


def _check(folder: Path, unfinished: Path) -> None:
    """Refuse folders with files that no export of a dataset wrote."""
    if folder.exists() and not folder.is_dir():
        raise ExportError(_("{file} is a file; a dataset needs a folder: name another", file=folder))
    card = folder / CARD
    if card.exists() and _ORIGIN not in card.read_text(encoding="utf-8", errors="replace"):
        raise ExportError(_("{file} was not written by an export; name a new folder", file=card))
    for place in (folder, unfinished):
        files = (path.relative_to(place) for path in place.rglob("*") if not path.is_dir())
        other = next((path for path in files if str(path) != CARD and not path.match("data/pages-*.parquet*")), None)
        if other or (place == folder and (folder / "data").exists() and not card.exists()):
            what = other or _("data")
            raise ExportError(
                _("{folder} holds {other}, which is not part of a dataset; name a new folder", folder=place, other=what)
            )


def _write_shards(table: Iterator[Row], folder: Path, columns: Columns) -> None:
    number = 0
    while (first := next(table, None)) is not None or not number:  # an empty dataset has a shard too
        rows = _until_full(chain([first], table)) if first else iter(())
        write_parquet(rows, folder / f"pages-{number:05}.parquet", columns=columns)
        number += 1


def _until_full(table: Iterator[Row]) -> Iterator[Row]:
    characters = 0
    for row in table:
        yield row
        characters += len(row["text"]) + len(row["markdown"])
        if characters >= SHARD_CHARACTERS:
            return


def dataset_card(counts: DatasetCounts, *, columns: Columns, name: str, topic: str) -> str:
    """Return the card: YAML for machines, and the same for people."""
    codes = sorted(code for code in counts.languages if code)
    head = {
        "pretty_name": printable(name),
        **({"language": codes} if codes else {}),
        "license": "other",
        "license_name": "per-page",
        "size_categories": [next((text for most, text in _SIZES if counts.pages < most), "n>1M")],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": "data/*.parquet"}]}],
    }
    front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False)
    return "\n".join(["---", front.rstrip(), "---", "", *_prose(counts, columns, name, topic), ""])


def _prose(counts: DatasetCounts, columns: Columns, name: str, topic: str) -> Iterator[str]:
    yield f"# {_inline(name)}"
    yield f"\n{_ORIGIN} {_inline(topic)}.\n"
    yield f"- pages: {counts.pages:,}, of which {counts.relevant:,} were judged relevant; hosts: {len(counts.hosts):,}"
    yield f"- {counts.characters:,} characters of main text"
    if counts.pages:
        yield f"- fetched from {counts.first} to {counts.last}"
    yield from ("\n## Languages\n", *_table("language", counts.languages, "not detected"))
    yield "\n## Licences\n"
    yield "As the pages state them by `rel=license`, meta elements or JSON-LD. A page that states none is not free of"
    yield "rights; Thresher did not check any statement.\n"
    yield from _table("licence", counts.licenses, "none stated")
    yield from ("\n## Columns\n", "| column | meaning |", "|---|---|")
    yield from (f"| `{column}` | {_MEANINGS.get(column, 'as in `thresher export`')} |" for column in columns)


def _table(title: str, numbers: Mapping[str, int], missing: str) -> Iterator[str]:
    yield from (f"| {title} | pages |", "|---|---|")
    shown = Counter(numbers).most_common(_SHOWN_LICENSES)
    yield from (f"| {_inline(value) or missing} | {number:,} |" for value, number in shown)
    if rest := sum(numbers.values()) - sum(number for _, number in shown):
        yield f"| others | {rest:,} |"


def _inline(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("[", "\\[")


_MAX_NAME_BYTES = 255


def index_name(crawl: str) -> str:
    """Return a valid index name for a crawl."""
    name = re.sub(r'[\\/*?"<>|\s,#:]+', "-", crawl.lower()).lstrip("-_+.").encode()[:_MAX_NAME_BYTES]
    return name.decode("utf-8", "ignore") or "pages"


def write_bulk(pages: Iterable[Row], out: IO[str], *, index: str) -> int:
    """Write pages, each with a stable id, so that sending the file twice changes nothing; return their number."""
    number = 0
    for number, row in enumerate(pages, start=1):  # noqa: B007 - the last number is the result
        name = f"{fingerprint(row['url']) & 0xFFFFFFFFFFFFFFFF:016x}"
        out.write(printable_json({"index": {"_index": index, "_id": name}}) + "\n")
        out.write(printable_json(row) + "\n")
    return number


class ExportSummary(NamedTuple):
    """What was written: how many rows, and what a row is."""

    rows: int
    content: str
    detail: str = ""

    def __str__(self) -> str:
        return _("{rows:,} {content}{detail}", rows=self.rows, content=_(self.content), detail=self.detail)


@dataclass(frozen=True, kw_only=True)
class PageSelection:
    """The pages of an export, most relevant first.

    Args:
        chosen: Which pages, as for `PageStoreReader.ranked`.
        crawl: The name of the crawl.
        topic: The words of its topic.
        several: Whether it has several topics.
        warc: Its folder of WARC files.
        since: Only pages that are new or changed from then on.
        text: Whether the main text is wanted.
        markdown: Whether the main content as Markdown is wanted.
        quality: Whether tables have the quality of the main text too.
        min_quality: Only pages whose main text has this quality.
        raw: Whether cells stay as they are, with formulas and control characters.
    """

    collection: PageStoreReader
    chosen: Mapping[str, Any]
    crawl: str
    topic: str
    several: bool
    warc: Path
    since: float = 0.0
    text: bool = False
    markdown: bool = False
    quality: bool = False
    min_quality: float = 0.0
    raw: bool = False

    def rows(self, *, text: bool, markdown: bool) -> Iterator[Row]:
        chosen = {"since": self.since, "min_quality": self.min_quality, **self.chosen}
        return rows(self.collection, text=text, markdown=markdown, quality=self.quality, **chosen)

    def columns(self, *, text: bool, markdown: bool) -> Columns:
        return page_columns(several=self.several, text=text, markdown=markdown, quality=self.quality)

    def contents(self) -> Iterable[tuple[PageRecord, PageContent]]:
        return page_contents(self.collection, since=self.since, min_quality=self.min_quality, **self.chosen)

    def records(self) -> Iterator[PageRecord]:
        """Yield the pages without their contents."""
        for record in self.collection.ranked(**self.chosen):
            if record.fetched_at >= self.since and self._has_quality(record):
                yield record

    def _has_quality(self, record: PageRecord) -> bool:
        if not self.min_quality:
            return True
        return has_quality(self.collection.content(record.fingerprint), record.language, self.min_quality)

    def warc_files(self) -> Sequence[Path]:
        """Return the WARC files of the crawl.

        Raises:
            ExportError: There are none.
        """
        if files := warc_paths(self.warc):
            return files
        raise ExportError(
            _(
                "{folder} has no WARC files. To archive from the next run on: output: {{warc: true}}",
                folder=self.warc.parent,
            )
        )

    @property
    def left_out(self) -> int:
        """The number of pages that are left out as duplicates; 0 where other options choose pages too."""
        return 0 if self.since or self.min_quality or any(self.chosen.values()) else self.collection.tally().duplicates


class ExportFormat(Protocol):
    """Writes pages in one format.

    Args:
        is_folder: Whether it writes a folder, and so needs a path.
    """

    is_folder: bool

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        """Write pages to a path; a format that is no folder writes to `out` without one.

        Raises:
            ExportError: It cannot be written there.
        """


class TableFormat:
    """A table with a row for each page."""

    is_folder = False

    def __init__(self, name: str) -> None:
        self._name = name

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        wanted = {"text": pages.text, "markdown": pages.markdown}
        table, columns = pages.rows(**wanted), pages.columns(**wanted)
        number = export(table, self._name, path, out, raw=pages.raw, columns=columns)
        copies = pages.left_out
        detail = _(", without {n:,} duplicate (--duplicates)", ", without {n:,} duplicates (--duplicates)", n=copies)
        return ExportSummary(number, "pages", detail if copies else "")


JSONL, CSV, PARQUET = map(TableFormat, ("jsonl", "csv", "parquet"))


class OpenSearch:
    """A bulk file for OpenSearch or Elasticsearch, always with text: an index without it finds nothing."""

    is_folder = False

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        table = pages.rows(text=True, markdown=pages.markdown)
        with text_file(path, out) as file:
            return ExportSummary(write_bulk(table, file, index=index_name(pages.crawl)), "pages")


class GraphMl:
    """Pages, and the links between them."""

    is_folder = False

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        with closing(LinkGraphExport(pages.collection, **pages.chosen)) as graph, text_file(path, out) as file:
            return ExportSummary(graph.write_graphml(file), "links", _(" between pages"))


class Warc:
    """The WARC records of the pages."""

    is_folder = False

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        if path is None:
            raise ExportError(_("warc is not for a terminal; name a file: -o pages.warc.gz"))
        files = pages.warc_files()
        chosen = PageSet(pages.collection, pages.records())
        with closing(chosen), atomic_write(path) as unfinished, unfinished.open("wb") as file:
            return ExportSummary(copy_records(files, file, chosen), "records", _(" of pages"))


class MarkdownFolder:
    """A folder with a Markdown file for each page."""

    is_folder = True

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        assert path
        done = write_markdown_folder(pages.contents(), path)
        detail = _(
            " with text ({written:,} files written, {removed:,} removed)", written=done.written, removed=done.removed
        )
        return ExportSummary(done.pages, "pages", detail)


class Dataset:
    """A folder of Parquet files with a dataset card."""

    is_folder = True

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        assert path
        table, columns = pages.rows(text=True, markdown=True), pages.columns(text=True, markdown=True)
        counts = write_dataset(table, path, columns=columns, name=pages.crawl, topic=pages.topic)
        return ExportSummary(counts.pages, "pages", _(" with text"))


OPENSEARCH, GRAPHML, WARC, MARKDOWN, DATASET = OpenSearch(), GraphMl(), Warc(), MarkdownFolder(), Dataset()
