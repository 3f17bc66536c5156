"""Labelling by a language model: as a command, and during a run beside the crawl.

A run never waits for the model: it is asked in a task of the supervisor, which starts, signals and replaces workers
meanwhile. Outages, errors and a spent budget end or postpone the questions, and are logged; they never end the run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thresher.config.model_labels import ModelLabelsConfig
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.feedback.labels import Label, LabelStore, model_labels
from thresher.feedback.model_client import ModelAnswer, ModelClient, ModelUnavailable, PageText, answer_key
from thresher.feedback.model_labels import AnswerLog, ErrorRate, Spending, error_rate, label_probability
from thresher.feedback.sampling import most_informative
from thresher.frontier.base import async_closing
from thresher.locale.translation import _
from thresher.operations.labelling import (
    LabellingResult,
    label_candidate,
    labelled_urls,
    labelling_session,
)
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageOrder, PageStoreReader
from thresher.urls.canonical import canonicalize, fingerprint

logger = logging.getLogger(__name__)

BATCH = 5
"""Answers after which the judge is retrained and new questions are chosen."""
CANDIDATES = 300
"""Candidates of each kind: the most relevant, the least certain, and random pages."""
MAX_FAILURES = 3
"""Failures in a row after which a command gives up."""
MAX_UNUSABLE = 10
"""Answers in a row that are neither yes nor no, after which no more are requested."""
RETRY_SECONDS, MAX_RETRY_SECONDS = 2.0, 30.0
POLL_SECONDS = 1.0
CRAWL_RETRY_SECONDS, MAX_CRAWL_RETRY_SECONDS = 10.0, 600.0


@dataclass(frozen=True, kw_only=True)
class ModelLabelling:
    """What a model did.

    Args:
        asked: Pages that it was asked about, or whose answer was in the cache.
        labelled: Those of them that it labelled.
        cached: Answers of the cache.
        spending: Over all runs.
        errors: How often it is wrong.
        stopped: Why it was not asked about more pages; empty when it was asked about as many as wanted.
    """

    model: str
    asked: int
    labelled: int
    cached: int
    spending: Spending
    errors: ErrorRate
    stopped: str = ""


@dataclass
class _Batch:
    """Some answers of the model."""

    labels: list[Label] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    cached: int = 0
    failure: ModelUnavailable | None = None
    exhausted: str = ""


class ModelLabeller:
    """Asks the configured model about pages of a crawl, within its budget.

    Raises:
        ConfigError: No model is configured, openai is not installed, or the variable with the key is not set.
    """

    def __init__(self, crawl: CrawlSetup) -> None:
        if crawl.config.model_labels is None:
            raise ConfigError(
                _(
                    "{file} names no model; give model_labels: {{endpoint: …, model: …}}, and the first "
                    "3,000 characters of pages are sent there",
                    file=crawl.folder.topic,
                )
            )
        self._crawl = crawl
        self.config: ModelLabelsConfig = crawl.config.model_labels
        self._client = ModelClient(self.config)
        self._log = AnswerLog(crawl.folder.model_answers, self.config)
        self._topic = topic_text(crawl)
        self._without: set[str] = set()

    @property
    def spending(self) -> Spending:
        return self._log.spending

    async def batch(self, labels: Sequence[Label], count: int) -> _Batch:
        """Ask about the most informative pages, until the budget is spent or the model fails.

        Args:
            labels: The label log.
        """
        batch = _Batch()
        by_people = {label.url for label in labels if not label.model}  # also withdrawn ones: a person has decided
        rate = error_rate(labels, self.config.model)
        known = {*labelled_urls(labels), *self._crawl.seeds(), *self._without, *by_people}
        for url, text in (await asyncio.to_thread(_chosen, self._crawl, known, count)).items():
            answer = await self._answer(text, batch)
            if answer is None:
                break
            batch.asked.append(url)
            self._without.add(url)
            if answer.relevant is not None:
                batch.labels.append(self._label(url, answer, rate))
        return batch

    async def _answer(self, text: PageText, batch: _Batch) -> ModelAnswer | None:
        """Return the answer of cache or model; None when there will be none, with the reason in `batch`."""
        key = answer_key(self.config, self._topic, text)
        if cached := self._log.find(key):
            batch.cached += 1
            return cached
        if exhausted := self._log.spending.exhausted(self.config):
            batch.exhausted = exhausted
            return None
        try:
            answer = await self._client.ask(self._topic, text)
        except ModelUnavailable as error:
            batch.failure = error
            await asyncio.to_thread(self._log.add, key, None, str(error))
            return None
        await asyncio.to_thread(self._log.add, key, answer, "" if answer.relevant is not None else "not yes or no")
        return answer

    def _label(self, url: str, answer: ModelAnswer, rate: ErrorRate) -> Label:
        probability = label_probability(answer, rate)
        return Label(
            url=url, relevant=answer.relevant, at=time.time(), model=self.config.model, probability=probability
        )

    async def close(self) -> None:
        await self._client.close()


def topic_text(crawl: CrawlSetup) -> str:
    """Return the topic as it is described to a model."""
    topic = crawl.topic()
    nodes = [" / ".join(next(iter(level.values()), "") for level in path) for path in topic.nodes]
    parts = [*topic.title.values(), *nodes, *topic.about.values()]
    keywords = f"keywords: {', '.join(topic.keywords)}" if topic.keywords else ""
    return ". ".join(dict.fromkeys(part for part in (*parts, keywords) if part))


def _chosen(crawl: CrawlSetup, known: set[str], count: int) -> dict[str, PageText]:
    """Choose pages to ask about at once; return their texts by URL."""
    with PageStoreReader(crawl.folder.pages) as collection:
        found = (record for order in PageOrder for record in collection.some(order, CANDIDATES))
        records = {record.url: record for record in found if record.url not in known}
        urls = most_informative(list(map(label_candidate, records.values())), count)
        return {url: _text(collection, records[url]) for url in urls}


def _text(collection: PageStoreReader, record: PageRecord) -> PageText:
    return PageText(title=record.title, text=collection.content(record.fingerprint).text)


async def label_with_model(crawl: CrawlSetup, count: int) -> tuple[LabellingResult, ModelLabelling]:
    """Let the configured model label up to `count` pages; return what changed.

    Raises:
        ConfigError: No model is configured, openai is not installed, or the variable with the key is not set.
    """
    labeller = ModelLabeller(crawl)
    asked, labelled, cached, failures, unusable, stopped = 0, 0, 0, 0, 0, ""
    async with async_closing(labeller), labelling_session(crawl) as session:
        while asked < count and not stopped:
            batch = await labeller.batch(await session.labels(), min(BATCH, count - asked))
            asked, labelled, cached = asked + len(batch.asked), labelled + len(batch.labels), cached + batch.cached
            if batch.labels:
                await session.add(batch.labels)
                await session.learn()
            failures = failures + 1 if batch.failure and not batch.asked else 0
            unusable = 0 if batch.labels else unusable + len(batch.asked)
            stopped = _why_stopped(batch, failures, unusable)
            if batch.failure and not stopped:
                wait = batch.failure.retry_seconds or RETRY_SECONDS * 2**failures
                await asyncio.sleep(min(wait, MAX_RETRY_SECONDS))
        errors = error_rate(await session.labels(), labeller.config.model)
    summary = ModelLabelling(
        model=labeller.config.model,
        asked=asked,
        labelled=labelled,
        cached=cached,
        spending=labeller.spending,
        errors=errors,
        stopped=stopped,
    )
    return session.total(), summary


def _why_stopped(batch: _Batch, failures: int, unusable: int) -> str:
    if batch.exhausted:
        return _("the budget of {what} is spent", what=batch.exhausted)
    if unusable >= MAX_UNUSABLE:
        return _unusable_text(unusable)
    if batch.failure and (batch.failure.is_lasting or failures >= MAX_FAILURES):
        return _("the model does not answer: {error}", error=batch.failure)
    return "" if batch.asked or batch.failure else _("there is no page left to ask about")


def _unusable_text(unusable: int) -> str:
    return _(
        "the last {number} answers were neither yes nor no. Name a larger model, or set model_labels.reasoning: "
        "true for one that reasons before it answers",
        number=unusable,
    )


async def label_as_model(crawl: CrawlSetup, model: str, url: str, relevant: bool | None) -> LabellingResult:
    """Store a label that a program gave under a name of its own, as one by a model; None withdraws it.

    Raises:
        ConfigError: The URL has no page in this crawl.
    """
    canonical = canonicalize(url)
    if canonical is None or not await asyncio.to_thread(_has_page, crawl, canonical):
        raise ConfigError(_("{url!r} has no page in this crawl; only crawled pages can be labelled", url=url))
    async with labelling_session(crawl) as session:
        rate = error_rate(await session.labels(), model)
        probability = 0.5 if relevant is None else label_probability(ModelAnswer(relevant=relevant), rate)
        label = Label(url=canonical, relevant=relevant, at=time.time(), model=model, probability=probability)
        await session.add([label])
        return await session.learn()


def _has_page(crawl: CrawlSetup, url: str) -> bool:
    with PageStoreReader(crawl.folder.pages) as collection:
        record = collection.find(fingerprint(url))
        return record is not None and record.page


async def revoke_model_labels(crawl: CrawlSetup) -> LabellingResult:
    """Withdraw all labels of models; return what changed."""
    async with labelling_session(crawl) as session:
        given = model_labels(await session.labels())
        labels = [Label(url=url, relevant=None, at=time.time(), model=label.model) for url, label in given.items()]
        if labels:
            await session.add(labels)
        return await session.learn()


class CrawlLabelling:
    """Labels pages during a run.

    Args:
        pages: Returns how many pages the crawl has.
    """

    def __init__(self, crawl: CrawlSetup, pages: Callable[[], int]) -> None:
        self._crawl = crawl
        self._pages = pages
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the task, if topic.yaml wants labels during a run."""
        config = self._crawl.config.model_labels
        if config and config.during_crawl and not self._crawl.is_refresh:
            self._task = asyncio.create_task(self._run(config))

    async def close(self) -> None:
        """End the task, without waiting for an answer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=1.0)

    async def _run(self, config: ModelLabelsConfig) -> None:
        try:
            labeller = await asyncio.to_thread(ModelLabeller, self._crawl)  # importing the client takes a second
        except Exception as error:
            logger.warning("no labels by the model %s: %s", config.model, error)
            return
        try:
            async with self._crawl.connect() as connected:
                await self._label(labeller, connected.labels)
        except Exception as error:  # whatever it is, the run goes on
            logger.warning("no more labels by the model %s in this run: %s", config.model, error)
        finally:
            await labeller.close()

    async def _label(self, labeller: ModelLabeller, label_store: LabelStore) -> None:
        labels, _ = await label_store.read()
        asked, failures, unusable = len(model_labels(labels)), 0, 0
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if self._pages() // labeller.config.pages_per_question - asked < BATCH:
                continue
            labels, _ = await label_store.read()
            batch = await labeller.batch(labels, BATCH)
            if batch.labels:
                await label_store.append(batch.labels)
            asked += max(len(batch.asked), 0 if batch.failure else 1)  # without a page to ask about, wait for more
            failures = failures + 1 if batch.failure else 0
            unusable = 0 if batch.labels else unusable + len(batch.asked)
            if unusable >= MAX_UNUSABLE:
                logger.warning("no more labels by the model %s: %s", labeller.config.model, _unusable_text(unusable))
                return
            if batch.exhausted:
                logger.warning("the budget of the model %s is spent: %s", labeller.config.model, batch.exhausted)
                return
            if batch.failure:
                logger.warning("the model %s does not answer: %s", labeller.config.model, batch.failure)
                if batch.failure.is_lasting:
                    return
                wait = max(batch.failure.retry_seconds, CRAWL_RETRY_SECONDS * 2.0 ** min(failures - 1, 10))
                await asyncio.sleep(min(wait, MAX_CRAWL_RETRY_SECONDS))
