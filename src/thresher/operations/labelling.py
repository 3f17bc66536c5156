"""Labelling: which page to ask the user about next, and what the labels change.

The page nearest to the judge's cut is asked about, with the judge that has learned from all earlier answers.

Labels are appended to the label log of the crawl. A label may also name a URL that was not fetched: one with a yes is
queued like a seed, and the label counts when the page is fetched.

Running workers poll the label log every second and apply new labels. When none runs, this process does their work, so
that verdicts and queue are up to date before the next run. With a shared store it does so for the workers of this
folder; those of other machines apply the labels when they start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing, nullcontext, suppress
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from thresher.assembly import build_label_feed, build_updater
from thresher.backend import CrawlResources
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, CrawlBusy
from thresher.feedback.labels import Label, acknowledged, latest_labels, model_labels, verdicts
from thresher.feedback.sampling import LabelCandidate, nearest_to_threshold
from thresher.frontier.base import CrawlStore, UrlEntry
from thresher.locale.translation import _
from thresher.operations.labelled_urls import LabelledUrl, look_up, queue_labelled
from thresher.reasons.reason import with_messages
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import canonicalize, fingerprint, host_key

APPLY_SECONDS = 20.0
"""How long to wait for workers; they apply labels later otherwise."""
POLL_SECONDS = 0.1


def _workers_here(crawl: CrawlSetup) -> list[str]:
    return [path.stem for path in crawl.folder.segments()]


async def _have_applied(frontier: CrawlStore, names: Sequence[str], labels: int) -> bool:
    return all([await acknowledged(frontier, name) >= labels for name in names])


QUEUE_URLS = 20
"""Length of the head of the queue that is compared before and after."""
CANDIDATES = 300
"""Pages on each side of the cut among which the nearest are chosen."""
EXCERPT_CHARACTERS = 600
EXAMPLES = 3
"""Pages that are listed, at most, of those whose verdict changed in one direction."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A page to label.

    Args:
        rank: Its place among the pages of this folder by relevance; 1 for the most relevant.
        pages: The number of pages that are ranked, without duplicates.
        excerpt: The beginning of its text.
    """

    record: PageRecord
    rank: int
    pages: int
    excerpt: str


@dataclass(frozen=True, kw_only=True)
class LabellingStatus:
    """A crawl before or after some labels.

    Args:
        labelled: URLs with a label of a person.
        relevant: Relevant pages, to the topic of the labels where they are about one of several.
        queue: The best waiting URLs.
    """

    labelled: int
    relevant: int
    queue: Sequence[UrlEntry]


@dataclass(frozen=True, kw_only=True)
class ChangedPage:
    """A page whose verdict changed."""

    url: str
    title: str


@dataclass(frozen=True, kw_only=True)
class LabellingResult:
    """What some labels changed.

    Args:
        labels: How many were given.
        applied: Whether judge and queue are up to date: all running workers have applied them, or none runs.
        now_relevant: Pages that became relevant, `EXAMPLES` at most, without those that were labelled.
        no_longer: Pages that are no longer relevant, likewise.
        urls: The labelled URLs, each once.
    """

    labels: int
    applied: bool
    before: LabellingStatus
    after: LabellingStatus
    now_relevant: Sequence[ChangedPage] = ()
    no_longer: Sequence[ChangedPage] = ()
    urls: Sequence[LabelledUrl] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self, dict_factory=with_messages)


async def questions(
    crawl: CrawlSetup, labels: Sequence[Label], limit: int, *, topic: str = "", without: Iterable[str] = ()
) -> list[Question]:
    """Return pages without a label, the one nearest to the judge's cut first.

    Args:
        labels: The label log.
        topic: The topic that the labels will be about, of several; empty for all.
        without: URLs to leave out.
    """
    known = {*labelled_urls(labels, topic), *crawl.seeds(), *without}
    return await asyncio.to_thread(_nearest, crawl, topic, known, limit)


def labelled_urls(labels: Sequence[Label], topic: str = "") -> list[str]:
    """Return the URLs with a label of a person or a model, about one topic of several or all."""
    return [url for url, label in latest_labels(labels, topic).items() if label is not None]


def _nearest(crawl: CrawlSetup, topic: str, known: set[str], limit: int) -> list[Question]:
    cut = crawl.threshold()  # the only place where questions depend on the judge's cut
    with PageStoreReader(crawl.folder.pages) as collection:
        near = collection.near(cut, CANDIDATES, topic=topic)
        records = {record.url: record for record in near if record.url not in known}
        chosen = nearest_to_threshold(list(map(label_candidate, records.values())), limit, threshold=cut)
        return [_question(collection, records[each.url], topic) for each in chosen]


def label_candidate(record: PageRecord) -> LabelCandidate:
    """Return a page as one that could be labelled."""
    return LabelCandidate(
        url=record.url,
        relevance=record.relevance,
        language=record.language,
        host=host_key(record.url),
        title=record.title,
    )


def _question(collection: PageStoreReader, record: PageRecord, topic: str = "") -> Question:
    rank, pages = collection.rank(record.relevance, topic=topic)
    excerpt = " ".join(collection.content(record.fingerprint).text.split())[:EXCERPT_CHARACTERS]
    return Question(record=record, rank=rank, pages=pages, excerpt=excerpt)


async def check_questions(crawl: CrawlSetup, labels: Sequence[Label], limit: int) -> list[Question]:
    """Return random pages that a model labelled and no person, to compare the two."""
    unchecked = sorted(model_labels(labels).keys() - verdicts(labels).keys())
    chosen = Random(len(unchecked)).sample(unchecked, min(limit, len(unchecked)))  # noqa: S311 - no secret
    return await asyncio.to_thread(_questions_about, crawl, chosen)


def _questions_about(crawl: CrawlSetup, urls: Sequence[str]) -> list[Question]:
    with PageStoreReader(crawl.folder.pages) as collection:
        records = [record for url in urls if (record := collection.find(fingerprint(url))) and record.page]
        return [_question(collection, record) for record in records]


@dataclass(frozen=True, kw_only=True)
class _Snapshot:
    """A crawl at one moment: its status, and its relevant pages in this folder, the most relevant first."""

    status: LabellingStatus
    pages: Mapping[str, PageRecord]
    at: float


class LabellingSession:
    """Some labels of a user, and what they change in judge and queue; `labelling_session` opens one.

    Every label is in the label log when `answer` returns; running workers may read it before `learn` is called.

    Args:
        topic: The topic that the labels are about, of several; empty for all.
    """

    def __init__(self, crawl: CrawlSetup, connected: CrawlResources, *, topic: str = "") -> None:
        self._crawl = crawl
        self._connected = connected
        self._topic = topic
        self._answers = 0
        self._written = 0
        self._applied = True
        self._urls: dict[str, LabelledUrl] = {}
        self._first: _Snapshot
        self._now: _Snapshot

    async def begin(self) -> None:
        """Apply the labels that a killed process left in the log, and record the status of the crawl."""
        _, self._written = await self._connected.labels.read()
        workers = _workers_here(self._crawl)
        if self._written and workers and not await _have_applied(self._connected.frontier, workers, self._written):
            await self._wait_until_applied()
        self._first = self._now = await self._snapshot()

    async def labels(self) -> list[Label]:
        """Return the label log."""
        labels, _ = await self._connected.labels.read()
        return labels

    async def questions(self, limit: int, *, without: Collection[str] = ()) -> list[Question]:
        """Return pages without a label, the one nearest to the judge's cut first."""
        return await questions(self._crawl, await self.labels(), limit, topic=self._topic, without=without)

    async def answer(self, answers: Mapping[str, bool | None]) -> None:
        """Store labels by URL; None removes one.

        Raises:
            ConfigError: A text is not an http or https URL, or a URL that was not fetched is outside the scope.
        """
        now, topic = time.time(), self._topic
        labels = [Label(url=_canonical(text), relevant=value, at=now, topic=topic) for text, value in answers.items()]
        frontier = self._connected.frontier
        urls = [await look_up(self._crawl, frontier, label) for label in labels]
        await self.add(labels)
        await queue_labelled(self._crawl, frontier, urls)
        self._urls.update((each.url, each) for each in urls)

    async def add(self, labels: Sequence[Label]) -> None:
        """Store labels as they are, such as those of a model."""
        self._written = await self._connected.labels.append(labels)
        self._answers += len(labels)

    async def learn(self) -> LabellingResult:
        """Wait until the labels are applied; return what changed since the last call, or since `begin`."""
        if self._answers:
            self._applied = await self._wait_until_applied()
        before, self._now = self._now, await self._snapshot()
        return self._since(before)

    def total(self) -> LabellingResult:
        """Return what changed from `begin` to the last call of `learn`."""
        return self._since(self._first)

    def _since(self, before: _Snapshot) -> LabellingResult:
        now = self._now
        became = [page for url, page in now.pages.items() if url not in before.pages and page.fetched_at < before.at]
        ceased = [page for url, page in before.pages.items() if url not in now.pages]
        return LabellingResult(
            labels=self._answers,
            applied=self._applied,
            before=before.status,
            after=now.status,
            now_relevant=self._examples(became),
            no_longer=self._examples(ceased),
            urls=list(self._urls.values()),
        )

    def _examples(self, pages: Sequence[PageRecord]) -> list[ChangedPage]:
        others = [page for page in pages if page.url not in self._urls]  # what was labelled is no news
        return [ChangedPage(url=page.url, title=page.title) for page in others[:EXAMPLES]]

    async def _wait_until_applied(self) -> bool:
        """Wait until all workers have applied the labels; apply them here when none runs."""
        until, run, frontier = time.monotonic() + APPLY_SECONDS, self._connected.run, self._connected.frontier
        while time.monotonic() < until:
            if await run.is_idle():
                with suppress(CrawlBusy):  # a run has just begun
                    return await self._apply_here()
            names = await run.active_workers(frontier)
            if names and await _have_applied(frontier, names, self._written):
                return True
            await asyncio.sleep(POLL_SECONDS)
        return False

    async def _apply_here(self) -> bool:
        """Apply labels for the workers of this folder, one after the other, under the lock of a run.

        A folder with all pages and no worker yet gets its first; another one has nothing to apply them to.

        Raises:
            CrawlBusy: A run is under way.
        """
        backend = self._crawl.backend
        workers = _workers_here(self._crawl) or (backend.worker_names(1) if backend.has_all_pages else [])
        with self._crawl.folder.only_one_run() if workers else nullcontext():
            for worker in workers:
                await self._apply_as(worker)
        return bool(workers)

    async def _apply_as(self, worker: str) -> None:
        with closing(self._crawl.backend.state_stores(worker)) as state_stores:
            updater = build_updater(self._crawl, worker, self._connected.frontier, state_stores)
            try:
                await build_label_feed(self._crawl, updater, worker, self._connected.labels).begin()
            finally:
                updater.close_with_archive()

    async def _snapshot(self) -> _Snapshot:
        crawl, at = self._crawl, time.time()
        pages = await asyncio.to_thread(_relevant_pages, crawl, self._topic)
        is_elsewhere = not (crawl.backend.has_all_pages or self._topic)  # other machines have pages too
        relevant = (await self._connected.frontier.counts()).relevant if is_elsewhere else len(pages)
        queue = await self._connected.frontier.peek(QUEUE_URLS)
        labelled = len(verdicts(await self.labels()))
        status = LabellingStatus(labelled=labelled, relevant=relevant, queue=queue)
        return _Snapshot(status=status, pages=pages, at=at)


@asynccontextmanager
async def labelling_session(crawl: CrawlSetup, *, topic: str = "") -> AsyncIterator[LabellingSession]:
    """Connect to a crawl once, for all labels of a session. Judging pages may keep the event loop busy.

    Raises:
        ConfigError: There is no such topic.
    """
    crawl.check_topic(topic)
    async with crawl.connect() as connected:
        session = LabellingSession(crawl, connected, topic=topic)
        await session.begin()
        yield session


async def add_labels(crawl: CrawlSetup, labels: Mapping[str, bool | None], *, topic: str = "") -> LabellingResult:
    """Label pages by URL, None to remove a label; return what changed.

    Args:
        topic: The topic that the labels are about, of several; empty for all.

    Raises:
        ConfigError: A text is not an http or https URL, or a URL that was not fetched is outside the scope.
    """
    async with labelling_session(crawl, topic=topic) as session:
        await session.answer(labels)
        return await session.learn()


def _canonical(text: str) -> str:
    url = canonicalize(text)
    if url is None:
        raise ConfigError(_("{text!r} is not an http or https URL, such as https://example.org/page", text=text))
    return url


def _relevant_pages(crawl: CrawlSetup, topic: str) -> dict[str, PageRecord]:
    with PageStoreReader(crawl.folder.pages) as collection:
        return {record.url: record for record in collection.ranked(relevant=True, topic=topic)}
