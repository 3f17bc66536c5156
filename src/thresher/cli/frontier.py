"""thresher frontier: list the head of the queue."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo_json, echo_table, json_option, wide_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.frontier.base import UrlEntry
from thresher.locale.translation import _
from thresher.reasons.reason import with_messages
from thresher.storage.reader import PageStoreReader


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many URLs.")
@wide_option
@json_option(
    {
        "url": "The URL.",
        "host": "Its host.",
        "state": "waiting or leased.",
        "score": "Its score; the highest comes first.",
        "hops": "Links from the seed.",
        "depth_left": "Further links that the strategy may follow over irrelevant pages.",
        "parent": "The page that it was found on; empty for a seed.",
        "tries": "Failed attempts.",
        "reason": "Why the last attempt failed; empty if none did.",
        "anchor": "The text of the link.",
        "parts": "The parts of its score.",
    },
    rows=True,
)
def frontier(dir: Path, limit: int, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """List the URLs that come next.

    They are ordered by score over all hosts. What is fetched next also depends on the delay of each host.

    \b
    Examples:
      thresher frontier solar --limit 50
      thresher frontier solar --json
    """
    crawl = with_all_pages(CrawlSetup.open(dir))
    entries = asyncio.run(_best(crawl, limit))
    with PageStoreReader(crawl.folder.pages) as collection:
        parents = {entry.parent: collection.find(entry.parent) for entry in entries if entry.parent}
        found = {entry.url: collection.link_between(entry.parent, entry.url) for entry in entries}
    rows = [
        {
            **asdict(entry, dict_factory=with_messages),
            "state": str(entry.state),
            "parent": record.url if (record := parents.get(entry.parent)) else "",
            "anchor": link.anchor if (link := found[entry.url]) else "",
            "parts": dict(link.parts) if link else {},
        }
        for entry in entries
    ]
    if as_json:
        echo_json(rows)
    else:
        echo_table(
            [_("score"), _("hops"), _("tries"), _("url"), _("anchor"), _("found on")],
            [(row["score"], row["hops"], row["tries"], row["url"], row["anchor"], row["parent"]) for row in rows],
        )


async def _best(crawl: CrawlSetup, limit: int) -> list[UrlEntry]:
    async with crawl.connect() as connected:
        return await connected.frontier_reader.peek(limit)
