"""thresher why: one sentence on the state of a URL, then its path from the seed and the parts of its scores."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json
from thresher.cli.stores import with_all_pages
from thresher.operations.explain import explain
from thresher.project import CrawlProject


@click.command()
@click.argument("dir", type=CRAWL)
@click.argument("url")
@click.option("--all", "all_parts", is_flag=True, help="Print every part of every score, not only the strongest.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; it holds every part.")
def why(dir: Path, url: str, all_parts: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name
    """Explain a URL: one sentence on its state, then its path from a seed and the parts of its scores."""
    explanation = asyncio.run(explain(with_all_pages(CrawlProject.open(dir)), url))
    if as_json:
        echo_json(explanation.as_json())
    else:
        for line in explanation.lines(all_parts=all_parts):
            echo(line)
    if explanation.entry is None and not explanation.history:
        raise SystemExit(1)
