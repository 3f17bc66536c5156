"""thresher try: judge and explain a page without crawling."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option, values_of
from thresher.crawl import CrawlSetup
from thresher.locale.translation import ENGLISH, _, environment_language, translated
from thresher.operations.try_page import TriedPage, try_pages
from thresher.operations.verdict import fit
from thresher.records import ScoreBreakdown
from thresher.runner.fetch_once import fetch_once


@click.command("try")
@click.argument("dir", type=CRAWL)
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--links", type=click.IntRange(min=0), default=10, show_default=True, help="How many links to list.")
@click.option("--details", is_flag=True, help="Also print every number: parts of scores, words with weights.")
@click.option("--no-seeds", is_flag=True, help="Do not read seeds first for a learning judge.")
@json_option(
    {
        "asked": "The URL as given.",
        "judged": "Whether the page could be fetched and judged.",
        "reason": "Only when it was not judged: why.",
        "signals": "Usage signals of the site for the page: source, statement and value of each.",
        "url": "Only when judged, the URL after redirects.",
        "title": "Only when judged: the title.",
        "language": "Only when judged: the language.",
        "relevance": "Only when judged: the relevance.",
        "relevant": "Only when judged: whether it is relevant.",
        "threshold": "Only when judged: the cut, the relevance from which on a page is relevant.",
        "rank": "Only when judged: null, since the page is not stored, as pages.",
        "pages": "Only when judged: null.",
        "words_for": "Only when judged: the five words that speak most for the topic, each with its share.",
        "words_against": "Only when judged: the five words that speak most against it.",
        "nearest": "Only when judged: the most similar seed or labelled page, or null.",
        "parts": "Only when judged: the values behind the relevance.",
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
    details: bool,
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
        CrawlSetup.open(dir), urls, fetch=fetch_once, read_seeds=not no_seeds, report=partial(echo, err=True)
    )
    if as_json:
        echo_json([attempt.as_json(links=links) for attempt in attempts])
    else:
        for number, attempt in enumerate(attempts):
            _echo(attempt, links, details=details, first=number == 0)
    sys.exit(0 if any(attempt.verdict for attempt in attempts) else 1)


def _echo(attempt: TriedPage, links: int, *, details: bool, first: bool) -> None:
    if not first:
        echo()
    language = environment_language()
    for line in sentences(attempt, language):
        echo(line)
    for signal in attempt.signals:
        statement, value, source = signal.statement, signal.value, _(signal.source)
        echo(_("Signal:   {statement}: {value} ({source})", statement=statement, value=value, source=source))
    if attempt.verdict is None:
        return
    for line in attempt.verdict.detail_lines(language) if details else ():
        echo(line)
    shown = attempt.links[:links]
    echo()
    best = _("Links, the best {shown} of {number:,}:", shown=len(shown), number=len(attempt.links))
    echo(best if shown else _no_links(attempt))
    if shown:
        rows = [(link.score, link.anchor, link.url, *_parts(link.parts, details=details)) for link in shown]
        echo_table([_("score"), _("anchor"), _("url"), *([_("made of")] if details else [])], rows)
    if attempt.links_fetched:
        number = attempt.links_fetched
        echo(_("Not listed: {number:,} of its links lead to pages that were fetched already.", number=number))


def _parts(breakdown: ScoreBreakdown, *, details: bool) -> list[str]:
    """Return the parts that are printed as more than zeros; a link has ten, and most change nothing."""
    return [values_of({name: value for name, value in breakdown.items() if abs(value) >= 0.0005})] if details else []


def _no_links(attempt: TriedPage) -> str:
    number = len(attempt.links)
    return _("Links: {number:,}.", number=number) if number else _("No link that the crawl would follow.")


def sentences(attempt: TriedPage, language: str = ENGLISH) -> list[str]:
    """Return the result for a URL as lines of text, without its links."""
    if attempt.verdict is None:
        return [attempt.asked, translated(_("Not judged: {reason}", reason=attempt.reason), language)]
    moved = _("redirected to {url}", url=attempt.url)
    title = _("Title:    {title}", title=attempt.title or _("(none)"))
    lines = [attempt.asked, *([moved] if attempt.url != attempt.asked else []), title]
    return [*(fit(translated(line, language)) for line in lines), *attempt.verdict.lines(language)]
