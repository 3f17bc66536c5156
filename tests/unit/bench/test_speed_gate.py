"""What a page costs may not creep up: counted in calls, which no busy machine changes, and beside bare Scrapy.

The bounds are those of the day, with room for chance and for changes that are worth it; whoever raises one says why.
"""

import cProfile
import json
import pstats
import time

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import fingerprint

from bench.stages import PORT, SITE
from thresher.archive.main_text import main_text
from thresher.archive.pages import FoundLink, PageRecord, PageWriter
from thresher.classify.adaptive import AdaptiveJudge
from thresher.classify.base import Brief
from thresher.parse.html import parse
from thresher.records import Lease, Outcome
from thresher.strategies.aim import Aim
from thresher.strategies.thresher import Thresher
from thresher.topics.topic import Topic

PAGES = 60
MOST_CALLS = {"parse": 5_600, "judge": 620, "score": 6_000, "archive": 900}
"""Calls of functions, Python's own included, per page of 60 links; by stage."""
MOST_OF_LINKS = 2.3
"""CPU of parsing, judging, scoring and writing a page, against what bare Scrapy spends on finding its links alone."""
ROUNDS = 3


@pytest.fixture(scope="module")
def bodies():
    return [(SITE.url(page, PORT), SITE.render(page, PORT)) for page in range(PAGES)]


class Stages:
    """The stages of a page one after the other, without a store or a network."""

    def __init__(self, folder):
        topic = Topic.from_phrase("perovskite solar cells")
        self.judge = AdaptiveJudge(Brief(vectors=topic.vectors(), seeds=frozenset([SITE.url(0, PORT)])))
        self.strategy = Thresher(Aim(vectors=topic.vectors(), labels=topic.labels, phrases=["perovskite solar cells"]))
        self.writer = PageWriter(folder / "pages.db")
        self.number = 0

    def parse(self, url, body):
        self.body, self.page = body, parse(url, body, "text/html; charset=utf-8")

    def judge_page(self, url, body):
        self.judge.learn(self.page)
        self.judgement = self.judge.judge(self.page)

    def score(self, url, body):
        self.number += 1
        lease = Lease(url=url, host="host", score=0.5, fence=self.number, until=1.0, hops=1)
        self.found = list(self.strategy.score(self.page, self.judgement, lease))
        self.strategy.revise([])

    def archive(self, url, body):
        text = main_text(self.page, self.body, "text/html; charset=utf-8")
        links = [FoundLink(url=one.url, anchor="a few words", score=one.score, parts=one.parts) for one in self.found]
        came = {"fingerprint": self.number, "url": url, "status": 200, "outcome": Outcome.DONE, "fetched_at": 1.0}
        self.writer.write([PageRecord(**came, page=True, text=self.page.text, main=text, links=links)])

    def all(self):
        return {"parse": self.parse, "judge": self.judge_page, "score": self.score, "archive": self.archive}


def test_no_stage_calls_more_functions_than_it_did(tmp_path, bodies):
    stages = Stages(tmp_path)
    profiles = {name: cProfile.Profile() for name in stages.all()}
    for body in bodies:
        for name, stage in stages.all().items():
            profiles[name].runcall(stage, *body)
    calls = {name: round(pstats.Stats(profile).total_calls / PAGES) for name, profile in profiles.items()}
    print(json.dumps(calls))
    assert {name: number for name, number in calls.items() if number > MOST_CALLS[name]} == {}


def test_a_page_costs_little_more_than_its_links_alone_cost_bare_scrapy(tmp_path, bodies):
    ours, theirs = [], []
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        stages = Stages(folder)
        ours.append(seconds(bodies, *stages.all().values()))
        theirs.append(seconds(bodies, bare_scrapy))
    print(f"{min(ours) / min(theirs):.2f}")
    assert min(ours) < MOST_OF_LINKS * min(theirs)


def seconds(bodies, *stages):
    started = time.thread_time()
    for body in bodies:
        for stage in stages:
            stage(*body)
    return time.thread_time() - started


def bare_scrapy(url, body):
    """Find the links of a page, make a request of each, and know it by its fingerprint."""
    response = HtmlResponse(url, body=body, encoding="utf-8")
    return [fingerprint(Request(link.url)) for link in LinkExtractor().extract_links(response)]
