"""thresher why: one sentence on the state of a URL, then its path from the seed and the parts of its scores."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.stores import with_all_pages
from thresher.operations.explain import explain
from thresher.project import CrawlProject


@click.command()
@click.argument("dir", type=CRAWL)
@click.argument("url")
@click.option("--all", "all_parts", is_flag=True, help="Print every part of every score, not only the strongest.")
@json_option(
    {
        "url": "The URL.",
        "summary": "One sentence on its state.",
        "state": "waiting, leased, done, failed or unknown.",
        "reason": "Why it failed, or why it is not crawled; else empty.",
        "trouble": "Why the last attempt of a waiting URL failed; else empty.",
        "anchor": "The text of the link that it was found by.",
        "parked": "Why its host is parked; else empty.",
        "tries": "Failed attempts.",
        "last_try": "When it was last tried, in seconds since 1970; null if never.",
        "next_try_seconds": "Seconds until the next attempt; null if none is planned.",
        "threshold": "The relevance from which on a page is relevant.",
        "frontier": "Its entry in the frontier; null if there is none.",
        "path": "The pages from the seed to it, with all parts of their scores.",
        "history": "Every fetch of it.",
    },
)
def why(dir: Path, url: str, all_parts: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name
    """Explain why a URL was crawled, or why not.

    One sentence on its state comes first, then its path from a seed and the parts of its scores.

    \b
    Examples:
      thresher why solar https://example.org/cells
      thresher why solar https://example.org/cells --all
    """
    explanation = asyncio.run(explain(with_all_pages(CrawlProject.open(dir)), url))
    if as_json:
        echo_json(explanation.as_json())
    else:
        for line in explanation.lines(all_parts=all_parts):
            echo(line)
    if explanation.entry is None and not explanation.history:
        raise SystemExit(1)
