"""A web on which trials are run, with all that the experiments ask of a crawl.

The crawls are those of `lab.tasks`; what differs is what is measured, and that a topic is told by the labels of its
path, in both languages where the web is Chinese, since FCMRPS reads them in URLs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import cached_property, lru_cache
from random import Random

import numpy as np

from thresher import registry
from thresher.classify.base import Brief, Judge
from thresher.lab import metrics
from thresher.lab.classes import class_labels
from thresher.lab.parsed import ParsedPages
from thresher.lab.reproduce.classes import Classes, ClassJudge
from thresher.lab.reproduce.description import EXAMPLES, OTHERS, Description
from thresher.lab.reproduce.examples import BACKGROUND, MOST_SHARE, document_counts, telling_terms
from thresher.lab.reproduce.ranking import ranked_hits
from thresher.lab.reproduce.trials import CLASSES, RANKING, TIME, Trial
from thresher.lab.reproduce.webs import labels_of, language_of, open_named
from thresher.lab.reproduce.worth import costs, portions, url_counts
from thresher.lab.rows import Row
from thresher.lab.simulate import SimulatedCrawl, Simulator
from thresher.lab.tasks import Bench, Task, topic_phrase
from thresher.lab.virtualweb import Web
from thresher.strategies.aim import Aim
from thresher.strategies.layer_model import LayerModel
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import Topic
from thresher.topics.url_evidence import UrlEvidence


class Stage(Bench):
    """A web on which trials are run."""

    def __init__(self, web: Web) -> None:
        super().__init__(web)
        self._aims = lru_cache(maxsize=256)(self._make_aim)
        self._described = lru_cache(maxsize=256)(self._describe)
        self._likenesses: dict[str, dict[int, float]] = {}
        self._class_world: Classes | None = None

    @classmethod
    def open(cls, name: str) -> Stage:
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
            return {"ranking": ranked_hits(model, found, self.aim(trial.topic).likeness)}
        if trial.measure == CLASSES:
            scores = [[fetch.page_id, round(fetch.relevance, 4)] for fetch in crawl.fetches]
            return {"scores": scores, "seed_pages": list(seeds)}
        return {}

    def free(self, trial: Trial) -> frozenset[int]:
        """Say which pages of the topic were learned from, and count neither as hits nor as fetches."""
        if trial.measure == CLASSES:
            return self.classes.examples[trial.topic]
        return self.split(trial).targets | self._examples(trial.topic, trial.examples)

    def seeds(self, task: Task) -> list[int]:
        """Draw the seeds of a trial: pages of the topic that nobody learned from; two sets have none in common.

        A topic with too few pages for that begins from the front again.
        """
        trial = Trial.of(task)
        targets = sorted(self.web.targets(trial.topic) - self.free(trial))
        Random(f"{self.web.name} {trial.topic} seeds").shuffle(targets)  # noqa: S311 - no secret
        most = min(trial.seeds, len(targets))
        return [targets[(trial.seed_set * most + place) % len(targets)] for place in range(most)]

    def aim(self, topic: str) -> Aim:
        """Say what a strategy is told of the topic: the labels of its path."""
        return self._aims(topic)

    def _make_aim(self, topic: str) -> Aim:
        wanted = Topic(nodes=labels_of(self.web.name, topic))
        phrases = list(dict.fromkeys([*wanted.nodes[0][-1].values(), topic_phrase(topic)]))
        return Aim(vectors=wanted.vectors(), labels=wanted.labels, phrases=phrases)

    def _examples(self, topic: str, number: int) -> frozenset[int]:
        targets = sorted(self.web.targets(topic))
        draw = Random(f"{self.web.name} {topic} examples")  # noqa: S311 - no secret
        return frozenset(draw.sample(targets, min(number, int(MOST_SHARE * len(targets)))))

    def _aim_of_examples(self, topic: str, number: int) -> Aim:
        """Add to the labels of a topic the terms that tell its example pages from others."""
        aim, language = self.aim(topic), language_of(self.web.name)
        texts = list(map(self.text, sorted(self._examples(topic, number))))
        terms = telling_terms(texts, self._common_terms, min(BACKGROUND, len(self.web)))
        return replace(aim, vectors={**aim.vectors, language: {**terms, **aim.vectors.get(language, {})}})

    @cached_property
    def _common_terms(self) -> dict[str, int]:
        draw = Random(f"{self.web.name} background")  # noqa: S311 - no secret
        drawn = draw.sample(range(len(self.web)), min(BACKGROUND, len(self.web)))
        return document_counts(map(self.text, drawn))

    def brief(self, topic: str, seeds: Sequence[int]) -> Brief:
        """Tell a judge the same."""
        aim = self.aim(topic)
        return replace(super().brief(topic, seeds), vectors=aim.vectors, phrases=aim.phrases)

    def information(self, topic: str, pages: Sequence[int]) -> list[float]:
        """Give the likeness of each page to the topic's description; a dead link brings none."""
        known, description = self._likenesses.setdefault(topic, {-1: 0.0}), self._described(topic)
        for page in pages:
            if page not in known:
                known[page] = description.likeness(self.text(page))
        return [known[page] for page in pages]

    def _describe(self, topic: str) -> Description:
        targets = sorted(self.web.targets(topic))
        draw = Random(f"{self.web.name} {topic} description")  # noqa: S311 - no secret
        texts = list(map(self.text, draw.sample(targets, min(EXAMPLES + OTHERS, len(targets)))))
        labels = [label for level in labels_of(self.web.name, topic)[0] for label in level.values()]
        return Description(labels, texts[:EXAMPLES], texts[EXAMPLES:])

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
                **{name: portions(told, trial.pages) for name, told in relevant.items()},
                "information": portions(information, trial.pages),
            },
            "urls": {name: self._url_counts(trial.topic, pages, told) for name, told in relevant.items()},
        }

    def _near_targets(self, trial: Trial, seeds: Sequence[int]) -> frozenset[int]:
        """Give the targets of recall: those that links lead to from the seeds, and not too many links."""
        distances = self.graph.distances_from(seeds)
        limit = trial.target_depth or np.iinfo(np.int32).max
        targets = self.web.targets(trial.topic) - self.free(trial)
        return frozenset(page for page in targets if 0 <= distances[page] <= limit)

    def _url_counts(self, topic: str, pages: Sequence[int], relevant: Sequence[bool]) -> dict[str, int]:
        evidence = UrlEvidence(self.aim(topic).labels, TokenTable.shipped())
        told = zip(pages, relevant, strict=True)
        return url_counts(evidence, (self.web.url_of(page) for page, is_relevant in told if is_relevant and page >= 0))

    def simulator(self, task: Task, seeds: Sequence[int]) -> Simulator:
        """Put strategy and judge of a trial together."""
        trial = Trial.of(task)
        if trial.measure == CLASSES:
            aim = replace(self.aim(trial.topic), model=self.classes.rules_for(trial.topic))
            strategy = registry.make("strategy", trial.strategy, trial.parameters, aim, self.classes.classify)
            judge: Judge = ClassJudge(self.classes.classify, trial.topic)
        elif trial.examples:
            aim = self._aim_of_examples(trial.topic, trial.examples)
            strategy, judge = (
                registry.make("strategy", trial.strategy, trial.parameters, aim),
                self.judge(trial, seeds),
            )
        else:
            return super().simulator(trial, seeds)
        return Simulator(self.web, self.pages, judge=judge, strategy=strategy)

    @property
    def classes(self) -> Classes:
        """The web's topics as classes; they are learned when they are first asked for."""
        if self._class_world is None:
            self._class_world = Classes(self.web, class_labels(self.web), self.graph, self.words)
        return self._class_world

    @contextmanager
    def _fresh_pages(self) -> Iterator[None]:
        """Parse every page anew for a while."""
        kept, self.pages = self.pages, ParsedPages(self.web, keep=False)
        try:
            yield
        finally:
            self.pages = kept
