"""thresher status: the numbers of a crawl, now."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from thresher.archive.collection import Collection
from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json
from thresher.frontier.base import Counts


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(dir: Path, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Print a crawl in numbers."""
    crawl = Crawl.open(dir)
    with Collection(crawl.folder.pages) as collection:
        relevant = collection.relevant_pages()  # the frontier counted them as they were judged when they came
    counts = replace(asyncio.run(_counts(crawl)), relevant=relevant)
    numbers = {"name": crawl.name, "strategy": crawl.config.strategy.name, **_numbers(counts)}
    if as_json:
        echo_json(numbers)
        return
    for name, value in numbers.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else value
        echo(f"{name.replace('_', ' '):>14}  {shown}")


async def _counts(crawl: Crawl) -> Counts:
    frontier = crawl.frontier()
    try:
        return await frontier.counts()
    finally:
        await frontier.close()


def _numbers(counts: Counts) -> dict[str, Any]:
    numbers = asdict(counts)
    first = {name: numbers.pop(name) for name in ("pages", "relevant")}
    harvest = counts.relevant / counts.pages if counts.pages else 0.0
    return {**first, "harvest_rate": round(harvest, 4), **numbers}
