"""thresher status: the numbers of a crawl."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, in_words, json_option
from thresher.cli.stores import opened, store_options
from thresher.coordination.connection import CONNECT_SECONDS
from thresher.coordination.last_run import RunEnd, last_run_end
from thresher.coordination.worker_registry import RegisteredWorker, WorkerRegistry
from thresher.feedback.forecast import read_forecast
from thresher.feedback.topic_counts import TopicStatus, read_topics
from thresher.frontier.base import Counts
from thresher.judges.language_filter import wanted_codes
from thresher.monitoring.failures import FailureReport, failure_report
from thresher.monitoring.totals import Totals
from thresher.project import CrawlProject
from thresher.records import Forecast
from thresher.storage.reader import PageStoreReader

if TYPE_CHECKING:
    from thresher.collection.status import CollectionStatus


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
@json_option(
    {
        "name": "The name of the crawl.",
        "strategy": "Its strategy.",
        "pages": "Pages of the crawl.",
        "duplicates": "Only where the pages can be read: pages with the text of another page.",
        "relevant": "Relevant pages, duplicates left out.",
        "expected": "Only where the pages can be read: sum of the relevances of the pages.",
        "provisional": "Whether there are too few pages for reliable verdicts.",
        "harvest_rate": "Relevant pages per page.",
        "waiting": "URLs in the queue, those of parked hosts included.",
        "leased": "URLs that are fetched now.",
        "done": "URLs that were fetched, redirects included.",
        "failed": "URLs that could not be fetched.",
        "dropped": "URLs that were removed from the full queue of a host.",
        "hosts": "Hosts.",
        "ready": "Hosts that may be requested now.",
        "delayed": "Hosts that wait for their delay.",
        "parked": "Hosts with waiting URLs that are parked.",
        "other_languages": "Pages that are rejected for their language; null when all languages are wanted.",
        "forecast": "How many waiting URLs lead to relevant pages, as an interval; null when unknown.",
        "topics": "Only with several topics: relevant pages and forecast of each.",
        "blocked": "Block pages by kind.",
        "collection": "Only with a collection: what it has, and what waits for upload.",
        "ended": "How the last run ended; null while one is under way.",
        "failures": "Why URLs could not be fetched, in groups.",
        "workers": "Only with a shared store: the workers and their heartbeats.",
    },
)
def status(dir: Path | None, store: str | None, name: str | None, as_json: bool) -> None:  # noqa: A002 - the argument's name
    """Show pages, harvest rate and queue of a crawl.

    The crawl is named by its folder, or by its store and its name there. With a shared store, its workers are listed
    too; one without a recent heartbeat is silent.

    \b
    Examples:
      thresher status solar
      thresher status --store redis://10.0.0.5:6379/0 --crawl solar --json
    """
    with opened(dir, store, name) as crawl:
        counts, workers, forecast, ended, failures, topics = asyncio.run(_read(crawl))
        collection = asyncio.run(crawl.collection_status())
        numbers = {"name": crawl.name, "strategy": crawl.config.strategy.name, **_numbers(counts)}
        if as_json:
            numbers["other_languages"] = _other_languages(crawl)
            numbers["forecast"] = asdict(forecast) if forecast else None
            if topics:
                numbers["topics"] = {each.name: _topic(each) for each in topics}
            numbers["blocked"] = failures.blocked
            numbers |= {"collection": asdict(collection)} if collection else {}
            numbers |= {"ended": asdict(ended) if ended else None, "failures": failures.as_json()}
            echo_json({**numbers, "workers": list(map(_worker, workers))} if crawl.is_shared else numbers)
            return
    if (outside := _other_languages(crawl)) is not None:
        numbers["other languages"] = outside
    if forecast:
        numbers["forecast"] = in_words(forecast, counts.waiting)
    for label, value in numbers.items():
        echo(f"{label.replace('_', ' '):>15}  {_shown(value)}")
    for each in topics:
        echo(f"{'topic':>15}  {each.name}: {topic_words(each, counts)}")
    for label, line in _more_lines(collection, ended, failures):
        echo(f"{label:>15}  {line}")
    if crawl.is_shared:
        echo()
        _show_workers(workers)


def _more_lines(
    collection: CollectionStatus | None, ended: RunEnd | None, failures: FailureReport
) -> Iterator[tuple[str, str]]:
    if collection:
        yield "collection", collection.words
    if ended:
        yield "last run", ended.words
    if blocked := failures.blocked:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in blocked.items())
        yield "blocked", f"{sum(blocked.values()):,}: {kinds}"
    yield from (("not fetched", line) for line in failures.lines())


def _other_languages(crawl: CrawlProject) -> int | None:
    """Count the pages that are rejected for their language; None when all languages are wanted."""
    languages = crawl.config.filtered_languages
    if not (languages == "auto" or wanted_codes(languages)) or not crawl.counted_pages:
        return None
    with PageStoreReader(crawl.counted_pages) as pages:
        return pages.count_other_languages()


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


async def _read(
    crawl: CrawlProject,
) -> tuple[Counts, list[RegisteredWorker], Forecast | None, RunEnd | None, FailureReport, list[TopicStatus]]:
    frontier = crawl.frontier_reader()
    is_running = crawl.is_shared or bool(crawl.folder.runner())
    try:
        counts = await Totals(crawl.counted_pages).read(frontier)
        return (
            counts,
            await _workers(crawl),
            await read_forecast(frontier, counts),
            await last_run_end(frontier, is_running=is_running),
            await failure_report(frontier),
            await read_topics(frontier, counts, crawl.topic_pages, crawl.counted_pages),
        )
    finally:
        await frontier.close()


def _topic(topic: TopicStatus) -> dict[str, Any]:
    numbers = asdict(topic)
    del numbers["name"]
    return numbers


def topic_words(topic: TopicStatus, counts: Counts) -> str:
    """Return the numbers of one of several topics in one line."""
    wanted = "" if topic.wanted is None else f" of {topic.wanted:,} wanted"
    if topic.is_complete:
        return f"{topic.relevant:,} relevant{wanted}: complete"
    ahead = f"; {in_words(topic.forecast, counts.waiting)}" if topic.forecast else ""
    return f"{topic.relevant:,} relevant{wanted}{ahead}"


async def _workers(crawl: CrawlProject) -> list[RegisteredWorker]:
    if not crawl.is_shared:
        return []
    connection = crawl.connection(patience_seconds=CONNECT_SECONDS)
    try:
        return await WorkerRegistry(connection, crawl.name).workers()
    finally:
        await connection.close()


def _worker(worker: RegisteredWorker) -> dict[str, Any]:
    heartbeat = asdict(worker.heartbeat)
    state = "silent" if worker.is_silent else heartbeat.pop("state")
    return {"name": worker.name, **heartbeat, "state": state, "silent_seconds": round(worker.silent_seconds, 1)}


def _show_workers(workers: list[RegisteredWorker]) -> None:
    if not workers:
        echo("There are no workers. Add one: thresher work")
        return
    echo_table(
        ["worker", "machine", "process", "pages", "for s", "state", "heartbeat s ago"],
        [
            (
                row["name"],
                row["host"],
                str(row["pid"]),
                row["pages"],
                max(0, int(time.time() - row["since"])),
                row["state"],
                row["silent_seconds"],
            )
            for row in map(_worker, workers)
        ],
    )


def _numbers(counts: Counts) -> dict[str, Any]:
    numbers = asdict(counts)
    first = {name: numbers.pop(name) for name in ("pages", "duplicates", "relevant", "expected")}
    if counts.expected is None:
        first = {name: number for name, number in first.items() if name not in ("duplicates", "expected")}
    verdicts = {"provisional": counts.is_provisional, "harvest_rate": round(counts.harvest_rate, 4)}
    return {**first, **verdicts, **numbers}
