"""thresher changes: list what the last refresh found changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option, wide_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.export.rows import time_text
from thresher.locale.translation import _
from thresher.refresh.changes import PageChange
from thresher.refresh.changes import changes as find_changes
from thresher.refresh.queue import last_start
from thresher.storage.reader import PageStoreReader


@click.command()
@click.argument("dir", type=CRAWL)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]),
    metavar="DATE",
    help="Start time in UTC, such as 2026-01-31 or 2026-01-31T08:00:00; by default the beginning of the last refresh.",
)
@click.option(
    "--min-relevance",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Leave out pages that were and are below this.",
)
@wide_option
@json_option(
    {
        "change": "new, changed, moved or gone.",
        "seen": "When it was noticed, in UTC.",
        "relevance": "Relevance of the page now.",
        "before": "Its relevance before; null for a new page.",
        "kept": "Share of its text that stayed the same; null when unknown.",
        "url": "The URL.",
        "title": "The title.",
    },
    rows=True,
)
def changes(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    since: datetime | None,
    min_relevance: float,
    as_json: bool,
) -> None:
    """List pages that are new, changed, moved or gone.

    \b
    Examples:
      thresher changes solar
      thresher changes solar --since 2026-01-31 --min-relevance 0.5
    """
    crawl = with_all_pages(CrawlSetup.open(dir))
    began = since.replace(tzinfo=UTC).timestamp() if since else last_start(crawl.folder.root)
    if began is None:
        raise ConfigError(
            _("{folder} was never refreshed: thresher run {folder} --refresh, or give --since YYYY-MM-DD", folder=dir)
        )
    with PageStoreReader(crawl.folder.pages) as collection:
        found = [change for change in find_changes(collection, began) if _relevance(change) >= min_relevance]
    found.sort(key=lambda change: (-_relevance(change), change.record.url))
    if as_json:
        echo_json([_plain(change) for change in found])
        return
    columns = (_("change"), _("seen"), _("relevance"), _("before"), _("kept"), _("url"), _("title"))
    echo_table(columns, [["" if cell is None else cell for cell in _plain(change).values()] for change in found])
    echo(_("{number:,} changes since {moment}", number=len(found), moment=time_text(began)), err=True)


def _relevance(change: PageChange) -> float:
    return max(change.record.relevance, change.before or 0.0)


def _plain(change: PageChange) -> dict[str, Any]:
    return {
        "change": str(change.kind),
        "seen": time_text(change.at),
        "relevance": round(change.record.relevance, 6),
        "before": None if change.before is None else round(change.before, 6),
        "kept": None if change.kept is None else round(change.kept, 3),
        "url": change.record.url,
        "title": change.record.title,
    }
