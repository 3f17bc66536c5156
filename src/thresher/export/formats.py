"""The formats that pages are exported in, by the names of the registry.

A format is an object with `is_folder` and `write`. A package adds one by an entry point in the group
``thresher.export_formats``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from thresher.atomic_file import atomic_write
from thresher.errors import ExportError
from thresher.export.dataset import write_dataset
from thresher.export.link_graph import LinkGraphExport
from thresher.export.markdown_folder import write_markdown_folder
from thresher.export.opensearch import index_name, write_bulk
from thresher.export.rows import Columns, Row, export, page_columns, page_contents, rows, text_file
from thresher.parsing.main_content import PageContent
from thresher.storage.page_set import PageSet
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.reader import warc_paths
from thresher.storage.warc.subset import copy_records


class ExportSummary(NamedTuple):
    """What was written: how many rows, and what a row is."""

    rows: int
    content: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.rows:,} {self.content}{self.detail}"


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
    raw: bool = False

    def rows(self, *, text: bool, markdown: bool) -> Iterator[Row]:
        return rows(self.collection, text=text, markdown=markdown, since=self.since, **self.chosen)

    def columns(self, *, text: bool, markdown: bool) -> Columns:
        return page_columns(several=self.several, text=text, markdown=markdown)

    def contents(self) -> Iterable[tuple[PageRecord, PageContent]]:
        return page_contents(self.collection, since=self.since, **self.chosen)

    @property
    def left_out(self) -> int:
        """The number of pages that are left out as duplicates; 0 where other options choose pages too."""
        return 0 if self.since or any(self.chosen.values()) else self.collection.tally().duplicates


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
        detail = f", without {copies:,} duplicate{'s' * (copies != 1)} (--duplicates)" if copies else ""
        return ExportSummary(number, "pages", detail)


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
            return ExportSummary(graph.write_graphml(file), "links", " between pages")


class Warc:
    """The WARC records of the pages."""

    is_folder = False

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        if path is None:
            raise ExportError("warc is not for a terminal; name a file: -o pages.warc.gz")
        files = warc_paths(pages.warc)
        if not files:
            raise ExportError(
                f"{pages.warc.parent} has no WARC files. To archive from the next run on: output: {{warc: true}}"
            )
        chosen = PageSet(pages.collection, pages.collection.ranked(**pages.chosen))
        with closing(chosen), atomic_write(path) as unfinished, unfinished.open("wb") as file:
            return ExportSummary(copy_records(files, file, chosen), "records", " of pages")


class MarkdownFolder:
    """A folder with a Markdown file for each page."""

    is_folder = True

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        assert path
        done = write_markdown_folder(pages.contents(), path)
        detail = f" with text ({done.written:,} files written, {done.removed:,} removed)"
        return ExportSummary(done.pages, "pages", detail)


class Dataset:
    """A folder of Parquet files with a dataset card."""

    is_folder = True

    def write(self, pages: PageSelection, path: Path | None, out: IO[str]) -> ExportSummary:
        assert path
        table, columns = pages.rows(text=True, markdown=True), pages.columns(text=True, markdown=True)
        counts = write_dataset(table, path, columns=columns, name=pages.crawl, topic=pages.topic)
        return ExportSummary(counts.pages, "pages", " with text")


OPENSEARCH, GRAPHML, WARC, MARKDOWN, DATASET = OpenSearch(), GraphMl(), Warc(), MarkdownFolder(), Dataset()
