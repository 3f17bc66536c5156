"""thresher why: one sentence on where a URL stands, then the path from the seed and the parts of the scores."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json
from thresher.explain import explain


@click.command()
@click.argument("dir", type=CRAWL)
@click.argument("url")
@click.option("--all", "all_parts", is_flag=True, help="Print every part of every score, not only the strongest.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; it holds every part.")
def why(dir: Path, url: str, all_parts: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name
    """Say why a page is there or not: one sentence, then its path from a seed and the parts of its scores."""
    explanation = asyncio.run(explain(Crawl.open(dir), url))
    if as_json:
        echo_json(explanation.as_json())
    else:
        for line in explanation.lines(all_parts=all_parts):
            echo(line)
    if explanation.entry is None and not explanation.history:
        raise SystemExit(1)
