"""Teaching a crawl: which pages to ask a person about, and what the answers change.

Labels go into the crawl's book, where those who work for it read on (`listeners.py`).
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
from thresher.classify.asking import Asked, most_telling
from thresher.errors import ConfigError
from thresher.frontier.base import UrlEntry
from thresher.labels import Label, verdicts
from thresher.listeners import heard_by_all
from thresher.records import TOLD, UNAIDED
from thresher.urls.canonical import canonicalize, fingerprint
from thresher.urls.host import host_key

QUEUE_URLS = 20
"""How much of the queue is shown before and after."""
CANDIDATES = 300
"""Pages of each kind among which questions are chosen: the best, the least sure, and any."""
EXCERPT_CHARACTERS = 600
LIKELY = 0.5


@dataclass(frozen=True, kw_only=True)
class Question:
    """A page to ask about.

    Args:
        why: ``likely`` when it seems to be about the topic, ``unsure`` when it could be or not, ``spread`` when it is
            unlike those that were asked about.
        excerpt: How it begins.
    """

    record: PageRecord
    why: str
    excerpt: str


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
        heard: Whether everybody at work has heard them, and the queue followed.
    """

    labels: int
    heard: bool
    before: Standing
    after: Standing

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


async def questions(crawl: Crawl, limit: int) -> list[Question]:
    """Return the pages whose answers teach most, of those that nobody has spoken about."""
    said, seeds = await said_so_far(crawl), set(crawl.seeds())
    return await asyncio.to_thread(_questions, crawl, {*said, *seeds}, limit)


def _questions(crawl: Crawl, known: set[str], limit: int) -> list[Question]:
    with Collection(crawl.folder.pages) as collection:
        found = (record for order in Order for record in collection.some(order, CANDIDATES))
        records = {record.url: record for record in found if record.url not in known}
        chosen = most_telling([_asked(record) for record in records.values()], limit)
        return [
            Question(record=records[url], why=why, excerpt=_excerpt(collection, records[url])) for url, why in chosen
        ]


def _asked(record: PageRecord) -> Asked:
    return Asked(
        url=record.url,
        relevance=record.relevance,
        probability=record.probability,
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

    Every answer is in the book when `answer` returns; workers that run may hear it before `learn` is called.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._answers = 0
        self._written = 0
        self._opinions: dict[str, bool] = {}
        self._queue: Sequence[UrlEntry] = ()

    async def begin(self) -> None:
        """See how the queue stands, and what the judge thinks of the pages that are labelled already."""
        self._queue = await _best(self._crawl)
        await self._note_opinions(await said_so_far(self._crawl))

    async def answer(self, told: Mapping[str, bool | None]) -> None:
        """Say of pages whether they are about the topic; None takes a word back.

        Raises:
            ConfigError: A text is no http or https URL.
        """
        labels = [Label(url=_canonical(text), relevant=word, at=time.time()) for text, word in told.items()]
        await self._note_opinions([label.url for label in labels])
        book = self._crawl.labels()
        try:
            self._written = await book.say(labels)
        finally:
            await book.close()
        self._answers += len(labels)

    async def learn(self) -> Taught:
        """See to it that the answers are heard; return what they changed since the lesson began."""
        heard = await heard_by_all(self._crawl, self._written) if self._answers else True
        said = await said_so_far(self._crawl)
        opinions = await asyncio.to_thread(_opinions, self._crawl, said)
        return Taught(
            labels=self._answers,
            heard=heard,
            before=_standing(self._opinions, said, self._queue),
            after=_standing(opinions, said, await _best(self._crawl)),
        )

    async def _note_opinions(self, urls: Iterable[str]) -> None:
        now = await asyncio.to_thread(_opinions, self._crawl, [url for url in urls if url not in self._opinions])
        self._opinions.update(now)


async def tell(crawl: Crawl, told: Mapping[str, bool | None]) -> Taught:
    """Say of pages whether they are about the topic, None to take a word back; return what that changed.

    Raises:
        ConfigError: A text is no http or https URL.
    """
    lesson = Lesson(crawl)
    await lesson.begin()
    await lesson.answer(told)
    return await lesson.learn()


def _canonical(text: str) -> str:
    url = canonicalize(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL")
    return url


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
    return {url: _would_call_relevant(record) for url, record in found.items() if record and record.page}


def _would_call_relevant(record: PageRecord) -> bool:
    """Tell the judge's own opinion of a page, whatever people say of it."""
    if TOLD not in record.parts:
        return record.relevant
    return record.parts.get(UNAIDED, record.parts[TOLD]) >= LIKELY
