"""A small crawl of a learning judge, with pages of two workers and of another machine."""

import random

from thresher.assembly import build_judge
from thresher.crawl import CrawlSetup
from thresher.records import Outcome, ParsedPage
from thresher.storage.page_store import COLLECTED, FoundLink, PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint

TOPIC = """\
name: small
keywords: [solar cells]
seeds: ["http://a.example/0"]
strategy: {name: best-first}
politeness: {contact: tests@example.org}
"""
PAGES = 60
SEGMENTS = ("w1", "w2", f"{COLLECTED}/other")
ON_TOPIC = ["solar", "cells", "perovskite", "panel", "voltage", "silicon", "efficiency", "layer", "photon", "module"]
WORDS = [f"word{number}" for number in range(500)]


def url(number):
    return f"http://h{number % 5}.example/{number}"


def text_of(number):
    """Every third page is on topic; every tenth nearly repeats the page before it."""
    if number % 10 == 9:
        return f"{text_of(number - 1)} printed on page {number}"
    draw = random.Random(number)
    return " ".join(draw.choices(WORDS, k=80) + draw.choices(ON_TOPIC, k=60 if number % 3 == 0 else 1))


def make_pages(number):
    return ParsedPage(url=url(number), title=f"Page {number}", text=text_of(number), language="en")


def make_crawl(root):
    """Write a crawl whose pages were judged by the model that each of them met, and whose judge learned all of them."""
    root.mkdir()
    (root / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    crawl = CrawlSetup.open(root)
    states = crawl.backend.state_stores("w1")
    judge = build_judge(crawl, states)
    records = []
    for number in range(PAGES):
        page = make_pages(number)
        judge.learn(page, seed=number == 0)
        records.append(record_of(page, number, judge))
    judge.save_state()
    states.close()
    for place, name in enumerate(SEGMENTS):
        write(crawl, name, records[place::3])
    write(crawl, "w2", [record_of(make_pages(0), 0, judge, at=5000.0)])  # fetched again by another worker
    return crawl


def record_of(page, number, judge, at=1000.0):
    judgement = judge.judge(page)
    return PageRecord(
        fingerprint=fingerprint(page.url),
        url=page.url,
        status=200,
        outcome=Outcome.DONE,
        fetched_at=at + number,
        page=True,
        title=page.title,
        language=page.language,
        relevance=judgement.relevance,
        relevant=judgement.relevant,
        reward=judgement.reward,
        parts=judgement.breakdown,
        text=page.text,
        terms=judge.vector(page),
        links=[FoundLink(url=url(to), anchor="", score=0.5, parts={}) for to in (0, number // 2, number + 1, 999)],
    )


def write(crawl, segment, records):
    writer = PageStoreWriter(crawl.folder.pages / f"{segment}.db")
    writer.write(records)
    writer.close()
