"""thresher why: the verdict on a URL in a few lines of words; with --details every number."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.locale.translation import environment_language
from thresher.operations.explain import explain


@click.command()
@click.argument("dir", type=CRAWL)
@click.argument("url")
@click.option("--details", is_flag=True, help="Also print every number: scores and their parts, weights, visits.")
@json_option(
    {
        "url": "The URL.",
        "title": "Its title; empty if it was not fetched.",
        "state": "waiting, leased, done, failed or unknown.",
        "summary": "The verdict or the state, and how it was found, in sentences.",
        "reason": "Why it failed, or why it is not crawled; else empty.",
        "relevance": "The relevance; null without a page, as the next seven.",
        "relevant": "Whether it is relevant.",
        "threshold": "The cut: the relevance from which on a page is relevant.",
        "rank": "Its place by relevance; null for a copy of another page.",
        "pages": "Pages that are ranked.",
        "words_for": "The five words that speak most for the topic, each with its share.",
        "words_against": "The five words that speak most against it.",
        "nearest": "The most similar seed or labelled page: url, title, similarity, kind.",
        "score": "Its score when it was fetched, or in the queue; null if it was never queued.",
        "queue_rank": "The place of a waiting URL in the queue; null beyond the first 1,000.",
        "anchor": "The text of the last link of the path.",
        "path": "The pages of the shortest path from a seed: url, title, anchor.",
        "details": "Only with --details: attempts, link, parts of scores, visits.",
    },
)
def why(dir: Path, url: str, details: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name
    """Explain why a URL was crawled, or why not.

    Prints the verdict, the words for and against the topic, the most similar seed or labelled page, and the shortest
    path from a seed. For a URL that was not fetched: why it waits, failed or was refused.

    \b
    Examples:
      thresher why solar https://example.org/cells
      thresher why solar https://example.org/cells --details
    """
    explanation = asyncio.run(explain(with_all_pages(CrawlSetup.open(dir)), url))
    if as_json:
        echo_json(explanation.as_json(details=details))
    else:
        language = environment_language()
        for line in [*explanation.lines(language), *(explanation.detail_lines(language) if details else ())]:
            echo(line)
    if explanation.entry is None and not explanation.history:
        raise SystemExit(1)
