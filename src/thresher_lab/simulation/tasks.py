"""One task of the lab: a strategy, a web, a topic, a set of seeds and a judge; and the row that it yields.

Judges that only a lab can have.
"""

from __future__ import annotations

import asyncio
import resource
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np

from thresher import registry
from thresher.errors import ConfigError
from thresher.judges.base import Judge
from thresher.judges.cosine import CosineJudge
from thresher.linkgraph import LinkGraph
from thresher.records import Judgement, ParsedPage, TermWeight
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition
from thresher_lab.simulation.bounds import BOUNDS, BoundCrawl, Bounds
from thresher_lab.simulation.classes import KnownClasses, train_0
from thresher_lab.simulation.oracle import OracleCrawl, oracle_crawl
from thresher_lab.simulation.simulator import SimulatedCrawl, Simulator, rules_of
from thresher_lab.simulation.text_predictions import TextPredictions
from thresher_lab.simulation.topic_splits import both_sides
from thresher_lab.simulation.training import TRAINING_SHARE, TrainingSplit, WebPages, training_split, without
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import Row
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.page_terms import PageWords
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web
from thresher_papers.strategies.rules.strategy import trained_classifier
from thresher_papers.strategies.rules.table import Classify, RuleTable
from thresher_papers.training.layers import RULED, needs_training


class PerfectJudge:
    """A judge that knows the labels, for crawls without errors of judgement.

    It replaces the verdict alone; what strategies compute from words they still compute from words.
    """

    def __init__(self, web: Web, topic: str) -> None:
        self._web = web
        self._topic = topic

    def judge(self, page: ParsedPage) -> Judgement:
        """Reveal the label of a fetched page."""
        relevant = self._web.is_topic(page.url, self._topic)
        return Judgement(relevance=float(relevant), relevant=relevant, breakdown={"label": float(relevant)})

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return ()


CURVE_POINTS = 100
ORACLE = "oracle"
"""The strategy that knows everything; a row of its own in every table."""

UPPER_BOUNDS = (ORACLE, *BOUNDS)
"""What knows labels before it fetches: nothing that could crawl the live web."""

EARLY_FETCHES = 60
"""The beginning of a crawl, measured on its own."""

PERFECT = "perfect"
"""The judge that knows the labels."""

NEWER = ("training", "distance", "host_pages")
"""Fields that old rows lack."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """The definition of one crawl.

    Args:
        seed_set: Its number; the same number is the same seeds for every strategy.
        judge: ``perfect`` reveals the label of a fetched page; any other is a judge of that name, which is given
            the topic's name and the URLs of its seeds.
        pages: Number of fetches.
        seeds: Number of pages of the topic that a crawl starts from.
        training: Share of the topic's pages that are set aside to train on; they are neither hits nor fetches.
        distance: Links between the seeds and the nearest page of the topic; at 0 they are pages of it.
        host_pages: Most pages per host; 0 for no limit. The oracle has no such limit.
    """

    web: str
    topic: str
    strategy: str
    seed_set: int
    judge: str = PERFECT
    pages: int = 500
    seeds: int = 5
    parameters: Mapping[str, Any] = field(default_factory=dict)
    training: float = 0.0
    distance: int = 0
    host_pages: int = 0

    @property
    def key(self) -> str:
        """The identity of a task; a row has the same fields."""
        return key_of(asdict(self))


def key_of(row: Mapping[str, Any]) -> str:
    """Return the identity of the task of a row."""
    names = ("web", "topic", "strategy", "seed_set", "judge", "pages", "seeds")
    newer = [f"{name} {row[name]}" for name in NEWER if row.get(name)]
    return " ".join([*(str(row[name]) for name in names), str(sorted(row["parameters"].items())), *newer])


class TaskRunner:
    """A web with everything that its tasks share: parsed pages, link graph, oracles."""

    def __init__(self, web: Web, *, cache: Path | None = None) -> None:
        self.web = web
        self.pages = ParsedPages(web, cache=cache)
        self._graph: LinkGraph | None = None
        self.oracle = lru_cache(maxsize=64)(self._find_oracle)
        self.trained = lru_cache(maxsize=64)(self._train)
        self._ruled = lru_cache(maxsize=64)(self._learn_rules)
        self.words = PageWords(web, self.pages)
        self._bounds = Bounds(TextPredictions.with_word_vectors(web, self.pages))
        self._information: dict[str, dict[int, float]] = {}

    @classmethod
    def open(cls, name: str) -> TaskRunner:
        """Open a web by its name."""
        return cls(open_web(name))

    def flush(self) -> None:
        """Write parsed pages to the cache."""
        self.pages.flush()

    @property
    def graph(self) -> LinkGraph:
        """The link graph, for the oracle."""
        if self._graph is None:
            edges = ((page, target) for page in range(len(self.web)) for target in self.web.links_from(page))
            self._graph = LinkGraph.from_edges(len(self.web), edges)
        return self._graph

    def seeds(self, task: Task) -> list[int]:
        """Sample the seeds of a task, the same ones for every strategy: pages of the topic, or pages at a distance.

        Raises:
            ConfigError: No page is at that distance.
        """
        split = self.split(task)
        if not task.distance:
            return self._sample_pages(task.topic, task.seed_set, task.seeds, aside=split.targets)
        away = self.graph.distances_to(sorted(self.web.targets(task.topic) - split.targets))
        starts = {int(page) for page in np.flatnonzero(away == task.distance)}
        starts = starts & split.hidden if split.hidden else starts - split.targets
        if not starts:
            raise ConfigError(
                f"no page of {self.web.name} is {task.distance} links away from {task.topic}; choose another --distance"
            )
        return self._sample(sorted(starts), f"{task.topic} {task.seed_set} at {task.distance}", task.seeds)

    def _sample_pages(self, topic: str, seed_set: int, most: int, *, aside: frozenset[int] = frozenset()) -> list[int]:
        return self._sample(sorted(self.web.targets(topic) - aside), f"{topic} {seed_set}", most)

    def _sample(self, pages: Sequence[int], name: str, most: int) -> list[int]:
        rng = Random(f"{self.web.name} {name}")  # noqa: S311 - no secret
        return rng.sample(pages, min(most, len(pages)))

    def split(self, task: Task) -> TrainingSplit:
        """Return the training split; empty unless the task or its strategy needs one."""
        share = task.training or (TRAINING_SHARE if needs_training(task.strategy) else 0.0)
        return training_split(self.web, task.topic, task.seed_set, share) if share else TrainingSplit()

    def run(self, task: Task) -> Row:
        """Run one task and measure it."""
        free = self.split(task).targets
        seeds, targets = self.seeds(task), self.web.targets(task.topic) - free
        oracle = self.oracle(targets, tuple(seeds), task.pages, free)
        if task.strategy in UPPER_BOUNDS:
            best = oracle if task.strategy == ORACLE else self._bound(task, seeds, free)
            pages, hits = list(map(int, best.pages)), list(map(bool, best.hits))
            return {**asdict(task), **_measured(self, pages, hits, oracle, task, len(targets))}
        starts = [self.web.url_of(seed) for seed in seeds]
        crawl = asyncio.run(self.simulator(task, seeds).run(starts, task.pages, free=free))
        pages = [fetch.page_id for fetch in crawl.fetches]
        hits = [page in targets for page in pages]
        measured = _measured(self, pages, hits, oracle, task, len(targets))
        return {**asdict(task), **measured, **_costs(crawl, hits)}

    def simulator(self, task: Task, seeds: Sequence[int]) -> Simulator:
        """Build the simulator of a task."""
        return self.simulator_with(task, self.judge(task, seeds))

    def simulator_with(self, task: Task, judge: Judge) -> Simulator:
        """Build the simulator of a task with a given judge."""
        parameters = dict(task.parameters)
        strategy = registry.find("strategy", task.strategy)
        if "random_state" in registry.parameters_of(strategy):
            parameters.setdefault("random_state", task.seed_set)
        made = registry.make("strategy", task.strategy, parameters, *self.strategy_arguments(task))
        rules = rules_of(self.web, host_pages=task.host_pages)
        return Simulator(self.web, self.pages, judge=judge, strategy=made, rules=rules)

    def strategy_arguments(self, task: Task) -> tuple[Any, ...]:
        """Return the arguments of a task's strategy: its topic, its trained model, and classes if it needs them."""
        topic_profile = self.topic_profile(task.topic)
        if task.strategy in RULED:
            folder = self._ruled(self.split(task), task.topic)
            return replace(topic_profile, model=folder), self._classes_of_pages(task, folder)
        return (
            replace(topic_profile, model=self.trained(self.split(task)))
            if needs_training(task.strategy)
            else topic_profile,
        )

    def _classes_of_pages(self, task: Task, folder: Path) -> Classify:
        classify = trained_classifier(folder)
        if task.judge != PERFECT:
            return classify
        return KnownClasses(self.web, list(RuleTable.load(folder).counts), task.topic, classify)

    def judge(self, task: Task, seeds: Sequence[int]) -> Judge:
        """Make the judge of a task."""
        if task.judge == PERFECT:
            return PerfectJudge(self.web, task.topic)
        judge: Judge = registry.make("judge", task.judge, {}, self.judge_profile(task.topic, seeds))
        return judge

    def topic_profile(self, topic: str) -> TopicProfile:
        """The topic for a strategy."""
        wanted = TopicDefinition.from_phrase(topic_phrase(topic))
        return TopicProfile(vectors=wanted.vectors(), labels=wanted.labels, phrases=[topic_phrase(topic)])

    def judge_profile(self, topic: str, seeds: Sequence[int]) -> TopicProfile:
        """The topic for a judge, as a user would write it down: the topic's name, and where to start.

        A judge that needs a taxonomy is given the web's topics, each with as many pages as there are seeds.
        """
        return replace(
            self.topic_profile(topic),
            seeds=frozenset(map(self.web.url_of, seeds)),
            classes=partial(self._classes, topic, seeds),
            targets=frozenset([topic]),
        )

    def _classes(self, topic: str, seeds: Sequence[int]) -> dict[str, list[str]]:
        """Return the texts of example pages of each topic that takes part in the split, the seeds for this one."""
        examples = {name: self._sample_pages(name, 0, len(seeds)) for name in both_sides(self.web.name)}
        examples = {name: [page for page in pages if page not in seeds] for name, pages in examples.items()}
        found = {name: map(self.text, pages) for name, pages in {**examples, topic: list(seeds)}.items()}
        return {name: [text for text in texts if text] for name, texts in found.items()}

    def text(self, page: int) -> str:
        """Return the text of a page; empty where there is no page."""
        found = self.pages.get(self.web.url_of(page))
        return found[0].text if found else ""

    def _find_oracle(
        self, targets: frozenset[int], seeds: tuple[int, ...], budget: int, free: frozenset[int]
    ) -> OracleCrawl:
        return oracle_crawl(self._crawled_graph(free), targets, seeds, budget)

    def _bound(self, task: Task, seeds: Sequence[int], free: frozenset[int]) -> BoundCrawl:
        labels = self.web.targets(task.topic)
        return self._bounds.crawl(task.strategy, self._crawled_graph(free), labels, labels - free, seeds, task.pages)

    def _crawled_graph(self, free: frozenset[int]) -> LinkGraph:
        return without(self.graph, free) if free else self.graph

    def _train(self, split: TrainingSplit) -> Path:
        """Learn layers from training targets, for all strategies that need them."""
        from thresher_papers.training.layers import train_layers

        folder = self._new_folder()
        train_layers(self.training_pages(hidden=split.hidden), split.targets, folder)
        return folder

    def _learn_rules(self, split: TrainingSplit, topic: str) -> Path:
        """Learn the classes of the web and the rules between them, from training targets and pages of other topics."""
        from thresher_papers.training.rules import learn_class_rules

        folder, graph = self._new_folder(), self.training_pages(hidden=split.hidden).graph
        learn_class_rules(graph, self.words, train_0(self.web, topic, split), targets=[topic]).save(folder)
        return folder

    def _new_folder(self) -> Path:
        folder = Path(mkdtemp(prefix="thresher-lab-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def training_pages(self, *, hidden: frozenset[int] = frozenset()) -> WebPages:
        """Return the pages of the web to train on, without the hidden ones."""
        return WebPages(self.web, self.pages, self.graph, hidden=hidden)

    def information(self, topic: str, pages: Sequence[int]) -> list[float]:
        """Return the cosine of each page with the topic's name; 0 for a dead link."""
        judge = CosineJudge(TopicProfile(vectors=TopicDefinition.from_phrase(topic_phrase(topic)).vectors()))
        known = self._information.setdefault(topic, {-1: 0.0})
        for page in pages:
            if page not in known:
                found = self.pages.get(self.web.url_of(page))
                known[page] = judge.judge(found[0]).relevance if found else 0.0
        return [known[page] for page in pages]


def topic_phrase(topic: str) -> str:
    """Read a label as words: ``Science/Food_and_drink`` is about food and drink."""
    return topic.rpartition("/")[2].replace("_", " ").replace(";", " ")


def _measured(
    bench: TaskRunner, pages: Sequence[int], hits: Sequence[bool], oracle: OracleCrawl, task: Task, targets: int
) -> Row:
    budget, found = task.pages, metrics.running_sum(hits, task.pages)
    hosts = [bench.web.url_of(page).split("/")[2] if page >= 0 else "" for page in pages]
    information = bench.information(task.topic, pages)
    recalls = metrics.recall_at_shares(hits, targets, len(bench.web))
    return {
        "targets": targets,
        "fetched": len(pages),
        "dead": sum(page < 0 for page in pages),
        "percent_of_oracle": metrics.percent_of_oracle(hits, oracle.hits, budget),
        "mean_percent_of_oracle": metrics.mean_percent_of_oracle(hits, oracle.hits, budget),
        "harvest_rate": metrics.harvest_rate_at(hits, budget),
        **_early_figures(hits, oracle, min(EARLY_FETCHES, budget)),
        "sum_of_information": metrics.sum_of_information(information),
        "recall": float(found[-1]) / targets,
        "area": metrics.normalised_area(hits, targets, budget),
        "hr_at_r": metrics.harvest_at_targets(hits, targets),
        **{f"recall_at_{share:.0%}".replace("%", "pc"): value for share, value in recalls.items()},
        **{f"pages_to_{level:.0%}".replace("%", "pc"): metrics.pages_to_recall(hits, targets, level)
           for level in metrics.RECALL_LEVELS},
        "relevant_hosts": metrics.distinct_relevant_hosts(hits, hosts),
        "curve": _curve(found),
        "oracle_curve": _curve(metrics.running_sum(oracle.hits, budget)),
    }  # fmt: skip


def _early_figures(hits: Sequence[bool], oracle: OracleCrawl, fetches: int) -> Row:
    """Measure the first fetches: hits per fetch, also where a crawl ended before: who stops early must not win.

    There is no share of an oracle that has found nothing by then.
    """
    found = metrics.running_sum(hits, fetches)
    percent = metrics.percent_of_oracle(hits, oracle.hits, fetches) if any(oracle.hits[:fetches]) else None
    return {"percent_of_oracle_60": percent, "harvest_60": float(found[-1]) / fetches}


def _curve(found: metrics.Curve) -> list[list[int]]:
    """Reduce a curve to a hundred points: [fetches, hits]."""
    places = np.unique(np.linspace(1, len(found), min(CURVE_POINTS, len(found))).round().astype(int))
    return [[int(place), int(found[place - 1])] for place in places]


def _costs(crawl: SimulatedCrawl, hits: Sequence[bool]) -> Row:
    fetched = max(len(crawl.fetches), 1)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "ms_per_page": 1000 * crawl.seconds / fetched,
        "scoring_ms_per_page": 1000 * crawl.scoring_seconds / fetched,
        "bytes_per_relevant_page": metrics.bytes_per_relevant_page(hits, [fetch.bytes for fetch in crawl.fetches]),
        "peak_mb": peak_kib / 1024,
    }
