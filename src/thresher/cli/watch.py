"""thresher watch: visit pages again and search for new ones on a schedule, and report what changed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from thresher.assembly import check_crawl
from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.config.schema import WatchConfig, WebhookConfig
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.export.rows import time_text
from thresher.watch.watcher import Watcher


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--every", metavar="TIME", help="Time between the starts of two rounds, such as 30m, 6h or 1d.")
@click.option("--visits", type=click.IntRange(min=0), help="Known pages that a round visits again, such as 200.")
@click.option("--new-pages", type=click.IntRange(min=0), help="New pages that a round fetches at most, such as 100.")
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True), help="Longest time of each half of a round, such as 30."
)
@click.option(
    "--webhook",
    "webhooks",
    multiple=True,
    metavar="URL",
    help="Post digests there, such as https://example.org/hook; may be given several times.",
)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Worker processes.")
@click.option("--once", is_flag=True, help="Make one round and exit, for cron and other schedulers.")
@json_option(
    {
        "number": "The number of the digest, from 1.",
        "crawl": "The name of the crawl.",
        "title": "Its title.",
        "created_at": "When the digest was made, in seconds since 1970.",
        "total": "Changes in all.",
        "entries": "The changes that are listed, each with its page.",
    },
    note="It needs --once. The result is null when nothing changed.",
)
def watch(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    every: str | None,
    visits: int | None,
    new_pages: int | None,
    minutes: float | None,
    webhooks: tuple[str, ...],
    workers: int,
    once: bool,
    as_json: bool,
) -> None:
    """Crawl on a schedule, and report what changed.

    Each round visits the known pages that have probably changed, fetches new pages, and writes a digest of what is new,
    changed, moved or gone, in Markdown, JSON and an Atom feed, below DIR/digests. What the crawl has when watching
    begins is not reported.

    Webhooks get each digest as JSON, signed with the key in THRESHER_WEBHOOK_SECRET, again and again until they
    acknowledge it. After a kill the same command continues the round that was open. The key watch of topic.yaml has the
    same settings.

    \b
    Examples:
      thresher watch solar --every 6h --visits 200 --new-pages 100
      thresher watch solar --once --json
    """
    crawl = CrawlSetup.open(dir)
    check_crawl(crawl)
    given = {"every": every, "visits": visits, "new_pages": new_pages, "minutes": minutes}
    plan = _plan(crawl.config.watch, {name: value for name, value in given.items() if value is not None}, webhooks)
    if as_json and not once:
        raise ConfigError("--json needs --once; the digests of a watch are files below digests/")
    watcher = Watcher(crawl, plan, workers=workers, report=_print)
    code = watcher.run(once=once)
    if as_json:
        echo_json(watcher.digests[-1].as_json() if watcher.digests else None)
    sys.exit(code)


def _plan(configured: WatchConfig, given: dict[str, object], webhooks: tuple[str, ...]) -> WatchConfig:
    try:
        more = [WebhookConfig(url=url) for url in webhooks]
        return WatchConfig(**{**dict(configured), "webhooks": [*configured.webhooks, *more], **given})
    except ValueError as error:
        raise ConfigError(f"the settings of the watch are invalid: {error}") from error


def _print(line: str) -> None:
    echo(f"{time_text(time.time())} {line}", err=True)
