"""What labels report and change: the queue keeps its order, and a label says what becomes of it."""

import asyncio
import io
import json
import re
import shutil
import sys
from random import Random
from unittest.mock import patch

import pytest

from testing.labels import known_labels, questions
from testing.servers.store import ServerMissing, store_server
from thresher.assembly import build_label_feed, build_pipeline
from thresher.crawl import CrawlSetup
from thresher.feedback.forecast import KIND, read_forecast
from thresher.feedback.labels import Label
from thresher.frontier.base import CRAWL_WIDE
from thresher.operations.labelling import add_labels
from thresher.records import LABEL_PART
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint
from thresher_lab.simulation.simulator import WebResponder
from thresher_lab.simulation.tasks import TaskRunner
from thresher_lab.webs.generator import generate

TOPIC = "Science/Astronomy"
QUEUE = 30
"""Waiting URLs that are compared."""
NOWHERE = {"*:80": "127.0.0.1:1", "*:443": "127.0.0.1:1"}
"""No host of the web has an address: pages come from memory."""


@pytest.fixture(scope="module")
def bench():
    return TaskRunner(generate(3, pages=600, hosts=12, languages=("en",), tunnel_depth=0))


def write_topic(folder, web, *, seeds=2, **more):
    chosen = Random(1).sample(sorted(web.targets(TOPIC)), seeds)
    config = {
        "title": {"en": "Astronomy"},
        "seeds": [web.url_of(seed) for seed in chosen],
        "politeness": {"delay_seconds": 0, "robots": "ignore"},
        "sitemaps": "off",
        "network": {"allow": ["127.0.0.0/8"], "connect_to": NOWHERE},
        **more,
    }
    folder.mkdir(parents=True)
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return folder


async def crawl_from_memory(folder, bench, pages):
    """Crawl as a worker does, without sockets; return the crawl when nobody works for it any more."""
    crawl, answers = CrawlSetup.open(folder), WebResponder(bench.web, bench.pages)
    pipeline = build_pipeline(crawl, "w1", parse=answers.parse)
    label_feed = build_label_feed(crawl, pipeline.updater, "w1")
    await label_feed.begin()
    await pipeline.seed(crawl.seeds())
    for number in range(pages):
        [lease] = await pipeline.frontier.lease(1, seconds=60)
        await pipeline.process(lease, answers.answer(lease.url, at=float(number)))
    await label_feed.close()
    await pipeline.close()
    return crawl


@pytest.fixture(scope="module")
def crawled(bench, tmp_path_factory):
    folder = write_topic(tmp_path_factory.mktemp("labels") / "crawl", bench.web)
    return asyncio.run(crawl_from_memory(folder, bench, 100))


@pytest.fixture
def crawl(crawled, tmp_path):
    """A copy of the crawl that a test may change."""
    shutil.copytree(crawled.folder.root, tmp_path / "crawl")
    return CrawlSetup.open(tmp_path / "crawl")


async def waiting(crawl, limit=QUEUE):
    frontier = crawl.backend.frontier()
    try:
        return await frontier.peek(limit)
    finally:
        await frontier.close()


def share_on_topic(web, entries):
    return sum(web.is_topic(entry.url, TOPIC) for entry in entries) / len(entries)


def unsure_pages(web, crawl, *, on_topic):
    """Return fetched pages of which this is true, the least sure first."""
    with PageStoreReader(crawl.folder.pages) as collection:
        records = [record for record in collection.ranked() if record.url not in crawl.seeds()]
    records.sort(key=lambda record: abs(record.relevance - 0.5))
    return [record.url for record in records if web.is_topic(record.url, TOPIC) == on_topic]


@pytest.mark.parametrize("answers", ["no", "yes and no", "wrong yes and no"])
async def test_u7_one_or_two_labels_keep_the_order_of_the_queue(bench, crawl, answers):
    before = await waiting(crawl)
    on, off = (unsure_pages(bench.web, crawl, on_topic=truth)[0] for truth in (True, False))
    reported = {"no": {off: False}, "yes and no": {on: True, off: False}, "wrong yes and no": {on: False, off: True}}
    taught = await add_labels(crawl, reported[answers])
    assert taught.applied
    after = await waiting(crawl)
    assert share_on_topic(bench.web, after) >= share_on_topic(bench.web, before) - 0.1
    assert len({entry.url for entry in before} & {entry.url for entry in after}) >= QUEUE / 2


@pytest.fixture
def command(thresher):
    """Run the command line beside the event loop, with what is piped into it."""

    async def run(*arguments, piped=""):
        with patch.object(sys, "stdin", io.StringIO(piped)):
            return await asyncio.to_thread(thresher, *arguments)

    return run


async def found(crawl, url):
    frontier = crawl.backend.frontier()
    try:
        return await frontier.find(url)
    finally:
        await frontier.close()


async def test_u10_a_yes_to_a_url_that_was_never_crawled_queues_it_and_says_so(bench, crawl, command):
    url = "http://city0.example/never/seen.html"
    printed = await command("label", crawl.folder.root, "--yes", url)
    assert printed.returncode == 0, printed.stderr
    assert f"{url}: not crawled yet: queued." in printed.stdout
    assert (await found(crawl, url)).state == "waiting"
    assert (await waiting(crawl, 1))[0].url == url
    again = await command("label", crawl.folder.root, "--yes", url)
    assert "not crawled yet: it is in the queue" in again.stdout


async def test_u10_a_label_counts_when_the_page_is_fetched_later(bench, crawl):
    with PageStoreReader(crawl.folder.pages) as collection:
        fetched = {record.url for record in collection.ranked()}
    entries = [entry.url for entry in await waiting(crawl, 2_000) if bench.pages.get(entry.url)]
    queued = next(url for url in entries if url not in fetched)
    taught = await add_labels(crawl, {queued: True})
    assert [each.status for each in taught.urls] == ["waiting"]
    crawl = await crawl_from_memory(crawl.folder.root, bench, 1)
    with PageStoreReader(crawl.folder.pages) as collection:
        record = collection.find(fingerprint(queued))
    assert record.relevant
    assert record.parts["label"] == 1.0


async def test_u10_a_no_to_a_url_that_was_never_crawled_is_kept_and_nothing_is_queued(crawl, command):
    url = "http://city0.example/never/seen.html"
    printed = await command("label", crawl.folder.root, "--no", url, "--json")
    assert printed.returncode == 0, printed.stderr
    [reported] = json.loads(printed.stdout)["urls"]
    assert reported == {"url": url, "relevant": False, "status": "unknown", "reason": ""}
    assert await found(crawl, url) is None
    assert await known_labels(crawl) == {url: False}


@pytest.mark.parametrize("url", ["ftp://city0.example/", "no address", "http://city0.example/picture.jpg"])
async def test_u10_a_url_that_the_crawl_could_never_fetch_is_refused_in_words(crawl, command, url):
    refused = await command("label", crawl.folder.root, "--yes", url)
    assert refused.returncode == 4
    assert url in refused.stderr
    assert "Traceback" not in refused.stderr
    assert await known_labels(crawl) == {}


async def test_each_question_is_the_page_nearest_to_the_cut_after_all_earlier_answers(crawl, command):
    """The same answers, one by one and in one session: a session must ask what a new one would."""
    copied = CrawlSetup.open(shutil.copytree(crawl.folder.root, crawl.folder.root.with_name("copy")))
    answers, expected = "ynyn", []
    for answer in answers:
        [question] = await questions(copied, 1)
        expected.append(f"{question.record.url}")
        await add_labels(copied, {question.record.url: answer == "y"})
    printed = await command("label", crawl.folder.root, "--count", len(answers), piped=answers)
    assert printed.returncode == 0, printed.stderr
    assert re.findall(r"^   (http\S+)$", printed.stderr, re.MULTILINE) == expected
    assert await known_labels(crawl) == dict(zip(expected, (True, False, True, False), strict=True))


async def test_after_each_answer_the_relevant_pages_before_and_after_are_those_of_the_page_store(crawl, command):
    before = relevant_pages(crawl)
    printed = await command("label", crawl.folder.root, piped="y n s u y q")
    assert printed.returncode == 0, printed.stderr
    steps = [tuple(map(int, step)) for step in re.findall(r"^   relevant (\d+) → (\d+)", printed.stderr, re.MULTILINE)]
    assert len(steps) == 3
    assert [step[0] for step in steps] == [before, *(step[1] for step in steps[:-1])]
    assert steps[-1][1] == relevant_pages(crawl)
    assert f"Relevant {before} → {relevant_pages(crawl)}" in printed.stdout
    assert "recision" not in printed.stdout + printed.stderr


async def test_pages_whose_verdict_changed_are_named_without_those_that_were_labelled(bench, crawl):
    before = relevant_urls(crawl)
    refused = set(unsure_pages(bench.web, crawl, on_topic=True)[:6])  # a narrower topic
    taught = await add_labels(crawl, dict.fromkeys(refused, False))
    now = relevant_urls(crawl)
    became, ceased = now - before - refused, before - now - refused
    assert became | ceased, "the labels changed nothing else"
    for named, changed in ((taught.now_relevant, became), (taught.no_longer, ceased)):
        assert len(named) == min(len(changed), 3)
        assert {page.url for page in named} <= changed
    assert (taught.before.relevant, taught.after.relevant) == (len(before), len(now))


async def test_labels_that_a_killed_process_left_are_applied_before_the_next_question(crawl, command):
    [question] = await questions(crawl, 1)
    url = question.record.url
    label_store = crawl.backend.labels()
    await label_store.append([Label(url=url, relevant=True, at=1.0)])
    printed = await command("label", crawl.folder.root, piped="q")
    assert printed.returncode == 0, printed.stderr
    assert url not in printed.stderr
    with PageStoreReader(crawl.folder.pages) as collection:
        assert collection.find(fingerprint(url)).parts[LABEL_PART] == 1.0


async def test_new_labels_withdraw_a_forecast_that_was_computed_from_earlier_verdicts(crawl):
    frontier = crawl.backend.frontier()
    content = {"latest": [0.5], "forecast": {"pages": 100, "least": 1, "most": 9}}
    await frontier.put_state(CRAWL_WIDE, KIND, json.dumps(content), seconds=60.0)
    assert await read_forecast(frontier, await frontier.counts()) is not None
    [question] = await questions(crawl, 1)
    await add_labels(crawl, {question.record.url: False})
    assert await read_forecast(frontier, await frontier.counts()) is None
    await frontier.close()


def relevant_urls(crawl):
    with PageStoreReader(crawl.folder.pages) as collection:
        return {record.url for record in collection.ranked(relevant=True)}


def relevant_pages(crawl):
    with PageStoreReader(crawl.folder.pages) as collection:
        return sum(record.relevant for record in collection.ranked())


async def test_answers_count_on_a_shared_store_that_nobody_works_on(bench, tmp_path, command):
    try:
        with store_server("redis", tmp_path / "store") as server:
            strict = {"name": "adaptive", "threshold": 0.4}  # auto is right before any label
            folder = write_topic(tmp_path / "crawl", bench.web, store=server.url, judge=strict)
            crawl = await crawl_from_memory(folder, bench, 60)
            before = relevant_pages(crawl)
            printed = await command("label", folder, "--json", piped="y" * 10)
            taught = json.loads(printed.stdout)
            assert taught["applied"]
            assert taught["before"]["relevant"] == before
            assert taught["after"]["relevant"] == relevant_pages(crawl) > before
    except ServerMissing as error:
        pytest.skip(str(error))
