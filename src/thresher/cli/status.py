"""thresher status: the numbers of a crawl."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, in_words, json_option, padded
from thresher.cli.stores import opened, store_options
from thresher.coordination.worker_registry import RegisteredWorker
from thresher.feedback.topic_counts import TopicStatus
from thresher.frontier.base import Counts
from thresher.locale.translation import COMMA, Translatable, _, joined, localized
from thresher.status import CrawlStatus, SpeedLimit, described_keys, status_of

SHOWN = {
    "name": _("name"),
    "strategy": _("strategy"),
    "pages": _("pages"),
    "duplicates": _("duplicates"),
    "relevant": _("relevant"),
    "expected": _("expected"),
    "provisional": _("provisional"),
    "harvest_rate": _("harvest rate"),
    "waiting": _("waiting"),
    "leased": _("leased"),
    "done": _("done"),
    "failed": _("failed"),
    "dropped": _("dropped"),
    "hosts": _("hosts"),
    "ready": _("ready"),
    "delayed": _("delayed"),
    "parked": _("parked"),
}
"""The lines of the output that are a name and a value, each with the text for its name."""
_LABEL_COLUMNS = 15
ONLY_IN_JSON = (
    *("pause_seconds", "interval", "other_languages", "forecast", "topics", "blocked", "collection", "ended"),
    *("failures", "workers"),
)
ONLY = {
    "duplicates": "where the pages can be read",
    "expected": "where the pages can be read",
    "topics": "with several topics",
    "collection": "with a collection",
    "workers": "with a shared store",
}
"""Keys that are left out otherwise."""


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
@json_option(described_keys([*SHOWN, *ONLY_IN_JSON], ONLY))
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
        reported = asyncio.run(status_of(crawl))
    printed = _printed(reported)
    if as_json:
        echo_json(printed)
        return
    for key, text in SHOWN.items():
        if key in printed:
            _show(text, printed[key], _done_words(reported) if key == "done" else "")
    for label, value in _further(reported, dir or reported.name):
        _show(label, value)
    if reported.shared:
        echo()
        _show_workers(reported.workers)


def _show(label: str, value: object, more: str = "") -> None:
    echo(f"{padded(label, _LABEL_COLUMNS, right=True)}  {localized(_shown(value))}{localized(more)}")


def _printed(reported: CrawlStatus) -> dict[str, Any]:
    """Return the JSON document."""
    values = reported.as_json()
    left_out = {name for name in ("topics", "collection") if not values[name]}
    left_out |= set() if reported.shared else {"workers"}
    left_out |= {"duplicates", "expected"} if reported.expected is None else set()
    values["harvest_rate"] = round(reported.harvest_rate, 4)
    values["topics"] = {topic.pop("name"): topic for topic in values["topics"]}
    values["workers"] = list(map(_worker, reported.workers))
    return {name: values[name] for name in (*SHOWN, *ONLY_IN_JSON) if name not in left_out}


def _further(reported: CrawlStatus, crawl: object) -> Iterator[tuple[str, object]]:
    if reported.pause_seconds:
        yield _("limit"), SpeedLimit.STORE_RESTARTED.words(reported.pause_seconds)
    if reported.other_languages is not None:
        yield _("other languages"), reported.other_languages
    if reported.interval:
        yield _("interval"), reported.interval.words(crawl)
    if reported.forecast:
        yield _("forecast"), in_words(reported.forecast, reported.waiting)
    for topic in reported.topics:
        yield _("topic"), f"{topic.name}: {localized(topic_words(topic, reported))}"
    if reported.collection:
        yield _("collection"), reported.collection.words
    if reported.ended:
        yield _("last run"), reported.ended.words
    if blocked := reported.blocked:
        kinds = [_("{number:,} {kind}", number=number, kind=_(kind)) for kind, number in blocked.items()]
        yield _("blocked"), _("{number:,}: {kinds}", number=sum(blocked.values()), kinds=joined(COMMA, kinds))
    yield from ((_("not fetched"), line) for line in reported.failure_report.lines())


def _done_words(counts: Counts) -> str:
    """Return why more URLs are done than there are pages, if that is so."""
    if not counts.done > counts.pages > 0:
        return ""
    return _(
        ": {n:,} page, {without:,} without a page, such as redirects and sitemaps",
        ": {n:,} pages, {without:,} without a page, such as redirects and sitemaps",
        n=counts.pages,
        without=counts.done - counts.pages,
    )


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def topic_words(topic: TopicStatus, counts: Counts) -> Translatable:
    """Return the numbers of one of several topics in one line."""
    relevant = _("{relevant:,} relevant", relevant=topic.relevant)
    if topic.wanted is not None:
        relevant = _("{relevant:,} relevant of {wanted:,} wanted", relevant=topic.relevant, wanted=topic.wanted)
    if topic.is_complete:
        return _("{relevant}: complete", relevant=relevant)
    if topic.forecast:
        return _("{relevant}; {forecast}", relevant=relevant, forecast=in_words(topic.forecast, counts.waiting))
    return relevant


def _worker(worker: RegisteredWorker) -> dict[str, Any]:
    heartbeat = asdict(worker.heartbeat)
    state = "silent" if worker.is_silent else heartbeat.pop("state")
    return {"name": worker.name, **heartbeat, "state": state, "silent_seconds": round(worker.silent_seconds, 1)}


def _show_workers(workers: Sequence[RegisteredWorker]) -> None:
    if not workers:
        echo(_("There are no workers. Add one: thresher join"))
        return
    echo_table(
        [_("worker"), _("machine"), _("process"), _("pages"), _("for s"), _("state"), _("heartbeat s ago")],
        [
            (
                row["name"],
                row["host"],
                str(row["pid"]),
                row["pages"],
                max(0, int(time.time() - row["since"])),
                _(row["state"]),
                row["silent_seconds"],
            )
            for row in map(_worker, workers)
        ],
    )
