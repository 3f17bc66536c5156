"""thresher export: the collection in formats that other tools open."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from thresher.archive.collection import Collection
from thresher.archive.export import FORMATS, rows
from thresher.archive.export import export as write
from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), default="jsonl", show_default=True)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file; standard output if left out."
)
@click.option(
    "--min-relevance", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Leave out pages below."
)
@click.option("--duplicates", is_flag=True, help="Also pages whose text another page brought first.")
@click.option("--text", is_flag=True, help="Also the text of each page.")
@click.option("--raw", is_flag=True, help="CSV: cells as they came, with formulas and control characters.")
def export(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    form: str,
    output: Path | None,
    min_relevance: float,
    duplicates: bool,
    text: bool,
    raw: bool,
) -> None:
    """Write the pages of a crawl, most relevant first."""
    crawl = Crawl.open(dir)
    path = None if output is None or str(output) == "-" else output
    with Collection(crawl.folder.pages) as collection:
        pages = rows(collection, min_relevance=min_relevance, duplicates=duplicates, text=text)
        number = write(pages, form, path, sys.stdout, text=text, raw=raw)
    echo(f"{number:,} pages{f' in {path}' if path else ''}", err=True)
