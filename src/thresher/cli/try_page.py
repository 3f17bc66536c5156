"""thresher try: judge and explain a page without crawling."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option, values_of, verdict
from thresher.operations.try_page import CountedWord, TriedPage, try_pages
from thresher.project import CrawlProject
from thresher.records import Parts
from thresher.runner.fetch_once import fetch_once


@click.command("try")
@click.argument("dir", type=CRAWL)
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--links", type=click.IntRange(min=0), default=10, show_default=True, help="How many links to list.")
@click.option("--no-seeds", is_flag=True, help="Do not read seeds first for a learning judge.")
@json_option(
    {
        "asked": "The URL as given.",
        "judged": "Whether the page could be fetched and judged.",
        "reason": "Only when it was not judged: why.",
        "url": "Only when judged, the URL after redirects.",
        "title": "Only when judged: the title.",
        "language": "Only when judged: the language.",
        "relevance": "Only when judged: the relevance.",
        "relevant": "Only when judged: whether it is relevant.",
        "parts": "Only when judged: the values behind the relevance.",
        "words": "Only when judged: the words that counted, with weights.",
        "links_found": "Only when judged: links that the crawl would follow.",
        "links_fetched": "Only when judged: links to pages that were fetched already.",
        "links": "Only when judged: the best links with scores.",
    },
    rows=True,
)
def try_page(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    urls: Sequence[str],
    links: int,
    no_seeds: bool,
    as_json: bool,
) -> None:
    """Fetch and judge a page, and explain the verdict.

    Nothing is stored. A learning judge reads up to five seeds first. Redirects are followed; robots.txt, scope and
    delays apply as in a crawl. Works beside a running crawl.

    \b
    Examples:
      thresher try solar https://example.org/cells
      thresher try solar https://example.org/cells --links 30 --json
    """
    attempts = try_pages(
        CrawlProject.open(dir), urls, fetch=fetch_once, read_seeds=not no_seeds, report=partial(echo, err=True)
    )
    if as_json:
        echo_json([attempt.as_json(links=links) for attempt in attempts])
    else:
        for number, attempt in enumerate(attempts):
            _echo(attempt, links, first=number == 0)
    sys.exit(0 if any(attempt.judgement for attempt in attempts) else 1)


def _echo(attempt: TriedPage, links: int, *, first: bool) -> None:
    if not first:
        echo()
    for line in sentences(attempt):
        echo(line)
    if attempt.judgement is None:
        return
    shown = attempt.links[:links]
    echo()
    echo(f"Links, the best {len(shown)} of {len(attempt.links):,}:" if shown else _no_links(attempt))
    if shown:
        rows = [(link.score, link.anchor, link.url, values_of(_nonzero(link.parts))) for link in shown]
        echo_table(["score", "anchor", "url", "made of"], rows)
    if attempt.links_fetched:
        echo(f"Not listed: {attempt.links_fetched:,} of its links lead to pages that were fetched already.")


def _nonzero(parts: Parts) -> Parts:
    """Return the parts that are printed as more than zeros; a link has ten, and most change nothing."""
    return {name: value for name, value in parts.items() if abs(value) >= 0.0005}


def _no_links(attempt: TriedPage) -> str:
    number = len(attempt.links)
    return f"Links: {number:,}." if number else "No link that the crawl would follow."


def sentences(attempt: TriedPage) -> list[str]:
    """Return the result for a URL as lines of text, without its links."""
    if attempt.judgement is None:
        return [attempt.asked, f"  not judged: {attempt.reason}"]
    lines = [attempt.asked]
    if attempt.url != attempt.asked:
        lines.append(f"  redirected to {attempt.url}")
    lines.append(f"  {attempt.title or '(no title)'}")
    lines.append(f"  language: {attempt.language or 'unknown'}")
    lines.append(f"  {verdict(attempt.judgement)}")
    lines.append(f"  for:      {_words([word for word in attempt.words if word.weight > 0]) or 'no word'}")
    if against := _words([word for word in attempt.words if word.weight < 0]):
        lines.append(f"  against:  {against}")
    return lines


def _words(words: Sequence[CountedWord]) -> str:
    return ", ".join(f"{word.written} {word.weight:+.3f}" for word in words)
