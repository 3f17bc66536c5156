"""thresher topics tokens: words of URLs that the token table does not know yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from thresher.archive.collection import Collection
from thresher.cli.show import echo, echo_json, echo_table
from thresher.topics.token_table import TokenTable
from thresher.topics.unmapped import LEAST, TokenCounter, unmapped


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--least", type=click.IntRange(min=0), default=LEAST, show_default=True, help="Tokens seen more often than this."
)
@click.option("--links", is_flag=True, help="Also count the links that pages added to the frontier.")
@click.option(
    "--table", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A token table of your own."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tokens(source: Path, least: int, links: bool, table: Path | None, as_json: bool) -> None:
    """List frequent words of URLs that the token table does not know, most frequent first.

    SOURCE is a crawl's folder, or a file with a URL on each line. Rows for what you recognise go into a file tokens.tsv
    in the crawl's folder, of the same form as the shipped table.
    """
    known, labels, urls = _crawl(source, links) if source.is_dir() else (TokenTable.shipped(), [], _lines(source))
    if table:
        known |= TokenTable.read(table)
    counter = TokenCounter(least=least)
    for url in urls:
        counter.add(url)
    found = unmapped(counter, known, labels=labels)
    off = f"too low by at most {counter.error:,}" if counter.error else "exact"
    echo(f"{len(found):,} tokens in more than {least:,} of {counter.urls:,} URLs; counts are {off}", err=True)
    if as_json:
        echo_json([asdict(each) for each in found])
    else:
        rows = [(each.token, each.count, " ".join(each.holds), each.example) for each in found]
        echo_table(["token", "URLs", "counts already as", "example"], rows)


def _crawl(folder: Path, links: bool) -> tuple[TokenTable, list[str], Iterator[str]]:
    from thresher.build import Crawl  # slow to import, and the other commands about topics do without it

    crawl = Crawl.open(folder)
    labels = [label for path in crawl.topic().labels for level in path for label in level.values()]
    return TokenTable.for_crawl(folder), labels, _pages(crawl.folder.pages, links)


def _pages(folder: Path, links: bool) -> Iterator[str]:
    with Collection(folder) as collection:
        for record in collection.ranked(duplicates=True):
            yield record.url
            if links:
                yield from (link.url for link in collection.links(record.fingerprint))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        yield from (line for line in map(str.strip, lines) if line)
