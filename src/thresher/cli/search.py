"""thresher search: full-text search over the pages of a crawl."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.locale.translation import COMMA, _, joined, localized
from thresher.search.index import SearchIndex
from thresher.search.query import SearchQuery
from thresher.search.ranking import MAX_HITS, Filters, SearchHit, SearchOrder
from thresher.search.snippets import snippet
from thresher.storage.reader import PageStoreReader

_DAY = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])
_REPORT_EVERY_ROWS = 2_000


@click.command()
@click.argument("dir", type=CRAWL)
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many pages.")
@click.option(
    "--host", default="", metavar="HOST", help="Only pages of this host and of those below it, such as example.org."
)
@click.option("--language", default="", metavar="CODE", help="Only pages in this language, such as en or zh.")
@click.option(
    "--min-relevance",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Only pages with at least this relevance.",
)
@click.option(
    "--topic",
    default="",
    metavar="NAME",
    help="Only pages that are relevant to this one of several topics, such as solar.",
)
@click.option(
    "--since", type=_DAY, metavar="DATE", help="Only pages fetched on this day (UTC) or later, such as 2026-01-31."
)
@click.option(
    "--until", type=_DAY, metavar="DATE", help="Only pages fetched before this day (UTC), such as 2026-02-28."
)
@click.option("--without-optouts", is_flag=True, help="Leave out pages whose site opts out of AI uses.")
@click.option(
    "--by",
    "order",
    type=click.Choice([order.value for order in SearchOrder]),
    default=SearchOrder.MATCH.value,
    show_default=True,
    help="match: relevant pages first, the best match among them. relevance: the most relevant first.",
)
@json_option(
    {
        "place": "Its place, from 1.",
        "url": "The URL.",
        "title": "The title.",
        "language": "The language.",
        "fetched_at": "When it was fetched, in UTC.",
        "relevance": "Relevance to the topic.",
        "relevant": "Whether it is relevant.",
        "all_words": "Whether it has all words of the query.",
        "match": "How well it matches the query.",
        "alike": "Near duplicates that are left out.",
        "snippet": "Text around the words of the query.",
    },
    rows=True,
)
def search(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    query: tuple[str, ...],
    limit: int,
    order: str,
    without_optouts: bool,
    as_json: bool,
    **filters: Any,
) -> None:
    """Search the text of the pages, in English and Chinese.

    "Quoted words" must be adjacent.

    The first search of a crawl builds the index, later ones add new pages. Pages from a collection are indexed
    already. Of near duplicates only one is shown.

    \b
    Examples:
      thresher search solar 钙钛矿 稳定性
      thresher search solar '"tandem cell" efficiency' --language en -n 20
    """
    terms = SearchQuery.read(" ".join(f'"{words}"' if " " in words and len(query) > 1 else words for words in query))
    if not terms:
        no_word = _(
            "the query has no searchable word: only punctuation, or words that nearly every page has; add a rarer word"
        )
        raise click.UsageError(localized(no_word))
    crawl = with_all_pages(CrawlSetup.open(dir))
    crawl.check_topic(filters["topic"])
    with SearchIndex(crawl.folder.root, crawl.folder.pages) as index, PageStoreReader(crawl.folder.pages) as collection:
        crawl.backend.update_search(index)
        if index.catch_up(_report_progress) is None:
            echo(_("another search is adding pages to the index: the newest may be missing here"), err=True)
        most = MAX_HITS if without_optouts else limit
        found = index.search(terms, _filters(**filters), limit=most, order=SearchOrder(order))
        if without_optouts:
            found = [hit for hit in found if not collection.is_opted_out(hit.fingerprint)][:limit]
        results = [_result(place, each, collection, terms) for place, each in enumerate(found, start=1)]
        pages = index.pages()
    if as_json:
        echo_json(results)
    else:
        _print(results)
    echo(_("{number:,} of {pages:,} pages", number=len(results), pages=pages), err=True)
    if not results:
        raise SystemExit(1)


def _report_progress(rows: int) -> None:
    if rows % _REPORT_EVERY_ROWS == 0:
        echo(_("{rows:,} new rows in the index", rows=rows), err=True)


def _filters(
    *,
    host: str,
    language: str,
    min_relevance: float,
    since: datetime | None,
    until: datetime | None,
    topic: str,
) -> Filters:
    return Filters(
        topic=topic,
        host=host,
        language=language.lower(),
        min_relevance=min_relevance,
        since=since.replace(tzinfo=UTC).timestamp() if since else None,
        until=until.replace(tzinfo=UTC).timestamp() if until else None,
    )


def _result(place: int, found: SearchHit, collection: PageStoreReader, query: SearchQuery) -> dict[str, Any]:
    record = collection.find(found.fingerprint)
    text = collection.text(found.fingerprint)
    return {
        "place": place,
        "url": record.url if record else "",
        "title": record.title if record else "",
        "language": record.language if record else "",
        "fetched_at": _time(record.fetched_at) if record else "",
        "relevance": round(found.relevance, 6),
        "relevant": found.relevant,
        "all_words": found.whole,
        "match": round(found.match, 6),
        "alike": found.alike,
        "snippet": snippet(text.removeprefix(record.title) if record else text, query.terms),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _print(results: list[dict[str, Any]]) -> None:
    for result in results:
        facts = [_("relevant") if result["relevant"] else _("not relevant")]
        facts.append(_("relevance {relevance:.3f}", relevance=result["relevance"]))
        facts += [] if result["all_words"] else [_("some of the words")]
        facts += [_("{number} like it left out", number=result["alike"])] if result["alike"] else []
        echo(f"{result['place']}. {result['title'] or localized(_('(no title)'))}")
        echo(f"   {result['url']}")
        echo(f"   {localized(joined(COMMA, facts))}")
        if result["snippet"]:
            echo(f"   {result['snippet']}")
    sys.stdout.flush()
