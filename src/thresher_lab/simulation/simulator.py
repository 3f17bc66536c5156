"""A crawl over a frozen web, in process: the same pipeline as on the live web, without sockets.

Pages are fetched one after another. Delays between requests to a host are kept on a virtual clock, on which a
fetch takes time and waiting costs nothing.

CPU time of the judge and the strategy, without the rest of the pipeline.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass

from thresher.feedback.topic_counts import publish_topic_counts
from thresher.frontier.base import CrawlStore
from thresher.judges.base import Judge, Learner, StateStore
from thresher.judges.topics import MultiTopicJudge, topics_judge
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.host_budget import HostBudget
from thresher.records import (
    ONE_TOPIC,
    Candidate,
    FetchedPage,
    Forecast,
    Judgement,
    Lease,
    ParsedPage,
    Revision,
    TermWeight,
)
from thresher.storage.page_store import NoArchive, PageRecord
from thresher.strategies.base import Batched, Forecaster, HandlesMisses, Rescorer, ScoreChange, Strategy
from thresher.strategies.topics import MultiTopicStrategy
from thresher.urls.canonical import host_key
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web


class Stopwatch:
    """Adds up CPU seconds, which other processes do not distort."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._started = 0.0

    def __enter__(self) -> Stopwatch:
        self._started = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._started


class TimedJudge:
    """A judge with a stopwatch."""

    def __init__(self, judge: Judge, watch: Stopwatch) -> None:
        self._judge = judge
        self._watch = watch

    def judge(self, page: ParsedPage) -> Judgement:
        with self._watch:
            return self._judge.judge(page)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return self._judge.words(page)


class TimedLearner(TimedJudge):
    """A learning judge with a stopwatch."""

    def __init__(self, judge: Learner, watch: Stopwatch) -> None:
        super().__init__(judge, watch)
        self._learner = judge

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        with self._watch:
            return self._learner.learn(page, seed=seed)

    def teach(self, labelled: Mapping[str, float | None]) -> Sequence[Revision]:
        with self._watch:
            return self._learner.teach(labelled)

    def vector(self, page: ParsedPage) -> bytes:
        return self._learner.vector(page)

    def judge_vector(self, url: str, language: str, vector: bytes) -> Judgement | None:
        with self._watch:
            return self._learner.judge_vector(url, language, vector)

    def remembers(self, url: str) -> bool:
        return self._learner.remembers(url)

    def load_state(self, state_store: StateStore) -> None:
        self._learner.load_state(state_store)

    def save_state(self) -> None:
        self._learner.save_state()


def timed_judge(judge: Judge, watch: Stopwatch) -> Judge:
    """Wrap a judge with a stopwatch; a learning judge still learns, and of several topics each is timed."""
    if isinstance(judge, MultiTopicJudge):
        return topics_judge({name: timed_judge(each, watch) for name, each in judge.judges.items()})
    return TimedLearner(judge, watch) if isinstance(judge, Learner) else TimedJudge(judge, watch)


class TimedStrategy:
    """A strategy with a stopwatch."""

    def __init__(self, strategy: Strategy, watch: Stopwatch) -> None:
        self._strategy = strategy
        self._watch = watch
        self.merge = strategy.merge
        self.batch_size = strategy.batch_size if isinstance(strategy, Batched) else 0

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        return self._strategy.seeds(urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        with self._watch:
            return list(self._strategy.score(page, judgement, lease))

    def on_miss(self, lease: Lease) -> Iterable[Candidate]:
        with self._watch:
            return list(self._strategy.on_miss(lease)) if isinstance(self._strategy, HandlesMisses) else []

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        """Return the strategy's forecast, if it makes one."""
        if not isinstance(self._strategy, Forecaster):
            return None
        return self._strategy.forecast(pages=pages, harvest=harvest, waiting=waiting)


class TimedRescorer(TimedStrategy):
    """A rescoring strategy with a stopwatch."""

    def __init__(self, strategy: Rescorer, watch: Stopwatch) -> None:
        super().__init__(strategy, watch)
        self._rescorer = strategy

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        with self._watch:
            return self._rescorer.revise(revisions)


def timed_strategy(strategy: Strategy, watch: Stopwatch) -> Strategy:
    """Wrap a strategy with a stopwatch; a rescoring strategy still rescores, and of several topics each is timed."""
    if isinstance(strategy, MultiTopicStrategy):
        timed = copy(strategy)
        timed.strategies = {name: timed_strategy(each, watch) for name, each in strategy.strategies.items()}
        return timed
    return TimedRescorer(strategy, watch) if isinstance(strategy, Rescorer) else TimedStrategy(strategy, watch)


LEASE_SECONDS = 3600.0
FETCH_SECONDS = 0.1
"""How long a fetch takes on the virtual clock."""


class WithinWeb:
    """The edge of a frozen web: its hosts. A dead link on one of them is a fetch like any other."""

    def __init__(self, web: Web) -> None:
        self._hosts = frozenset(web.hosts())
        self._pages = UrlScope()

    def allows(self, candidate_url: str, hops: int) -> str:
        """Return why a URL is outside; empty when it is inside."""
        outside = host_key(candidate_url) not in self._hosts
        return "outside the frozen web" if outside else self._pages.allows(candidate_url, hops)


def rules_of(web: Web, *, host_pages: int = 0) -> PipelineRules:
    """Return rules without limits except the web and, unless 0, the pages per host."""
    return PipelineRules(
        scope=WithinWeb(web), host_limits=HostPolicyConfig(budget=HostBudget(most=host_pages or len(web) + 1))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedFetch:
    """One fetch of a simulated crawl.

    Args:
        page_id: The page's number in its web; -1 for a dead link.
        relevance: By the crawl's own judge.
        bytes: Size of the body.
    """

    url: str
    page_id: int
    relevance: float
    bytes: int

    @property
    def host(self) -> str:
        """The host that was asked."""
        return host_key(self.url)


@dataclass(frozen=True, kw_only=True)
class SimulatedCrawl:
    """The fetches in order, and their costs.

    Args:
        seconds: Of processing, everything included.
        scoring_seconds: The judge's and the strategy's own share of it.
        virtual_seconds: On the virtual clock.
    """

    fetches: Sequence[SimulatedFetch]
    seconds: float
    scoring_seconds: float
    virtual_seconds: float


class WebResponder:
    """Responses of a frozen web: its parsed pages, and 404 for all else."""

    def __init__(self, web: Web, pages: ParsedPages) -> None:
        self._web = web
        self._pages = pages

    def answer(self, url: str, *, at: float) -> FetchedPage:
        """Return the response to a request; the page itself comes from `parse`."""
        status = 200 if self._pages.get(url) else 404
        return FetchedPage(url=url, status=status, headers={"content-type": "text/html"}, body=b"", fetched_at=at)

    def parse(self, url: str, body: bytes, content_type: str) -> ParsedPage:
        """Return the page of the last request."""
        found = self._pages.get(url)
        assert found is not None
        return found[0]

    def fetch(self, url: str, relevance: float) -> SimulatedFetch:
        """Record a fetch."""
        found = self._pages.get(url)
        page_id = self._web.page_id(url) if found else None
        number = -1 if page_id is None else page_id
        return SimulatedFetch(url=url, page_id=number, relevance=relevance, bytes=found[1] if found else 0)


class TopicVerdicts(NoArchive):
    """The current verdicts of pages for several topics, which the page store of a live crawl holds."""

    def __init__(self) -> None:
        self._relevant: dict[str, dict[str, bool]] = {}
        self.counts: Counter[str] = Counter()

    async def append(self, records: Sequence[PageRecord]) -> None:
        for record in records:
            if record.topics and not record.duplicate_of:
                self._set(record.url, record.topics)

    async def revise(self, revisions: Sequence[Revision]) -> Mapping[str, int]:
        for revision in revisions:
            if revision.url in self._relevant:
                self._set(revision.url, revision.judgement.topics)
        return {}

    def _set(self, url: str, topics: Mapping[str, Judgement]) -> None:
        known = self._relevant.setdefault(url, {})
        for name, judgement in topics.items():
            self.counts[name] += judgement.relevant - known.get(name, False)
            known[name] = judgement.relevant


class VirtualClock:
    """A clock that is advanced by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Simulator:
    """One crawl of one web.

    Args:
        pages: The web's parsed pages.
        rules: By default the whole web is in scope.
        delay_seconds: Between two requests to a host, on the virtual clock.
        open_frontier: Opens another frontier than one in memory; given `clock`, `merge` and `waiting_per_host`.
    """

    def __init__(
        self,
        web: Web,
        pages: ParsedPages,
        *,
        judge: Judge,
        strategy: Strategy,
        rules: PipelineRules | None = None,
        delay_seconds: float = 0.0,
        open_frontier: Callable[..., CrawlStore] = MemoryFrontier,
    ) -> None:
        self._answers = WebResponder(web, pages)
        self._watch = Stopwatch()
        self._clock = VirtualClock()
        self._delay_seconds = delay_seconds
        self._frontier = open_frontier(clock=self._clock, merge=strategy.merge, waiting_per_host=len(web) * 2 + 1000)
        self._verdicts = TopicVerdicts()
        self._pipeline = Pipeline(
            frontier=self._frontier,
            archive=self._verdicts,
            judge=timed_judge(judge, self._watch),
            strategy=timed_strategy(strategy, self._watch),
            rules=rules or rules_of(web),
            parse=self._answers.parse,
        )

    async def run(self, seeds: Sequence[str], budget: int, *, free: Set[int] = frozenset()) -> SimulatedCrawl:
        """Fetch until the budget is spent or nothing waits; every fetch counts, a dead link's too.

        Args:
            seeds: URLs to start from.
            budget: The largest number of fetches.
            free: Pages whose fetches do not count, and are not reported.
        """
        started = time.process_time()
        fetches: list[SimulatedFetch] = []
        await self._pipeline.seed(seeds)
        while len(fetches) < budget and (lease := await self._next()):
            fetch = await self._fetch(lease)
            if fetch.page_id not in free:
                fetches.append(fetch)
        return SimulatedCrawl(
            fetches=fetches,
            seconds=time.process_time() - started,
            scoring_seconds=self._watch.seconds,
            virtual_seconds=self._clock.now,
        )

    async def teach(self, labelled: Mapping[str, float | None]) -> None:
        """Train the judge on labels, and rescore the queue."""
        await self._pipeline.updater.teach({ONE_TOPIC: labelled})

    async def _next(self) -> Lease | None:
        """Lease the best URL, after waiting for the hosts' delays."""
        while not (leases := await self._frontier.lease(1, seconds=LEASE_SECONDS)):
            wait = await self._frontier.seconds_to_next()
            if wait is None:
                return None
            self._clock.now += wait
        return leases[0]

    async def _fetch(self, lease: Lease) -> SimulatedFetch:
        answer = self._answers.answer(lease.url, at=self._clock.now)
        if self._delay_seconds:
            self._clock.now += FETCH_SECONDS
        record = await self._pipeline.process(lease, answer, delay_seconds=self._delay_seconds)
        if record.topics:  # the supervisor of a live crawl counts the page store
            await publish_topic_counts(self._frontier, "", self._verdicts.counts)
        return self._answers.fetch(lease.url, record.relevance)
