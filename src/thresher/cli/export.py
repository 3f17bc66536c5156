"""thresher export: write pages, hosts or links in common formats."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from thresher import registry
from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.errors import ExportError
from thresher.export.chunks import CHUNK_CHARACTERS, CHUNK_COLUMNS, MIN_CHARACTERS, chunk_rows
from thresher.export.formats import ExportFormat, ExportSummary, PageSelection
from thresher.export.hosts import HOST_COLUMNS, host_rows
from thresher.export.link_graph import LINK_COLUMNS, LinkGraphExport
from thresher.export.rows import FORMATS, refuse_taken, require_parquet
from thresher.export.rows import export as write
from thresher.locale.translation import _, localized
from thresher.search.index import SearchIndex
from thresher.search.mirrors import MIRROR_COLUMNS
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import host_key

KIND = "export format"


ONE_TABLE = _("--hosts, --links, --mirrors, --chunks make tables, one at a time: -f {forms}", forms=", ".join(FORMATS))


@click.command()
@click.argument("dir", type=CRAWL)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice([*dict.fromkeys([*registry.EXPORT_FORMATS, *registry.known(KIND)])]),
    default="jsonl",
    show_default=True,
    help="markdown: a folder with one file per page; dataset: a folder of Parquet files with a dataset card; "
    "opensearch: a bulk file; graphml: pages and links; warc: what was archived of these pages; wacz: the same in one "
    "file for replay; url-index: a folder with a table of it, as Common Crawl's.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="A file, or a folder; by default standard output."
)
@click.option("--replace", is_flag=True, help="Replace an earlier export of that name; what only it had is removed.")
@click.option(
    "--min-relevance",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out pages below this relevance.",
)
@click.option("--relevant", is_flag=True, help="Only relevant pages.")
@click.option(
    "--by-topic",
    "topic",
    default="",
    metavar="NAME",
    help="Relevance, verdicts and order for one of several topics, such as solar.",
)
@click.option(
    "--changed-since",
    "since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]),
    metavar="DATE",
    help="Only pages that are new or changed from then on, in UTC, such as 2026-01-31.",
)
@click.option(
    "--by",
    "order",
    type=click.Choice(["relevance", "layers"]),
    default="relevance",
    show_default=True,
    help="Order of pages; layers: by the probability of layer 0, for a crawl with trained layers.",
)
@click.option("--duplicates", is_flag=True, help="Also pages with the text of an earlier page.")
@click.option("--without-optouts", is_flag=True, help="Leave out pages whose site opts out of AI uses.")
@click.option("--text", is_flag=True, help="Also the main text of each page, with its paragraphs.")
@click.option("--markdown", is_flag=True, help="Also the main content as Markdown, author, date and licence.")
@click.option(
    "--quality", is_flag=True, help="Also the quality of the main text, by the rules of C4, Gopher and FineWeb."
)
@click.option(
    "--min-quality",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out pages whose text passes a smaller share of these rules.",
)
@click.option("--chunks", is_flag=True, help="One row per part of a page, split by heading and size.")
@click.option(
    "--chunk-size",
    type=click.IntRange(min=MIN_CHARACTERS),
    default=CHUNK_CHARACTERS,
    show_default=True,
    help="Most characters of a chunk.",
)
@click.option(
    "--chunk-overlap",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Characters of a chunk that the next one repeats, at most.",
)
@click.option("--hosts", is_flag=True, help="One row per host, with the evidence for it.")
@click.option("--new-hosts-only", is_flag=True, help="One row per host that is not a seed's.")
@click.option("--links", is_flag=True, help="One row per link of these pages.")
@click.option("--mirrors", is_flag=True, help="One row per pair of hosts that have the same pages.")
@click.option("--raw", is_flag=True, help="CSV: cells unchanged, with formulas and control characters.")
@json_option(
    {
        "output": "The file or folder that was written.",
        "format": "Its format.",
        "content": "What a row is: pages, hosts, links, mirrors, chunks, records or captures.",
        "rows": "How many were written.",
    },
    note="It needs -o: without it the rows themselves are printed.",
)
def export(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    form: str,
    output: Path | None,
    replace: bool,
    hosts: bool,
    new_hosts_only: bool,
    links: bool,
    mirrors: bool,
    chunks: bool,
    chunk_size: int,
    chunk_overlap: int,
    order: str,
    without_optouts: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Write pages, hosts or links to a file.

    Pages are ordered by relevance, the most relevant first.

    \b
    Examples:
      thresher export solar -f parquet -o pages.parquet --relevant
      thresher export solar -f csv -o hosts.csv --hosts --min-relevance 0.5
      thresher export solar --chunks --chunk-size 1500 | head -n 3
    """
    require_parquet(form)
    crawl = with_all_pages(CrawlSetup.open(dir))
    crawl.check_topic(options["topic"])
    tables = (hosts := hosts or new_hosts_only) + links + mirrors
    _check_tables(form, tables, chunks=chunks, min_quality=options["min_quality"])
    chosen_format: ExportFormat = registry.find(KIND, form)
    path = _checked_path(output, form, is_folder=chosen_format.is_folder, as_json=as_json, replace=replace)
    with _pages_in_order(crawl, order, without_opt_outs=without_optouts) as collection:
        exporter = _Export(crawl, collection, form, path, **options)
        if hosts:
            written = ExportSummary(exporter.hosts(new_only=new_hosts_only), "hosts")
        elif links:
            written = ExportSummary(exporter.links(), "links")
        elif mirrors:
            written = ExportSummary(exporter.mirrors(), "mirrors")
        elif chunks:
            written = ExportSummary(exporter.chunks(chunk_size, chunk_overlap), "chunks")
        else:
            written = chosen_format.write(exporter.selection(), path, sys.stdout)
    if as_json:
        echo_json({"output": str(path), "format": form, "content": written.content, "rows": written.rows})
    echo(_("{written} in {path}", written=str(written), path=path) if path else written, err=True)


def _check_tables(form: str, tables: int, *, chunks: bool, min_quality: float) -> None:
    if tables + chunks and (form not in FORMATS or tables + chunks > 1):
        raise ExportError(ONE_TABLE)
    if min_quality and (tables or form == "graphml"):
        raise ExportError(
            _("--min-quality chooses pages by their text: not with --hosts, --links, --mirrors, -f graphml")
        )


def _checked_path(output: Path | None, form: str, *, is_folder: bool, as_json: bool, replace: bool) -> Path | None:
    path = None if output is None or str(output) == "-" else output
    if is_folder and path is None:
        raise ExportError(_("{form} is a folder; name it: -o DIR", form=form))
    if as_json and path is None:
        raise click.UsageError(localized(_("--json reports on a file that was written; name the file: -o FILE")))
    if path and path.is_dir() and not is_folder:
        taken = _("File '{path}' is a directory. Name a file in it.", path=path)
        raise click.BadParameter(localized(taken), param_hint="'-o' / '--output'")
    if path:
        refuse_taken(path, replace=replace, option="--replace")
    return path


def _pages_in_order(crawl: CrawlSetup, order: str, *, without_opt_outs: bool) -> PageStoreReader:
    if order == "relevance":
        return PageStoreReader(crawl.folder.pages, without_opt_outs=without_opt_outs)
    ranked: PageStoreReader = registry.find("strategy", "layers").ranked_pages(
        crawl.folder.pages, crawl.folder.model / "trained", without_opt_outs=without_opt_outs
    )
    return ranked


@dataclass(frozen=True)
class _Export:
    """The writers, with the options of the command."""

    crawl: CrawlSetup
    collection: PageStoreReader
    form: str
    path: Path | None
    min_relevance: float
    relevant: bool
    since: datetime | None
    duplicates: bool
    topic: str
    text: bool
    markdown: bool
    quality: bool
    min_quality: float
    raw: bool

    @property
    def _chosen(self) -> dict[str, Any]:
        chosen = {"min_relevance": self.min_relevance, "relevant": self.relevant, "duplicates": self.duplicates}
        return {**chosen, "topic": self.topic}

    def hosts(self, *, new_only: bool) -> int:
        seeds = frozenset(map(host_key, self.crawl.seeds()))
        table = host_rows(self.collection, seed_hosts=seeds, new_only=new_only, **self._chosen)
        return write(table, self.form, self.path, sys.stdout, raw=self.raw, columns=HOST_COLUMNS)

    def links(self) -> int:
        with closing(self._graph()) as graph:
            return write(graph.rows(), self.form, self.path, sys.stdout, raw=self.raw, columns=LINK_COLUMNS)

    def mirrors(self) -> int:
        """Write the mirrors from the search index, which is updated first; page filters do not apply."""
        folder = self.crawl.folder
        with SearchIndex(folder.root, folder.pages) as index:
            self.crawl.backend.update_search(index)
            if index.catch_up() is None:
                echo(_("a search is adding pages to the index: the newest may be missing here"), err=True)
            table = map(asdict, index.mirrors())
            return write(table, self.form, self.path, sys.stdout, raw=self.raw, columns=MIRROR_COLUMNS)

    def chunks(self, characters: int, overlap: int) -> int:
        if overlap >= characters:
            raise ExportError(
                _("--chunk-overlap {overlap} must be below --chunk-size {size}", overlap=overlap, size=characters)
            )
        contents = self.selection().contents()
        table = chunk_rows(contents, characters=characters, overlap=overlap)
        return write(table, self.form, self.path, sys.stdout, raw=self.raw, columns=CHUNK_COLUMNS)

    def selection(self) -> PageSelection:
        titles = self.crawl.topic(self.topic).title.values()
        return PageSelection(
            collection=self.collection,
            chosen=self._chosen,
            crawl=self.crawl.name,
            topic="; ".join(titles or self.crawl.config.topics) or self.crawl.name,
            several=bool(self.crawl.config.topics),
            warc=self.crawl.folder.warc,
            since=self._since,
            text=self.text,
            markdown=self.markdown,
            quality=self.quality,
            min_quality=self.min_quality,
            raw=self.raw,
        )

    @property
    def _since(self) -> float:
        return self.since.replace(tzinfo=UTC).timestamp() if self.since else 0.0

    def _graph(self) -> LinkGraphExport:
        return LinkGraphExport(self.collection, **self._chosen)
