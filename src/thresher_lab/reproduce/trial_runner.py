"""Runs trials over processes; rows are added to a file per experiment as they come, and none is run twice.

A web on which trials are run, with everything that the experiments require.

The crawls are those of `lab.tasks`; what differs are the measures, and that a topic is given by the labels of its
path, in both languages where the web is Chinese, since FCMRPS reads them in URLs.

The judge of FCMRPS's experiments, equation 9: the cosine of a page with a description of the topic.

The description is what a directory has of a topic: its labels, and the titles of some of its pages. Its terms are
weighted by their rarity on the web. It is used for measuring only; no crawl knows it.

Distinctive terms of a topic: those that several example pages share, and other pages do not.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import cached_property, lru_cache
from math import log
from pathlib import Path
from random import Random
from statistics import median

import numpy as np

from thresher import registry
from thresher.errors import ThresherError
from thresher.judges.base import Judge, Learner
from thresher.text.tokens import count
from thresher.text.vectors import cosine, unit
from thresher.topics.profile import TopicProfile, UrlEvidence
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import TopicDefinition
from thresher_lab.reproduce.classes import LIKELY, Classes, ClassJudge
from thresher_lab.reproduce.measures import costs, portions, url_counts
from thresher_lab.reproduce.ranking import ranked_hits
from thresher_lab.reproduce.trials import CLASSES, RANKING, TIME, Trial, trial_key
from thresher_lab.reproduce.webs import labels_of, language_of, open_named, sampling_name
from thresher_lab.simulation.classes import class_labels
from thresher_lab.simulation.processes import run_groups
from thresher_lab.simulation.simulator import SimulatedCrawl, Simulator
from thresher_lab.simulation.tasks import Task, TaskRunner, topic_phrase
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web
from thresher_papers.strategies.layers.model import LayerModel

EXAMPLES = 30
"""Most pages whose titles are in the description."""
OTHERS = 10
"""Further pages of the topic, whose similarity to the description sets the threshold of relevance."""


class TopicDescription:
    """The description of a topic.

    Args:
        texts: Its labels in all languages, and titles of pages about it.
        others: Texts of other pages about it.
        common: Document frequency of each term in the background, n_t.
        documents: Number of background texts, N.
    """

    def __init__(self, texts: Sequence[str], others: Sequence[str], common: Mapping[str, int], documents: int) -> None:
        counts = sum((Counter(count(text)) for text in texts), Counter())
        self._v_t = {term: number * rarity(term, common, documents) for term, number in counts.items()}
        self.threshold = median(map(self.similarity, others)) if others else 0.0
        """The median similarity of the other pages: a page above it counts as relevant by its text."""

    def similarity(self, text: str) -> float:
        """Return R'_PC, the cosine of a page and the description."""
        return cosine(count(text), self._v_t)


TERMS = 8
"""As many as LPE keeps: with more, no anchor of a word or two could come near its threshold."""
BACKGROUND = 300
"""Pages for document frequencies, in place of a corpus of general text."""
MAX_SHARE = 0.3
"""Largest share of a topic's pages that may be examples."""
SHARED_BY = 0.2
"""Least share of the examples that must have a term."""


def rarity(term: str, common: Mapping[str, int], documents: int) -> float:
    """Return ``ln((N + 1) / (n_t + 1))``."""
    return log((documents + 1) / (common.get(term, 0) + 1))


def distinctive_terms(examples: Sequence[str], common: Mapping[str, int], documents: int) -> dict[str, float]:
    """Weigh terms by their mean share of an example times their rarity, and keep the heaviest.

    Args:
        examples: Texts of example pages.
        common: Document frequency of each term in the background, n_t.
        documents: Number of background texts, N.

    Returns:
        Terms and weights, of which the highest is 1.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for text in examples:
        for term, share in unit(count(text)).items():
            shares[term].append(share)
    weights = {
        term: sum(own) * rarity(term, common, documents)
        for term, own in shares.items()
        if len(own) >= SHARED_BY * len(examples)
    }
    heaviest = sorted((term for term in weights if weights[term] > 0), key=lambda term: (-weights[term], term))[:TERMS]
    return {term: weights[term] / weights[heaviest[0]] for term in heaviest}


def document_counts(texts: Iterable[str]) -> dict[str, int]:
    """Count for each term the texts that have it."""
    return dict(Counter(term for text in texts for term in set(count(text))))


class ExperimentRunner(TaskRunner):
    """A web on which trials are run."""

    def __init__(self, web: Web) -> None:
        super().__init__(web)
        self._topic_profiles = lru_cache(maxsize=256)(self._make_topic_profile)
        self._described = lru_cache(maxsize=256)(self._describe)
        self._similarities: dict[str, dict[int, float]] = {}
        self._class_world: Classes | None = None

    @classmethod
    def open(cls, name: str) -> ExperimentRunner:
        """Open a web by its name."""
        return cls(open_named(name))

    def run(self, task: Task) -> Row:
        """Run a trial and measure it."""
        trial = Trial.of(task)
        seeds, free = self.seeds(trial), self.free(trial)
        with self._fresh_pages() if trial.measure == TIME else nullcontext():
            simulator = self.simulator(trial, seeds)
            crawl = asyncio.run(simulator.run(list(map(self.web.url_of, seeds)), trial.pages, free=free))
        pages = [fetch.page_id for fetch in crawl.fetches]
        targets = self.web.targets(trial.topic) - free
        hits = [page in targets for page in pages]
        row = {**asdict(trial), **self._worth(trial, pages, hits, seeds), **costs(crawl)}
        return {**row, **self._more(trial, crawl, hits, seeds)}

    def _more(self, trial: Trial, crawl: SimulatedCrawl, hits: Sequence[bool], seeds: Sequence[int]) -> Row:
        if trial.measure == RANKING:
            found = [(self.text(fetch.page_id), hit) for fetch, hit in zip(crawl.fetches, hits, strict=True)
                     if fetch.page_id >= 0]  # fmt: skip
            model = LayerModel.load(self.trained(self.split(trial)))
            return {"ranking": ranked_hits(model, found, self.topic_profile(trial.topic).similarity)}
        if trial.measure == CLASSES:
            scores = [[fetch.page_id, round(fetch.relevance, 4)] for fetch in crawl.fetches]
            return {"scores": scores, "seed_pages": list(seeds)}
        if trial.examples:
            collected = [hit for fetch, hit in zip(crawl.fetches, hits, strict=True) if fetch.relevance >= LIKELY]
            return {"collected": len(collected), "collected_hits": sum(collected)}
        return {}

    def free(self, trial: Trial) -> frozenset[int]:
        """Return the pages of the topic that were trained on; they count neither as hits nor as fetches."""
        if trial.measure == CLASSES:
            return self.classes.examples[trial.topic]
        return self.split(trial).targets | self._examples(trial.topic, trial.examples)

    def seeds(self, task: Task) -> list[int]:
        """Sample the seeds of a trial: pages of the topic that were not trained on; two sets are disjoint.

        For a topic with too few pages, the sequence starts again.
        """
        trial = Trial.of(task)
        targets = sorted(self.web.targets(trial.topic) - self.free(trial))
        Random(f"{sampling_name(self.web.name)} {trial.topic} seeds").shuffle(targets)  # noqa: S311 - no secret
        most = min(trial.seeds, len(targets))
        return [targets[(trial.seed_set * most + place) % len(targets)] for place in range(most)]

    def topic_profile(self, topic: str) -> TopicProfile:
        """Return the topic for a strategy: the labels of its path."""
        return self._topic_profiles(topic)

    def _make_topic_profile(self, topic: str) -> TopicProfile:
        wanted = TopicDefinition(nodes=labels_of(self.web.name, topic))
        phrases = list(dict.fromkeys([*wanted.nodes[0][-1].values(), topic_phrase(topic)]))
        return TopicProfile(vectors=wanted.vectors(), labels=wanted.labels, phrases=phrases)

    def _examples(self, topic: str, number: int) -> frozenset[int]:
        targets = sorted(self.web.targets(topic))
        rng = Random(f"{sampling_name(self.web.name)} {topic} examples")  # noqa: S311 - no secret
        return frozenset(rng.sample(targets, min(number, int(MAX_SHARE * len(targets)))))

    def _topic_profile_of_examples(self, topic: str, number: int) -> TopicProfile:
        """Add to the labels of a topic the distinctive terms of its example pages."""
        topic_profile, language = self.topic_profile(topic), language_of(self.web.name)
        texts = list(map(self.text, sorted(self._examples(topic, number))))
        terms = distinctive_terms(texts, self._common_terms, self._background_size)
        return replace(
            topic_profile,
            vectors={**topic_profile.vectors, language: {**terms, **topic_profile.vectors.get(language, {})}},
        )

    @cached_property
    def _common_terms(self) -> dict[str, int]:
        rng = Random(f"{self.web.name} background")  # noqa: S311 - no secret
        return document_counts(map(self.text, rng.sample(range(len(self.web)), self._background_size)))

    @property
    def _background_size(self) -> int:
        return min(BACKGROUND, len(self.web))

    def title(self, page: int) -> str:
        """Return the title of a page; empty where there is no page."""
        found = self.pages.get(self.web.url_of(page))
        return found[0].title if found else ""

    def information(self, topic: str, pages: Sequence[int]) -> list[float]:
        """Return the similarity of each page to the topic's description; 0 for a dead link."""
        known, description = self._similarities.setdefault(topic, {-1: 0.0}), self._described(topic)
        for page in pages:
            if page not in known:
                known[page] = description.similarity(self.text(page))
        return [known[page] for page in pages]

    def _describe(self, topic: str) -> TopicDescription:
        targets = sorted(self.web.targets(topic))
        rng = Random(f"{sampling_name(self.web.name)} {topic} description")  # noqa: S311 - no secret
        listed = min(EXAMPLES, max(1, int(MAX_SHARE * len(targets))))
        drawn = rng.sample(targets, min(listed + OTHERS, len(targets)))
        titles = list(map(self.title, drawn[:listed]))
        labels = [label for level in labels_of(self.web.name, topic)[0] for label in level.values()]
        others = list(map(self.text, drawn[listed:]))
        return TopicDescription([*labels, *titles], others, self._common_terms, self._background_size)

    def _worth(self, trial: Trial, pages: Sequence[int], hits: Sequence[bool], seeds: Sequence[int]) -> Row:
        information = self.information(trial.topic, pages)
        threshold = self._described(trial.topic).threshold
        relevant = {"labels": hits, "text": [value > threshold for value in information]}
        near = self._near_targets(trial, seeds)
        return {
            "targets": len(near),
            "fetched": len(pages),
            "dead": sum(page < 0 for page in pages),
            "harvest_rate": metrics.harvest_rate_at(hits, trial.pages),
            "recall": len(near & set(pages)) / max(len(near), 1),
            "sum_of_information": metrics.sum_of_information(information),
            "portions": {
                **{name: portions(flags, trial.pages) for name, flags in relevant.items()},
                "information": portions(information, trial.pages),
            },
            "urls": {name: self._url_counts(trial.topic, pages, flags) for name, flags in relevant.items()},
        }

    def _near_targets(self, trial: Trial, seeds: Sequence[int]) -> frozenset[int]:
        """Return the targets of recall: those within a number of links from the seeds."""
        distances = self.graph.distances_from(seeds)
        limit = trial.target_depth or np.iinfo(np.int32).max
        targets = self.web.targets(trial.topic) - self.free(trial)
        return frozenset(page for page in targets if 0 <= distances[page] <= limit)

    def _url_counts(self, topic: str, pages: Sequence[int], relevant: Sequence[bool]) -> dict[str, int]:
        evidence = UrlEvidence(self.topic_profile(topic).labels, TokenTable.shipped())
        flags = zip(pages, relevant, strict=True)
        return url_counts(evidence, (self.web.url_of(page) for page, is_relevant in flags if is_relevant and page >= 0))

    def simulator(self, task: Task, seeds: Sequence[int]) -> Simulator:
        """Put strategy and judge of a trial together."""
        trial = Trial.of(task)
        if trial.measure == CLASSES:
            topic_profile = replace(self.topic_profile(trial.topic), model=self.classes.rules_for(trial.topic))
            strategy = registry.make("strategy", trial.strategy, trial.parameters, topic_profile, self.classes.classify)
            judge: Judge = ClassJudge(self.classes.classify, trial.topic)
        elif trial.examples:
            topic_profile = self._topic_profile_of_examples(trial.topic, trial.examples)
            strategy = registry.make("strategy", trial.strategy, trial.parameters, topic_profile)
            judge = self._judge_of_examples(trial, seeds)
        else:
            return super().simulator(trial, seeds)
        return Simulator(self.web, self.pages, judge=judge, strategy=strategy)

    def _judge_of_examples(self, trial: Trial, seeds: Sequence[int]) -> Judge:
        """Make the judge of a trial; one that learns knows the example pages before the crawl."""
        judge = self.judge(trial, seeds)
        if isinstance(judge, Learner):
            for page in sorted(self._examples(trial.topic, trial.examples)):
                if found := self.pages.get(self.web.url_of(page)):
                    judge.learn(found[0], seed=True)
        return judge

    @property
    def classes(self) -> Classes:
        """The web's topics as classes; learned on first use."""
        if self._class_world is None:
            self._class_world = Classes(self.web, class_labels(self.web), self.graph, self.words)
        return self._class_world

    @contextmanager
    def _fresh_pages(self) -> Iterator[None]:
        """Parse every page again inside the context."""
        kept, self.pages = self.pages, ParsedPages(self.web, keep=False)
        try:
            yield
        finally:
            self.pages = kept


Progress = Callable[[int, int], None]

FAILED = "failed"
"""The field of a row that only has the reason of a failure."""


def rows_file(folder: Path, experiment: str) -> Path:
    """Return the path of the rows of an experiment."""
    return folder / f"{experiment}.jsonl"


def run_trials(
    trials: Sequence[Trial], folder: Path, experiment: str, *, processes: int, progress: Progress
) -> list[str]:
    """Run what no experiment of the folder has run yet; return what could not be run and why.

    A crawl that two experiments require is run once, and its row is in both files.
    """
    able = [trial for trial in trials if trial.strategy in registry.known("strategy")]
    absent = sorted({trial.strategy for trial in trials} - {trial.strategy for trial in able})
    trouble = [f"not available: strategy {name}" for name in absent]
    known = {trial_key(row): row for path in sorted(folder.glob("E*.jsonl")) for row in _trial_rows(path)}
    path = rows_file(folder, experiment)
    own = {trial_key(row) for row in _trial_rows(path)}
    missing = [trial for trial in able if trial.key not in known]
    add_rows(path, [known[trial.key] for trial in able if trial.key in known and trial.key not in own])
    done = len(able) - len(missing)
    progress(done, len(able))
    for row in run_groups(missing, _run_group, place=lambda trial: trial.group, processes=processes):
        done += 1
        progress(done, len(able))
        if FAILED in row:
            trouble.append(f"not available: {row['strategy']} on {row['web']}, {row['topic']}: {row[FAILED]}")
        else:
            add_rows(path, [row])
    return trouble


def _trial_rows(path: Path) -> list[Row]:
    return [row for row in read_rows(path) if "measure" in row]


_stages: dict[str, ExperimentRunner] = {}
"""The webs that this process has open."""


def _run_group(trials: Sequence[Trial]) -> Iterator[Row]:
    """Run trials that share a web, a topic and seeds, and so parsed pages and models."""
    stage = _stages.get(trials[0].web) or _stages.setdefault(trials[0].web, ExperimentRunner.open(trials[0].web))
    for trial in trials:
        try:
            yield stage.run(trial)
        except ThresherError as error:
            yield {"web": trial.web, "topic": trial.topic, "strategy": trial.strategy, FAILED: str(error)}
    stage.flush()
