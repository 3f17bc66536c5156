"""Teaching a crawl: which pages to ask a person about, and what the answers change.

Labels are appended to the label log of the crawl, which its workers poll (`listeners.py`). A label may also name a URL
that was not fetched: one with a yes is queued like a seed, and the label counts when the page comes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thresher.archive.collection import Collection, Order
from thresher.archive.pages import PageRecord
from thresher.build import Crawl
from thresher.classify.asking import Asked, most_telling, nearest_to_threshold
from thresher.errors import ConfigError
from thresher.frontier.base import UrlEntry
from thresher.labelled_urls import LabelledUrl, look_up, queue_labelled
from thresher.labels import Label, verdicts
from thresher.listeners import HEAR_SECONDS, heard_by_all
from thresher.records import TOLD, UNAIDED
from thresher.totals import Totals
from thresher.urls.canonical import canonicalize, fingerprint
from thresher.urls.host import host_key

QUEUE_URLS = 20
"""How much of the queue is shown before and after."""
CANDIDATES = 300
"""Pages of each kind among which questions are chosen: the best, the least sure, and any."""
EXCERPT_CHARACTERS = 600
BOUNDARY = "boundary"
"""Why a page near the threshold is asked about."""
BOUNDARY_QUESTIONS = 10
REJUDGE_SECONDS = 120.0
"""How long running workers are waited for when the threshold is to be reported: they judge all their pages again."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A page to ask about.

    Args:
        why: ``likely`` when it seems to be about the topic, ``unsure`` when it could be or not, ``spread`` when it is
            unlike those that were asked about; ``boundary`` when it is near the threshold.
        excerpt: How it begins.
    """

    record: PageRecord
    why: str
    excerpt: str


@dataclass(frozen=True, kw_only=True)
class Boundary:
    """What the threshold is and was.

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
class Standing:
    """How a crawl stands, as far as labels show it.

    Args:
        labelled: Fetched pages that somebody has said yes or no to.
        precision: Of those that the judge would call relevant by itself, the share with a yes; None without any.
        queue: The best waiting URLs.
    """

    labelled: int
    precision: float | None
    queue: Sequence[UrlEntry]


@dataclass(frozen=True, kw_only=True)
class Taught:
    """What some labels changed.

    Args:
        labels: How many were given.
        heard: Whether judge and queue are up to date: all workers at work have read them, or nobody is at work.
        urls: What was labelled, each URL once.
        boundary: What became of the threshold, where that was asked for and is known.
    """

    labels: int
    heard: bool
    before: Standing
    after: Standing
    urls: Sequence[LabelledUrl] = ()
    boundary: Boundary | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


async def questions(crawl: Crawl, limit: int, *, boundary: bool = False) -> list[Question]:
    """Return the pages whose answers teach most, of those without a label.

    Args:
        boundary: Ask about pages near the threshold, `BOUNDARY_QUESTIONS` at most.
    """
    known = {*await said_so_far(crawl), *crawl.seeds()}
    if boundary:
        return await asyncio.to_thread(_boundary_questions, crawl, known, min(limit, BOUNDARY_QUESTIONS))
    return await asyncio.to_thread(_questions, crawl, known, limit)


def _questions(crawl: Crawl, known: set[str], limit: int) -> list[Question]:
    with Collection(crawl.folder.pages) as collection:
        found = (record for order in Order for record in collection.some(order, CANDIDATES))
        records = {record.url: record for record in found if record.url not in known}
        chosen = most_telling([_asked(record) for record in records.values()], limit)
        return [
            Question(record=records[url], why=why, excerpt=_excerpt(collection, records[url])) for url, why in chosen
        ]


def _boundary_questions(crawl: Crawl, known: set[str], limit: int) -> list[Question]:
    threshold = crawl.threshold()
    with Collection(crawl.folder.pages) as collection:
        records = {record.url: record for record in collection.near(threshold, CANDIDATES) if record.url not in known}
        chosen = nearest_to_threshold([_asked(record) for record in records.values()], limit, threshold=threshold)
        return [
            Question(record=records[each.url], why=BOUNDARY, excerpt=_excerpt(collection, records[each.url]))
            for each in chosen
        ]


def _asked(record: PageRecord) -> Asked:
    return Asked(
        url=record.url,
        relevance=record.relevance,
        language=record.language,
        host=host_key(record.url),
        title=record.title,
    )


def _excerpt(collection: Collection, record: PageRecord) -> str:
    return " ".join(collection.main_text(record.fingerprint).split())[:EXCERPT_CHARACTERS]


async def said_so_far(crawl: Crawl) -> dict[str, bool]:
    """Return what has been said of pages, by URL."""
    book = crawl.labels()
    try:
        labels, _ = await book.read()
    finally:
        await book.close()
    return verdicts(labels)


class Lesson:
    """Some answers of a person, and what they change: the queue from the begin of the lesson on, and the judge.

    Every answer is in the label log when `answer` returns; workers that run may read it before `learn` is called.

    Args:
        boundary: Whether the threshold before and after is to be reported.
    """

    def __init__(self, crawl: Crawl, *, boundary: bool = False) -> None:
        self._crawl = crawl
        self._boundary = boundary
        self._answers = 0
        self._written = 0
        self._opinions: dict[str, bool] = {}
        self._queue: Sequence[UrlEntry] = ()
        self._urls: dict[str, LabelledUrl] = {}
        self._scores: dict[str, float] = {}
        self._relevant = 0

    async def begin(self) -> None:
        """See how the queue stands, and what the judge thinks of the pages that are labelled already."""
        self._queue = await _best(self._crawl)
        await self._note_opinions(await said_so_far(self._crawl))
        if self._boundary:
            self._scores, _ = await asyncio.to_thread(_scores, self._crawl)
            self._relevant = await _count_relevant(self._crawl)

    async def answer(self, told: Mapping[str, bool | None]) -> None:
        """Say of pages whether they are about the topic; None takes a label back.

        Raises:
            ConfigError: A text is no http or https URL, or a URL that was not fetched lies outside the crawl.
        """
        labels = [Label(url=_canonical(text), relevant=word, at=time.time()) for text, word in told.items()]
        frontier = self._crawl.frontier()
        try:
            urls = [await look_up(self._crawl, frontier, label) for label in labels]
            await self._note_opinions([label.url for label in labels])
            await self._append(labels)
            await queue_labelled(self._crawl, frontier, urls)
        finally:
            await frontier.close()
        self._urls.update((each.url, each) for each in urls)
        self._answers += len(labels)

    async def _append(self, labels: Sequence[Label]) -> None:
        book = self._crawl.labels()
        try:
            self._written = await book.say(labels)
        finally:
            await book.close()

    async def learn(self) -> Taught:
        """See to it that the answers are heard; return what they changed since the lesson began."""
        seconds = REJUDGE_SECONDS if self._boundary else HEAR_SECONDS
        heard = await heard_by_all(self._crawl, self._written, seconds=seconds) if self._answers else True
        said = await said_so_far(self._crawl)
        opinions = await asyncio.to_thread(_opinions, self._crawl, said)
        return Taught(
            labels=self._answers,
            heard=heard,
            before=_standing(self._opinions, said, self._queue),
            after=_standing(opinions, said, await _best(self._crawl)),
            urls=list(self._urls.values()),
            boundary=await self._moved() if self._boundary and heard and self._answers else None,
        )

    async def _moved(self) -> Boundary:
        """Compare the threshold with the one that it amounts to after the labels."""
        threshold = self._crawl.threshold()
        _, selected = await asyncio.to_thread(_scores, self._crawl)
        told = {each.url: each.relevant for each in self._urls.values() if each.relevant is not None}
        above = [told[url] for url, score in self._scores.items() if url in told and score >= threshold]
        below = [told[url] for url, score in self._scores.items() if url in told and score < threshold]
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

    async def _note_opinions(self, urls: Iterable[str]) -> None:
        now = await asyncio.to_thread(_opinions, self._crawl, [url for url in urls if url not in self._opinions])
        self._opinions.update(now)


def equal_threshold(scores: Sequence[float], count: int, *, threshold: float) -> float:
    """Return the threshold that selects so many pages by these scores; `threshold` itself when it does."""
    ranked = sorted(scores, reverse=True)
    if sum(score >= threshold for score in ranked) == count:
        return threshold
    if count == 0:
        return 1.0
    return ranked[min(count, len(ranked)) - 1] if ranked else threshold


async def tell(crawl: Crawl, told: Mapping[str, bool | None], *, boundary: bool = False) -> Taught:
    """Say of pages whether they are about the topic, None to take a label back; return what that changed.

    Args:
        boundary: Whether the threshold before and after is to be reported.

    Raises:
        ConfigError: A text is no http or https URL, or a URL that was not fetched lies outside the crawl.
    """
    lesson = Lesson(crawl, boundary=boundary)
    await lesson.begin()
    await lesson.answer(told)
    return await lesson.learn()


def _canonical(text: str) -> str:
    url = canonicalize(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL")
    return url


def _scores(crawl: Crawl) -> tuple[dict[str, float], int]:
    """Return the relevance of every page of this folder, duplicates left out, and how many are relevant."""
    with Collection(crawl.folder.pages) as collection:
        records = list(collection.ranked())
    return {record.url: record.relevance for record in records}, sum(record.relevant for record in records)


async def _count_relevant(crawl: Crawl) -> int:
    """Return the number of relevant pages as every command reports it."""
    frontier = crawl.frontier()
    try:
        return (await Totals(crawl.counted_pages).read(frontier, fresh=True)).relevant
    finally:
        await frontier.close()


async def _best(crawl: Crawl) -> list[UrlEntry]:
    frontier = crawl.frontier()
    try:
        return await frontier.peek(QUEUE_URLS)
    finally:
        await frontier.close()


def _standing(opinions: Mapping[str, bool], said: Mapping[str, bool], queue: Sequence[UrlEntry]) -> Standing:
    right = [said[url] for url, relevant in opinions.items() if relevant and url in said]
    labelled = sum(url in said for url in opinions)
    return Standing(labelled=labelled, precision=sum(right) / len(right) if right else None, queue=queue)


def _opinions(crawl: Crawl, urls: Iterable[str]) -> dict[str, bool]:
    """Say of the pages that were fetched whether the judge would call them relevant by itself."""
    with Collection(crawl.folder.pages) as collection:
        found = {url: collection.find(fingerprint(url)) for url in urls}
    threshold = crawl.threshold()
    return {url: _would_call_relevant(record, threshold) for url, record in found.items() if record and record.page}


def _would_call_relevant(record: PageRecord, threshold: float) -> bool:
    """Tell the judge's own opinion of a page, whatever people say of it."""
    if TOLD not in record.parts:
        return record.relevant
    return record.parts.get(UNAIDED, record.parts[TOLD]) >= threshold
