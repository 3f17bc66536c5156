"""Apply revised judgements of a learning judge to the page store, and re-score the frontier.

Other pages may be in progress when the judge is refitted. Their revisions are held back until their own records are
settled, so that no old verdict overwrites a new one.

`warm_start` gives a strategy after a restart what it needs: the pages that the best waiting URLs were found on.

A strategy that re-scores waiting URLs needs the pages that link to them. Those pages are in the page store, and the
URLs with their scores in the frontier, so nothing is stored twice. URLs there that are not canonical, written by other
programs, are skipped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from thresher.errors import REPAIR, DamagedFile
from thresher.feedback.forecast import ForecastPublishers
from thresher.feedback.topic_counts import read_topic_counts
from thresher.frontier.base import CrawlStore, Frontier
from thresher.judges.base import Judge, Learner
from thresher.judges.topics import MultiTopicLearner
from thresher.records import LABEL_PART, ONE_TOPIC, TOPIC_PART, Judgement, Lease, ParsedPage, Revision
from thresher.storage.page_store import Archive, PageStoreWriter, StoredPage, unpacked_text, unpacked_topics
from thresher.storage.reader import PageStoreReader, kept_judgement, kept_page
from thresher.strategies.base import Batched, Rescorer, Stateful, Strategy, WarmStartable
from thresher.strategies.topics import MultiTopicStrategy
from thresher.urls.canonical import canonicalize, fingerprint

BEST_URLS = 2_000
"""Waiting URLs whose pages are loaded."""
MAX_PAGES = 300
"""Pages that are loaded at most: those that the best URLs were found on."""


@dataclass(frozen=True)
class StoredParent:
    """A page of an earlier run that links to waiting URLs.

    Args:
        outcomes: The judgements of the URLs that it links to, as far as they were fetched.
        scores: By topic the scores of its links when they were found, in crawls of several topics.
    """

    page: ParsedPage
    judgement: Judgement
    outcomes: Mapping[str, Judgement]
    scores: Mapping[str, Mapping[str, float]]

    def rewards(self, topic: str) -> dict[str, float]:
        """Return the rewards of the fetched URLs, for the crawl or for one of its topics."""
        return {url: judgement.topics.get(topic, judgement).reward for url, judgement in self.outcomes.items()}


async def warm_start(strategy: Strategy, frontier: Frontier, pages: Path) -> int:
    """Load pages of earlier runs into the strategy of each topic; return how many."""
    combined = strategy if isinstance(strategy, MultiTopicStrategy) else None
    if not combined and not isinstance(strategy, WarmStartable):
        return 0
    best = await frontier.peek(BEST_URLS)
    waiting = {entry.url: entry.score for entry in best if canonicalize(entry.url) == entry.url}
    parents = list(dict.fromkeys(entry.parent for entry in best if entry.parent))[:MAX_PAGES]
    stored = await asyncio.to_thread(lambda: list(_stored_parents(pages, parents, waiting)))
    for parent in stored:
        scores = combined.restore_scores(parent.scores, waiting) if combined else {ONE_TOPIC: waiting}
        judgements = {ONE_TOPIC: parent.judgement, **parent.judgement.topics}
        for topic, own in (combined.strategies if combined else {ONE_TOPIC: strategy}).items():
            if isinstance(own, WarmStartable) and topic in judgements:
                outcomes = parent.rewards(topic)
                own.warm_start(parent.page, judgements[topic], waiting=scores[topic], outcomes=outcomes)
    return len(stored)


def _stored_parents(folder: Path, parents: list[int], waiting: Mapping[str, float]) -> Iterator[StoredParent]:
    with PageStoreReader(folder) as collection:
        for parent in parents:
            if (found := kept_page(collection, parent)) is None:
                continue
            page, record = found
            others = [link.url for link in page.links if link.url not in waiting and canonicalize(link.url) == link.url]
            outcomes = {url: outcome for url in others if (outcome := _outcome(collection, url)) is not None}
            links = tuple(link for link in page.links if link.url in waiting or link.url in outcomes)
            scores = _topic_scores(collection, parent) if record.topics else {}
            yield StoredParent(replace(page, links=links), kept_judgement(record), outcomes, scores)


def _topic_scores(collection: PageStoreReader, parent: int) -> dict[str, dict[str, float]]:
    return {
        link.url: {
            name.removeprefix(TOPIC_PART): score for name, score in link.parts.items() if name.startswith(TOPIC_PART)
        }
        for link in collection.links(parent)
    }


def _outcome(collection: PageStoreReader, url: str) -> Judgement | None:
    """Return the judgement of a URL; of one without a page, that it is not relevant."""
    record = collection.find(fingerprint(url))
    if record is None:
        return None
    return kept_judgement(record) if record.page else Judgement(relevance=0.0, relevant=False)


logger = logging.getLogger(__name__)

REJUDGE_BATCH = 200
"""Pages that are rejudged at once; between two batches other work goes on."""
MIN_CHANGE = 0.01
"""A stored judgement is replaced when its relevance changes by more than this, or its verdict changes."""
NEEDS_PAGES = 5
"""Settled pages of a worker between two reads of how many relevant pages each topic has."""
MAX_LEARNED_AGAIN = 20
"""Labelled pages that are not in the judge's sample are added again, the latest this many: each costs a refit."""

Labels = Mapping[str, Mapping[str, float | None]]
"""By topic and URL whether a page is about the topic, or the probability by a model; None for a withdrawn label."""


class JudgementUpdater:
    """Trains the judge, and applies its revised judgements of earlier pages."""

    def __init__(self, *, judge: Judge, strategy: Strategy, frontier: CrawlStore, archive: Archive) -> None:
        self._learner = judge if isinstance(judge, Learner) else None
        self._by_topic = judge if isinstance(judge, MultiTopicLearner) else None
        self._strategy = strategy
        self._rescorer = strategy if isinstance(strategy, Rescorer) else None
        self._stateful = strategy if isinstance(strategy, Stateful) else None
        self._batch_size = strategy.batch_size if isinstance(strategy, Batched) else 0
        self._topics = strategy if isinstance(strategy, MultiTopicStrategy) else None
        self._pages_to_needs = 0
        self._forecast_publishers = ForecastPublishers(strategy, frontier)
        self.frontier = frontier
        self._archive = archive
        self._in_progress: set[str] = set()
        self._held_back: dict[str, Revision] = {}
        self._labels: dict[str, dict[str, float | None]] = {}

    async def learn(self, page: ParsedPage, *, seed: bool, topics: Sequence[str] = ()) -> None:
        """Train the judge on a page that is about to be judged, and apply its revisions of other pages.

        This happens before the page is settled, so that the next lease sees the frontier in its new order.

        Args:
            topics: The topics that the page is a seed of, in a crawl of several.
        """
        if self._learner:
            self._in_progress.add(page.url)
            if self._by_topic:
                self._by_topic.assign_seed(page.url, topics)
            revisions = self._learner.learn(page, seed=seed)
            for revision in revisions:
                self._held_back[revision.url] = _both(self._held_back.get(revision.url), revision)
            if ready := self._take_ready():
                await self._apply_revisions(ready)

    def vector(self, page: ParsedPage) -> bytes:
        """Return the term vector that a learning judge needs to rejudge a page; empty for judges that never change."""
        return self._learner.vector(page) if self._learner else b""

    async def rejudge(self) -> None:
        """Rejudge every page of the worker's segment with the current model.

        A learning judge revises the pages of its own sample; this covers all others. The last forecast was computed
        from earlier judgements, so it is withdrawn.
        """
        if self._learner:
            await self._forecast_publishers.withdraw()
            async for revisions in _rejudged(self._learner, self._archive):
                await self._apply_revisions(revisions)

    async def warm_start(self, pages: Path) -> int:
        """Give the strategy the stored pages that link to the best waiting URLs; return how many pages."""
        await self._read_needs()
        return await warm_start(self._strategy, self.frontier, pages)

    async def teach(self, labels: Labels, page_of: Callable[[str], ParsedPage | None] = lambda url: None) -> None:
        """Train the judge on labels, and update the page store and the frontier.

        Args:
            labels: By topic and URL whether a page is about the topic, or the probability by a model; None withdraws
                an earlier label.
            page_of: Returns a page that was fetched before, for a judge that no longer has it in its sample.
        """
        by_url = _by_url(labels)
        revisions = self._learn_labels(labels, by_url, page_of) if self._learner else []
        if not self._learner:  # for pages that are not fetched yet
            self._labels.update((url, {**self._labels.get(url, {}), **given}) for url, given in by_url.items())
        revised = {
            (revision.url, topic) for revision in revisions for topic in revision.judgement.topics or [ONE_TOPIC]
        }
        for url, given in by_url.items():
            certain = {topic: yes for topic, yes in given.items() if yes is not None and (url, topic) not in revised}
            revisions += [_labelled(url, certain)] if certain else []
        for revision in revisions:
            self._held_back[revision.url] = _both(self._held_back.get(revision.url), revision)
        await self._apply_revisions(self._take_ready())

    def _learn_labels(
        self,
        labels: Labels,
        by_url: Mapping[str, Mapping[str, float | None]],
        page_of: Callable[[str], ParsedPage | None],
    ) -> list[Revision]:
        assert self._learner is not None
        learned = self._by_topic.teach_topics(labels) if self._by_topic else self._learner.teach(labels[ONE_TOPIC])
        revisions = list(learned)
        given = [url for url, topics in by_url.items() if any(yes is not None for yes in topics.values())]
        missing = [url for url in given if not self._learner.remembers(url)]
        for url in missing[-MAX_LEARNED_AGAIN:]:
            if page := page_of(url):
                revisions += self._learner.learn(page)
        return revisions

    async def refill_batch(self, lease: Lease) -> None:
        """Raise the scores of the next batch when the current one is empty: when the best URL has a score below 0.

        The leased URL is the first of the batch.
        """
        if self._batch_size and lease.score < 0:
            rest = await self.frontier.peek(self._batch_size - 1)
            if all(entry.score < 0 for entry in rest):
                await self.frontier.rescore({entry.url: entry.score + 1 for entry in rest})

    async def settled(
        self, url: str, relevance: float | None = None, topics: Mapping[str, Judgement] | None = None
    ) -> None:
        """Apply the revisions held back for a page, now that it is settled, and the strategy's own new scores.

        Args:
            relevance: Of the page, 0 when there was none; None for a settlement that is not the fetch of a new URL.
            topics: The judgements of the page for several topics.
        """
        self._in_progress.discard(url)
        if certain := {topic: yes for topic, yes in self._labels.get(url, {}).items() if yes is not None}:
            self._held_back[url] = _both(self._held_back.get(url), _labelled(url, certain))
        await self._read_needs()
        await self._apply_revisions(self._take_ready())
        if relevance is not None:
            await self._forecast_publishers.fetched(relevance, topics or {})

    async def _read_needs(self) -> None:
        """Read how many relevant pages each of several topics has, every few pages."""
        if self._topics is None:
            return
        self._pages_to_needs -= 1
        if self._pages_to_needs <= 0:
            self._pages_to_needs = NEEDS_PAGES
            self._topics.set_found(await read_topic_counts(self.frontier))

    def close(self) -> None:
        """Save the state of judge and strategy."""
        if self._learner:
            self._learner.save_state()
        if self._stateful:
            self._stateful.save_state()

    def close_with_archive(self) -> None:
        """Save the state, and close the page store, where no pipeline does so."""
        self.close()
        self._archive.close()

    def _take_ready(self) -> list[Revision]:
        """Remove and return the revisions of pages that are not in progress."""
        ready = [revision for revision in self._held_back.values() if revision.url not in self._in_progress]
        for revision in ready:
            del self._held_back[revision.url]
        return ready

    async def _apply_revisions(self, revisions: Sequence[Revision]) -> None:
        if revisions and (verdicts := await self._archive.revise(revisions)):
            await self.frontier.adjust_relevant(verdicts)
        changes = self._rescorer.revise(revisions) if self._rescorer else {}
        if changes:
            scores = {url: change.now for url, change in changes.items()}
            await self.frontier.rescore(scores, was={url: change.was for url, change in changes.items()})


async def rejudge_segments(
    judge: Judge,
    paths: Sequence[Path],
    frontier: CrawlStore,
    *,
    drop_texts: float | None = None,
    skip: asyncio.Event | None = None,
) -> None:
    """Rejudge all pages of segments with one model, and adjust the frontier's counts; no worker may write to them.

    Args:
        drop_texts: Remove the text of irrelevant pages up to this relevance; None to keep all.
        skip: Set to leave the remaining pages as they are.
    """
    if not isinstance(judge, Learner):
        return
    for path in paths:
        segment = PageStoreWriter(path)
        try:
            async for revisions in _rejudged(judge, segment):
                await frontier.adjust_relevant(await segment.revise(revisions))
                if skip and skip.is_set():
                    return
            if drop_texts is not None:
                await asyncio.to_thread(segment.drop_texts, drop_texts)
        finally:
            segment.close()


async def _rejudged(learner: Learner, archive: Archive) -> AsyncIterator[list[Revision]]:
    """Yield the changed judgements of an archive, batch by batch; pages that cannot be read are counted."""
    last, unreadable = 0, []
    while batch := await archive.pages_after(last, REJUDGE_BATCH):
        last = batch[-1].row_id
        revisions = []
        for page in batch:
            try:
                judgement = judge_stored(learner, page)
                if judgement and is_changed(judgement, page):
                    revisions.append(Revision(url=page.url, judgement=judgement))
            except DamagedFile:
                unreadable.append(page.url)
        yield revisions
    if unreadable:
        number, first = len(unreadable), unreadable[0]
        logger.warning("%d pages are damaged and keep their judgements, such as %s; %s", number, first, REPAIR)


def judge_stored(learner: Learner, page: StoredPage) -> Judgement | None:
    """Judge a stored page with the current model; None when too little of it was stored.

    Raises:
        DamagedFile: Its terms or its text cannot be read.
    """
    try:
        vector = page.terms or learner.vector(_parsed(page)) if page.terms or page.text else b""
        return learner.judge_vector(page.url, page.language, vector) if vector else None
    except ValueError as error:
        raise DamagedFile(f"the stored terms of {page.url} are damaged: {error}; {REPAIR}") from error


def is_changed(judgement: Judgement, page: StoredPage) -> bool:
    """Return whether a judgement differs enough from the stored one to replace it."""
    if judgement.topics:
        return not _are_same(judgement.topics, unpacked_topics(page.topics))
    return judgement.relevant != page.relevant or abs(judgement.relevance - page.relevance) > MIN_CHANGE


def _are_same(now: Mapping[str, Judgement], before: Mapping[str, Judgement]) -> bool:
    return all(
        name in before
        and judgement.relevant == before[name].relevant
        and abs(judgement.relevance - before[name].relevance) <= MIN_CHANGE
        for name, judgement in now.items()
    )


def _parsed(page: StoredPage) -> ParsedPage:
    return ParsedPage(url=page.url, title=page.title, text=unpacked_text(page.text), language=page.language)


def _labelled(url: str, labels: Mapping[str, float]) -> Revision:
    """Return a revision that has the labels as its verdicts, for a page that the judge did not revise."""
    topics = {
        topic: Judgement(relevance=float(yes), relevant=yes >= 0.5, breakdown={LABEL_PART: float(yes)})
        for topic, yes in labels.items()
    }
    return Revision(url=url, judgement=Judgement.of_topics(topics))


def _both(earlier: Revision | None, later: Revision) -> Revision:
    """Return a revision with the topics of both; for the same topic the later one counts."""
    if earlier is None or not (earlier.judgement.topics and later.judgement.topics):
        return later
    topics = {**earlier.judgement.topics, **later.judgement.topics}
    return Revision(url=later.url, judgement=Judgement.of_topics(topics))


def _by_url(labels: Labels) -> dict[str, dict[str, float | None]]:
    """Return the labels of each page by topic, in their order."""
    by_url: dict[str, dict[str, float | None]] = {}
    for topic, given in labels.items():
        for url, yes in given.items():
            by_url.setdefault(url, {})[topic] = yes
    return by_url
