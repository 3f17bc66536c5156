"""The topics of the verdict benchmark: which ones, their phrases, their crawls, and streams with a given share.

The lab names Chinese topics in English; a user of a Chinese web would not. So Chinese phrases stand here, written by
hand before anything was measured; topics without one (SQL, HTTP) are called the same in Chinese.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from bench.effectiveness.judging_once import JudgingOnce
from thresher.records import Judgement, ParsedPage, Revision
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition
from thresher_lab.simulation.tasks import Task, TaskRunner, topic_phrase
from thresher_lab.simulation.topic_splits import Side, split

TOPICS: dict[Side, dict[str, int]] = {
    "dev": {"mdn_zh": 4, "w3school_zh": 5, "wikispeedia": 16, "nankai_zh": 6},
    "test": {"mdn_zh": 5, "w3school_zh": 5, "wikispeedia": 20, "nankai_zh": 3},
}
"""How many topics of each web are used, in the order of the draw."""
LANGUAGES = {"wikispeedia": "English", "mdn_zh": "Chinese", "w3school_zh": "Chinese", "nankai_zh": "Chinese"}
SEEDS = (1, 2, 3, 5)
FETCHES = 500
STREAM_PAGES, MIN_STREAM_PAGES = 200, 20
PHRASES = {
    "Accessibility": "无障碍",
    "Browser": "浏览器",
    "Games": "游戏开发",
    "Learn_web_development": "学习 Web 开发",
    "Progressive_web_apps": "渐进式 Web 应用",
    "Multimedia": "多媒体",
    "WebServices": "Web 服务",
    "info_disclosure": "信息公开",
    "medicine": "医学",
    "real_estate_dept": "房产管理",
    "physics": "物理学",
    "environment": "环境科学",
    "computer_science": "计算机科学",
    "law": "法学",
    "literature": "文学",
    "tourism": "旅游",
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A page as it came in a crawl or stream, without the seeds.

    Args:
        judged: The judgement when the page came.
    """

    page: ParsedPage
    on_topic: bool
    judged: Judgement


class WatchedJudge(JudgingOnce):
    """Records the judgement of every page when that page came."""

    def __init__(self, topic_profile: TopicProfile) -> None:
        super().__init__(topic_profile)
        self.arrivals: dict[str, tuple[ParsedPage, Judgement]] = {}

    def learn(self, page: ParsedPage, *, seed: bool = False) -> Sequence[Revision]:
        revisions = super().learn(page, seed=seed)
        self.arrivals.setdefault(page.url, (page, self.judge(page)))
        return revisions


def chosen_topics(side: Side, web: str) -> list[str]:
    return split(web, side)[: TOPICS[side][web]]


def phrase_of(web: str, topic: str) -> str:
    return PHRASES.get(topic, topic_phrase(topic)) if LANGUAGES[web] == "Chinese" else topic_phrase(topic)


class TopicCrawl:
    """The crawl of one topic, and streams that are made of its pages.

    Args:
        make: The class of its judges.
    """

    def __init__(self, bench: TaskRunner, topic: str, seeds: int, make: type[WatchedJudge] = WatchedJudge) -> None:
        self._bench, self._topic, self._make = bench, topic, make
        self._task = Task(
            web=bench.web.name,
            topic=topic,
            strategy="best-first",
            seed_set=0,
            judge="adaptive",
            seeds=seeds,
            pages=FETCHES,
        )
        self._targets = bench.web.targets(topic)
        self.seeds = [bench.web.url_of(seed) for seed in bench.seeds(self._task)]

    def new_judge(self) -> WatchedJudge:
        phrase = phrase_of(self._task.web, self._topic)
        return self._make(
            TopicProfile(
                phrases=[phrase], vectors=TopicDefinition.from_phrase(phrase).vectors(), seeds=frozenset(self.seeds)
            )
        )

    def crawl(self, judge: WatchedJudge) -> list[Arrival]:
        """Crawl best-first; return the pages in the order they came, without seeds and dead links."""
        asyncio.run(self._bench.simulator_with(self._task, judge).run(self.seeds, FETCHES))
        return list(self._arrivals(judge))

    def stream(self, judge: WatchedJudge, crawled: Sequence[Arrival], share: float) -> list[Arrival]:
        """Feed shuffled pages with a given share on topic; return nothing where there are too few of them.

        Pages off the topic are those of the crawl, so they are near it; pages on the topic are any of the web.
        """
        draw = Random(f"{self._task.web} {self._topic} {share}")
        on = [number for number in sorted(self._targets) if self._bench.web.url_of(number) not in self.seeds]
        off = [arrival.page.url for arrival in crawled if not arrival.on_topic]
        length = min(STREAM_PAGES, int(len(on) / share), int(len(off) / (1 - share)))
        if length < MIN_STREAM_PAGES:
            return []
        wanted = round(length * share)
        urls = [*map(self._bench.web.url_of, draw.sample(on, wanted)), *draw.sample(off, length - wanted)]
        draw.shuffle(urls)
        for url in (*self.seeds, *urls):
            if found := self._bench.pages.get(url):
                judge.learn(found[0], seed=url in self.seeds)
        return list(self._arrivals(judge))

    def _arrivals(self, judge: WatchedJudge) -> Iterator[Arrival]:
        for url, (page, judged) in judge.arrivals.items():
            if url not in self.seeds:
                yield Arrival(page, self._bench.web.page_id(url) in self._targets, judged)
