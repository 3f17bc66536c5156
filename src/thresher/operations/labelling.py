"""Labelling: which pages to ask the user about, and what the labels change.

Labels are appended to the label log of the crawl. A label may also name a URL that was not fetched: one with a yes is
queued like a seed, and the label counts when the page is fetched.

Running workers poll the label log every second and apply new labels. When none runs, this process does their work, so
that verdicts and queue are up to date before the next run. With a shared store it does so for the workers of this
folder; those of other machines apply the labels when they start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from thresher.coordination.connection import CONNECT_SECONDS
from thresher.coordination.local_workers import read_workers
from thresher.coordination.worker_registry import WorkerRegistry
from thresher.errors import ConfigError, CrawlBusy
from thresher.feedback.labels import Label, acknowledged, latest_labels, model_labels, verdicts
from thresher.feedback.sampling import LabelCandidate, most_informative, nearest_to_threshold
from thresher.frontier.base import UrlEntry
from thresher.monitoring.totals import Totals
from thresher.operations.labelled_urls import LabelledUrl, look_up, queue_labelled
from thresher.project import CrawlProject, build_label_feed, build_updater
from thresher.records import LABEL_PART, UNLABELLED_PART
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageOrder, PageStoreReader
from thresher.urls.canonical import canonicalize, fingerprint, host_key

APPLY_SECONDS = 20.0
"""How long to wait for workers; they apply labels later otherwise."""
POLL_SECONDS = 0.1
FIRST_WORKER = "w1"


async def wait_until_applied(crawl: CrawlProject, labels: int, *, seconds: float = APPLY_SECONDS) -> bool:
    """Wait until all workers have applied the first `labels` labels; apply them here when none runs."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not crawl.is_shared and not crawl.folder.runner():
            try:
                await asyncio.to_thread(_apply_here, crawl)
                return True
            except CrawlBusy:  # a run has just begun
                continue
        names = await _active_workers(crawl)
        if crawl.is_shared and not names:
            return await _apply_to_own_workers(crawl)
        if names and await _have_applied(crawl, names, labels):
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


async def _apply_to_own_workers(crawl: CrawlProject) -> bool:
    """Apply labels for the workers of this folder; False when it has none, or when a run has just begun."""
    if not _workers_here(crawl):
        return False
    try:
        await asyncio.to_thread(_apply_here, crawl)
    except CrawlBusy:
        return False
    return True


def _workers_here(crawl: CrawlProject) -> list[str]:
    return [path.stem for path in crawl.folder.segments()]


async def _have_applied(crawl: CrawlProject, names: Sequence[str], labels: int) -> bool:
    frontier = crawl.frontier()
    try:
        return all([await acknowledged(frontier, name) >= labels for name in names])
    finally:
        await frontier.close()


async def _active_workers(crawl: CrawlProject) -> list[str]:
    if not crawl.is_shared:
        frontier = crawl.frontier()
        try:
            return [local_worker.name for local_worker in await read_workers(frontier)]
        finally:
            await frontier.close()
    connection = crawl.connection(patience_seconds=CONNECT_SECONDS)
    try:
        return [
            worker.name for worker in await WorkerRegistry(connection, crawl.name).workers() if not worker.is_silent
        ]
    finally:
        await connection.close()


def _apply_here(crawl: CrawlProject) -> None:
    """Apply labels for the workers of this crawl, one after the other, under the lock of a run.

    Raises:
        CrawlBusy: A run is under way.
    """
    with crawl.folder.only_one_run():
        for worker in _workers_here(crawl) or [FIRST_WORKER]:
            asyncio.run(_apply_as(crawl, worker))


async def _apply_as(crawl: CrawlProject, worker: str) -> None:
    state_stores = crawl.state_stores(worker)
    try:
        updater = build_updater(crawl, worker, state_stores)
        label_feed = build_label_feed(crawl, updater, worker)
        try:
            await label_feed.begin()
        finally:
            await label_feed.close()
            await updater.aclose()
    finally:
        state_stores.close()


QUEUE_URLS = 20
"""Length of the head of the queue that is compared before and after."""
CANDIDATES = 300
"""Candidates of each kind: the most relevant, the least certain, and random pages."""
EXCERPT_CHARACTERS = 600
BOUNDARY = "boundary"
"""Reason of a question near the threshold."""
CHECK = "check"
"""Reason of a question about a page that a model labelled."""
BOUNDARY_QUESTIONS = 10
REJUDGE_SECONDS = 120.0
"""How long to wait for workers when the threshold is reported: they judge all their pages again."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A page to label.

    Args:
        why: ``likely`` when it is probably about the topic, ``unsure`` when the judge is uncertain, ``spread`` when it
            differs from the other questions, ``boundary`` when it is near the threshold, ``check`` when a model
            labelled it.
        excerpt: The beginning of its text.
    """

    record: PageRecord
    why: str
    excerpt: str


@dataclass(frozen=True, kw_only=True)
class Boundary:
    """The threshold before and after some labels.

    Args:
        below: Labelled pages whose relevance was below the threshold.
        below_yes: Those of them with a yes.
        above: Labelled pages whose relevance was at or above it.
        above_yes: Those of them with a yes.
        threshold: The relevance from which a page was relevant before the labels.
        now: The threshold on those same relevances that selects as many pages as are relevant now.
        relevant: Relevant pages before the labels.
        relevant_now: Relevant pages now.
    """

    below: int
    below_yes: int
    above: int
    above_yes: int
    threshold: float
    now: float
    relevant: int
    relevant_now: int


@dataclass(frozen=True, kw_only=True)
class LabellingStatus:
    """The quality of a crawl, measured by its labels.

    Args:
        labelled: Fetched pages with a label of a person.
        precision: Of those that the judge would call relevant by itself, the share with a yes; None without any.
        queue: The best waiting URLs.
    """

    labelled: int
    precision: float | None
    queue: Sequence[UrlEntry]


@dataclass(frozen=True, kw_only=True)
class LabellingResult:
    """What some labels changed.

    Args:
        labels: How many were given.
        applied: Whether judge and queue are up to date: all running workers have applied them, or none runs.
        urls: The labelled URLs, each once.
        boundary: How the threshold moved, if requested and known.
    """

    labels: int
    applied: bool
    before: LabellingStatus
    after: LabellingStatus
    urls: Sequence[LabelledUrl] = ()
    boundary: Boundary | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


async def questions(
    crawl: CrawlProject, limit: int, *, boundary: bool = False, without: Iterable[str] = ()
) -> list[Question]:
    """Return the pages without a label whose labels are most informative.

    Args:
        boundary: Choose pages near the threshold, `BOUNDARY_QUESTIONS` at most.
        without: URLs to leave out.
    """
    labels = await read_labels(crawl)
    known = {*(url for url, label in latest_labels(labels).items() if label is not None), *crawl.seeds(), *without}
    if boundary:
        return await asyncio.to_thread(_boundary_questions, crawl, known, min(limit, BOUNDARY_QUESTIONS))
    return await asyncio.to_thread(_questions, crawl, known, limit)


def _questions(crawl: CrawlProject, known: set[str], limit: int) -> list[Question]:
    with PageStoreReader(crawl.folder.pages) as collection:
        found = (record for order in PageOrder for record in collection.some(order, CANDIDATES))
        records = {record.url: record for record in found if record.url not in known}
        chosen = most_informative([_labelling_candidate(record) for record in records.values()], limit)
        return [
            Question(record=records[url], why=why, excerpt=_excerpt(collection, records[url])) for url, why in chosen
        ]


def _boundary_questions(crawl: CrawlProject, known: set[str], limit: int) -> list[Question]:
    threshold = crawl.threshold()
    with PageStoreReader(crawl.folder.pages) as collection:
        records = {record.url: record for record in collection.near(threshold, CANDIDATES) if record.url not in known}
        chosen = nearest_to_threshold(
            [_labelling_candidate(record) for record in records.values()], limit, threshold=threshold
        )
        return [
            Question(record=records[each.url], why=BOUNDARY, excerpt=_excerpt(collection, records[each.url]))
            for each in chosen
        ]


def _labelling_candidate(record: PageRecord) -> LabelCandidate:
    return LabelCandidate(
        url=record.url,
        relevance=record.relevance,
        language=record.language,
        host=host_key(record.url),
        title=record.title,
    )


def _excerpt(collection: PageStoreReader, record: PageRecord) -> str:
    return " ".join(collection.content(record.fingerprint).text.split())[:EXCERPT_CHARACTERS]


async def check_questions(crawl: CrawlProject, limit: int) -> list[Question]:
    """Return random pages that a model labelled and no person, to compare the two."""
    labels = await read_labels(crawl)
    unchecked = sorted(model_labels(labels).keys() - verdicts(labels).keys())
    chosen = Random(len(unchecked)).sample(unchecked, min(limit, len(unchecked)))  # noqa: S311 - no secret
    return await asyncio.to_thread(_questions_about, crawl, chosen)


def _questions_about(crawl: CrawlProject, urls: Sequence[str]) -> list[Question]:
    with PageStoreReader(crawl.folder.pages) as collection:
        records = [record for url in urls if (record := collection.find(fingerprint(url))) and record.page]
        return [Question(record=record, why=CHECK, excerpt=_excerpt(collection, record)) for record in records]


async def read_labels(crawl: CrawlProject) -> list[Label]:
    """Return the label log."""
    label_store = crawl.labels()
    try:
        return (await label_store.read())[0]
    finally:
        await label_store.close()


async def known_labels(crawl: CrawlProject) -> dict[str, bool]:
    """Return the current labels of people by URL."""
    return verdicts(await read_labels(crawl))


class LabellingSession:
    """Some labels of a user, and what they change in judge and queue since `begin`.

    Every label is in the label log when `answer` returns; running workers may read it before `learn` is called.

    Args:
        boundary: Report the threshold before and after.
        topic: The topic that the labels are about, of several; empty for all.

    Raises:
        ConfigError: There is no such topic.
    """

    def __init__(self, crawl: CrawlProject, *, boundary: bool = False, topic: str = "") -> None:
        crawl.check_topic(topic)
        self._crawl = crawl
        self._topic = topic
        self._boundary = boundary
        self._answers = 0
        self._written = 0
        self._own_verdicts: dict[str, bool] = {}
        self._queue: Sequence[UrlEntry] = ()
        self._urls: dict[str, LabelledUrl] = {}
        self._scores: dict[str, float] = {}
        self._relevant = 0

    async def begin(self) -> None:
        """Record the head of the queue, and the judge's own verdicts on the pages that have labels."""
        self._queue = await _best(self._crawl)
        await self._record_own_verdicts(await known_labels(self._crawl))
        if self._boundary:
            self._scores, _ = await asyncio.to_thread(_scores, self._crawl)
            self._relevant = await _count_relevant(self._crawl)

    async def answer(self, answers: Mapping[str, bool | None]) -> None:
        """Store labels by URL; None removes one.

        Raises:
            ConfigError: A text is not an http or https URL, or a URL that was not fetched is outside the scope.
        """
        now, topic = time.time(), self._topic
        labels = [Label(url=_canonical(text), relevant=value, at=now, topic=topic) for text, value in answers.items()]
        frontier = self._crawl.frontier()
        try:
            urls = [await look_up(self._crawl, frontier, label) for label in labels]
            await self._record_own_verdicts([label.url for label in labels])
            await self._append(labels)
            await queue_labelled(self._crawl, frontier, urls)
        finally:
            await frontier.close()
        self._urls.update((each.url, each) for each in urls)
        self._answers += len(labels)

    async def add(self, labels: Sequence[Label]) -> None:
        """Store labels of fetched pages as they are, such as those of a model."""
        await self._record_own_verdicts([label.url for label in labels])
        await self._append(labels)
        self._answers += len(labels)

    async def _append(self, labels: Sequence[Label]) -> None:
        label_store = self._crawl.labels()
        try:
            self._written = await label_store.append(labels)
        finally:
            await label_store.close()

    async def learn(self) -> LabellingResult:
        """Wait until the labels are applied; return what changed since `begin`."""
        seconds = REJUDGE_SECONDS if self._boundary else APPLY_SECONDS
        applied = await wait_until_applied(self._crawl, self._written, seconds=seconds) if self._answers else True
        labels = await known_labels(self._crawl)
        verdicts_now = await asyncio.to_thread(_own_verdicts, self._crawl, labels)
        return LabellingResult(
            labels=self._answers,
            applied=applied,
            before=self._status(self._own_verdicts, labels, self._queue),
            after=self._status(verdicts_now, labels, await _best(self._crawl)),
            urls=list(self._urls.values()),
            boundary=await self._moved() if self._boundary and applied and self._answers else None,
        )

    def _status(
        self, own_verdicts: Mapping[str, bool], labels: Mapping[str, bool], queue: Sequence[UrlEntry]
    ) -> LabellingStatus:
        """Return the status; of several topics without the precision, since labels may be about one of them."""
        status = _labelling_status(own_verdicts, labels, queue)
        return replace(status, precision=None) if self._crawl.topic_names else status

    async def _moved(self) -> Boundary:
        """Compare the threshold with the equivalent one after the labels."""
        threshold = self._crawl.threshold()
        _, selected = await asyncio.to_thread(_scores, self._crawl)
        labels = {each.url: each.relevant for each in self._urls.values() if each.relevant is not None}
        above = [labels[url] for url, score in self._scores.items() if url in labels and score >= threshold]
        below = [labels[url] for url, score in self._scores.items() if url in labels and score < threshold]
        return Boundary(
            below=len(below),
            below_yes=sum(below),
            above=len(above),
            above_yes=sum(above),
            threshold=threshold,
            now=equal_threshold(list(self._scores.values()), selected, threshold=threshold),
            relevant=self._relevant,
            relevant_now=await _count_relevant(self._crawl),
        )

    async def _record_own_verdicts(self, urls: Iterable[str]) -> None:
        missing = [url for url in urls if url not in self._own_verdicts]
        self._own_verdicts.update(await asyncio.to_thread(_own_verdicts, self._crawl, missing))


def equal_threshold(scores: Sequence[float], count: int, *, threshold: float) -> float:
    """Return the threshold that selects `count` pages by these scores; `threshold` itself when it does."""
    ranked = sorted(scores, reverse=True)
    if sum(score >= threshold for score in ranked) == count:
        return threshold
    if count == 0:
        return 1.0
    return ranked[min(count, len(ranked)) - 1] if ranked else threshold


async def add_labels(
    crawl: CrawlProject, labels: Mapping[str, bool | None], *, boundary: bool = False, topic: str = ""
) -> LabellingResult:
    """Label pages by URL, None to remove a label; return what changed.

    Args:
        boundary: Report the threshold before and after.
        topic: The topic that the labels are about, of several; empty for all.

    Raises:
        ConfigError: A text is not an http or https URL, or a URL that was not fetched is outside the scope.
    """
    session = LabellingSession(crawl, boundary=boundary, topic=topic)
    await session.begin()
    await session.answer(labels)
    return await session.learn()


def _canonical(text: str) -> str:
    url = canonicalize(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL, such as https://example.org/page")
    return url


def _scores(crawl: CrawlProject) -> tuple[dict[str, float], int]:
    """Return the relevance of every page of this folder, without duplicates, and the number of relevant ones."""
    with PageStoreReader(crawl.folder.pages) as collection:
        records = list(collection.ranked())
    return {record.url: record.relevance for record in records}, sum(record.relevant for record in records)


async def _count_relevant(crawl: CrawlProject) -> int:
    """Return the number of relevant pages as every command reports it."""
    frontier = crawl.frontier()
    try:
        return (await Totals(crawl.counted_pages).read(frontier, fresh=True)).relevant
    finally:
        await frontier.close()


async def _best(crawl: CrawlProject) -> list[UrlEntry]:
    frontier = crawl.frontier()
    try:
        return await frontier.peek(QUEUE_URLS)
    finally:
        await frontier.close()


def _labelling_status(
    own_verdicts: Mapping[str, bool], labels: Mapping[str, bool], queue: Sequence[UrlEntry]
) -> LabellingStatus:
    right = [labels[url] for url, relevant in own_verdicts.items() if relevant and url in labels]
    labelled = sum(url in labels for url in own_verdicts)
    return LabellingStatus(labelled=labelled, precision=sum(right) / len(right) if right else None, queue=queue)


def _own_verdicts(crawl: CrawlProject, urls: Iterable[str]) -> dict[str, bool]:
    """Return the judge's own verdict on each URL that was fetched."""
    with PageStoreReader(crawl.folder.pages) as collection:
        found = {url: collection.find(fingerprint(url)) for url in urls}
    threshold = crawl.threshold()
    return {url: _would_call_relevant(record, threshold) for url, record in found.items() if record and record.page}


def _would_call_relevant(record: PageRecord, threshold: float) -> bool:
    """Return the judge's own verdict on a page, without its label."""
    if LABEL_PART not in record.parts:
        return record.relevant
    return record.parts.get(UNLABELLED_PART, record.parts[LABEL_PART]) >= threshold
