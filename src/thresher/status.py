"""The status of a crawl: one type, and one function that reads it.

The command line, the live line and the end of a run, the Python API, the REST API, the MCP server and the dashboard
show all of a `CrawlStatus` or some of its fields. Their reference pages are written from the fields' descriptions.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from thresher.coordination.last_run import RunEnd, last_run_end
from thresher.coordination.run_control import RunControl, read_run_control
from thresher.coordination.worker_registry import RegisteredWorker
from thresher.crawl import CrawlSetup
from thresher.feedback.count_interval import CountInterval, count_interval
from thresher.feedback.forecast import read_forecast
from thresher.feedback.labels import verdicts
from thresher.feedback.topic_counts import TopicStatus, read_topics
from thresher.frontier.base import Counts, StateReader
from thresher.judges.language_filter import wanted_codes
from thresher.locale.translation import _
from thresher.monitoring.failures import FailureGroup, FailureReport, failure_report
from thresher.monitoring.totals import Totals
from thresher.records import Forecast
from thresher.storage.reader import PageStoreReader

if TYPE_CHECKING:
    from thresher.backend import CrawlResources
    from thresher.collection.status import CollectionStatus


CALIBRATED_JUDGE = "adaptive"
"""The judge that the interval of the count was fitted to."""
_ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n      .+)*)", flags=re.MULTILINE)


class CrawlState(StrEnum):
    """Whether a run of a crawl is under way."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class SpeedLimit(StrEnum):
    """What limits the speed of a crawl."""

    STARTING = "starting"
    BUSY = "busy"
    DELAY = "delay"
    ANSWERS = "answers"
    PARKED = "parked"
    NOTHING = "nothing"
    STOPPED = "stopped"
    PAUSED = "paused"
    STORE_RESTARTED = "store_restarted"
    NO_ANSWER = "no_answer"

    def words(self, number: int = 0) -> str:
        """Return the limit as text, with the number that belongs to it."""
        match self:
            case SpeedLimit.BUSY:
                busy = _("{n:,} worker busy", "{n:,} workers busy", n=number)
                return busy if number else _("no worker has joined yet")
            case SpeedLimit.DELAY:
                return _("{n:,} host waiting for its delay", "{n:,} hosts waiting for their delay", n=number)
            case SpeedLimit.ANSWERS:
                return _("waiting for {n:,} response", "waiting for {n:,} responses", n=number)
            case SpeedLimit.PARKED:
                return _("{n:,} host parked or unreachable", "{n:,} hosts parked or unreachable", n=number)
            case SpeedLimit.NOTHING:
                return _("the queue is empty")
            case SpeedLimit.STORE_RESTARTED:
                return _("paused after the store's restart, {seconds} s left", seconds=number)
            case SpeedLimit.NO_ANSWER:
                return _("the store does not answer")
        return _(self.value)


_IN_HTML = (
    *("running", "pages", "duplicates", "relevant", "expected", "provisional"),
    *("waiting", "leased", "done", "failed", "hosts", "parked"),
)


@dataclass(frozen=True, kw_only=True)
class CrawlStatus(Counts):
    """The status of a crawl, with its counts: `pages`, `relevant`, `waiting`, `failed` and others of `Counts`.

    Args:
        name: The name of the crawl.
        title: Its topic, by language.
        strategy: Its strategy.
        judge: Its judge.
        shared: Whether its frontier is in a store that other machines can reach.
        state: Whether a run is under way, on any machine: running, paused or stopped.
        running: Whether a run is under way on this machine.
        workers: The workers and their heartbeats; none without a shared store.
        busy: Workers that are at work, on all machines.
        run_control: What the user set for the current run.
        interval: An interval for the number of pages on topic; null when unknown.
        other_languages: Pages that are rejected for their language; null when all languages are wanted.
        forecast: How many waiting URLs lead to relevant pages, as an interval; null when unknown.
        topics: Relevant pages and forecast of each topic; none in a crawl of one.
        collection: What the collection has, and what waits for upload; null without one.
        ended: How the last run ended, or that it has not ended yet; null before the first.
        failures: Why URLs could not be fetched, in groups, those with most URLs first.
        blocked: URLs that gave a block page, by its kind.
    """

    name: str = ""
    title: Mapping[str, str] = field(default_factory=dict)
    strategy: str = ""
    judge: str = ""
    shared: bool = False
    state: CrawlState = CrawlState.STOPPED
    running: bool = False
    workers: Sequence[RegisteredWorker] = ()
    busy: int = 0
    run_control: RunControl = field(default_factory=RunControl)
    interval: CountInterval | None = None
    other_languages: int | None = None
    forecast: Forecast | None = None
    topics: Sequence[TopicStatus] = ()
    collection: CollectionStatus | None = None
    ended: RunEnd | None = None
    failures: Sequence[FailureGroup] = ()
    blocked: Mapping[str, int] = field(default_factory=dict)

    @property
    def failure_report(self) -> FailureReport:
        return FailureReport(groups=self.failures, blocked=self.blocked)

    @property
    def limit(self) -> tuple[SpeedLimit, int]:
        """What limits the speed now, and how many workers, hosts, open requests or seconds that is about."""
        if self.state is not CrawlState.RUNNING:
            return SpeedLimit(self.state.value), 0
        if self.pause_seconds:
            return SpeedLimit.STORE_RESTARTED, self.pause_seconds
        if not self.pages and not self.leased and self.ready:
            return SpeedLimit.STARTING, 0
        if self.ready:
            return SpeedLimit.BUSY, self.busy
        if self.delayed:
            return SpeedLimit.DELAY, self.delayed
        if self.leased:
            return SpeedLimit.ANSWERS, self.leased
        return (SpeedLimit.PARKED, self.parked) if self.parked else (SpeedLimit.NOTHING, 0)

    @property
    def counts(self) -> dict[str, Any]:
        """Counts of pages, URLs and hosts."""
        return {each.name: getattr(self, each.name) for each in fields(Counts)}

    def as_json(self) -> dict[str, Any]:
        """Return the fields, and what follows from them, as plain values."""
        code, number = self.limit
        return {
            **asdict(self),
            "counts": self.counts,
            "provisional": self.provisional,
            "harvest_rate": self.harvest_rate,
            "limit": {"code": code, "number": number},
            "blocked": self.blocked,
            "failures": self.failure_report.as_json(),
        }

    def _repr_html_(self) -> str:
        from thresher.charts.html import html_table

        rows: list[tuple[str, object]] = [(name, getattr(self, name)) for name in _IN_HTML]
        rows.append(("forecast", self.forecast.interval if self.forecast else None))
        rows += [("interval", self.interval), ("harvest_rate", self.harvest_rate)]
        rows += [(f"relevant to {topic.name}", topic.relevant) for topic in self.topics]
        rows += [(f"blocked: {kind}", number) for kind, number in self.blocked.items()]
        rows += [("last run", self.ended.words)] if self.ended else []
        rows += [("collection", self.collection.words)] if self.collection else []
        return html_table(["", ""], [*rows, *(("not fetched", str(group)) for group in self.failures[:3])])


def descriptions(described: type) -> dict[str, str]:
    """Return what the docstrings of a class and its properties say of its fields, by name."""
    found: dict[str, str] = {}
    for each in reversed(described.__mro__):
        found |= {name: " ".join(text.split()) for name, text in _ARGUMENT.findall(getdoc(each) or "")}
        found |= {name: str(value.__doc__) for name, value in vars(each).items() if isinstance(value, property)}
    return found


def described_keys(names: Sequence[str], only: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return keys of a status and their meanings, for the reference of --json.

    Args:
        only: When a key is there, for those that may be missing.
    """
    meanings, only = descriptions(CrawlStatus), only or {}
    texts = {name: meanings.get(name, "") for name in names}
    return {
        name: f"Only {only[name]}: {text[:1].lower()}{text[1:]}" if name in only else text
        for name, text in texts.items()
    }


class StatusReader:
    """Reads the parts of a status; a subclass may keep some of them for a while, or leave some out."""

    def __init__(self, crawl: CrawlSetup, resources: CrawlResources) -> None:
        self.crawl = crawl
        self.resources = resources
        self.frontier = resources.frontier_reader
        self.run = resources.run

    async def counts(self) -> Counts:
        return await Totals(self.crawl.backend.counted_pages).read(self.frontier)

    async def topics(self, counts: Counts) -> Sequence[TopicStatus]:
        return await read_topics(self.frontier, counts, self.crawl.topic_pages, self.crawl.backend.counted_pages)

    async def failures(self) -> FailureReport:
        return await failure_report(self.frontier)

    async def collection(self) -> CollectionStatus | None:
        return await read_collection(self.crawl, self.resources)

    async def interval(self, counts: Counts) -> CountInterval | None:
        return await uncertain_count(self.crawl, self.resources, counts)

    async def other_languages(self) -> int | None:
        """Count the pages that are rejected for their language; None when all languages are wanted."""
        languages, pages = self.crawl.config.filtered_languages, self.crawl.backend.counted_pages
        if pages is None or not (languages == "auto" or wanted_codes(languages)):
            return None
        with PageStoreReader(pages) as reader:
            return reader.count_other_languages()


async def uncertain_count(crawl: CrawlSetup, connected: CrawlResources, counts: Counts) -> CountInterval | None:
    """Return the interval of the relevant pages; None with few pages, several topics or another judge."""
    if counts.provisional or crawl.config.topics or crawl.config.judge.name != CALIBRATED_JUDGE:
        return None
    labels, _ = await connected.labels.read()
    return count_interval(counts, len(verdicts(labels)))


async def read_collection(crawl: CrawlSetup, connected: CrawlResources) -> CollectionStatus | None:
    """Read how much is in the collection, and how much waits; None without a collection."""
    if not crawl.config.collection:
        return None
    from thresher.collection.status import collection_status

    listed = connected.pending_uploads
    pending, segments = await listed.number() if listed else None, crawl.folder.segments()
    return await asyncio.to_thread(collection_status, crawl.backend.objects(), crawl.folder.pages, segments, pending)


async def read_live_status(frontier: StateReader, counts: Counts) -> CrawlStatus:
    """Read the status of a run that is under way, as far as a live line shows it."""
    run_control = await read_run_control(frontier)
    return CrawlStatus(
        **asdict(counts),
        state=CrawlState.PAUSED if run_control.paused else CrawlState.RUNNING,
        run_control=run_control,
        forecast=await read_forecast(frontier, counts),
    )


async def read_status(reader: StatusReader) -> CrawlStatus:
    """Read the status of a crawl."""
    crawl, frontier, has_others = reader.crawl, reader.frontier, reader.crawl.backend.has_other_machines
    counts, busy = await reader.counts(), len(await reader.run.active_workers(frontier))
    live, is_here = await read_live_status(frontier, counts), bool(await asyncio.to_thread(crawl.folder.runner))
    report = await reader.failures()
    return replace(
        live,
        name=crawl.name,
        title=dict(crawl.config.title),
        strategy=crawl.config.strategy.name,
        judge=crawl.config.judge.name,
        shared=has_others,
        state=live.state if is_here or (has_others and busy) else CrawlState.STOPPED,
        running=is_here,
        workers=await reader.run.registered_workers() or [],
        busy=busy,
        interval=await reader.interval(counts),
        other_languages=await reader.other_languages(),
        topics=await reader.topics(counts),
        collection=await reader.collection(),
        ended=await last_run_end(frontier, is_running=is_here or has_others),
        failures=report.groups,
        blocked=report.blocked,
    )


async def status_of(crawl: CrawlSetup) -> CrawlStatus:
    """Read the status of a crawl that is not open."""
    async with crawl.connect() as resources:
        return await read_status(StatusReader(crawl, resources))
