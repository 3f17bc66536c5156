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

from testing.servers.store import ServerMissing, store_server
from thresher.operations.labelling import add_labels, known_labels, questions
from thresher.project import CrawlProject, build_label_feed, build_pipeline
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
        "manners": {"delay_seconds": 0, "robots": "ignore"},
        "sitemaps": "off",
        "network": {"allow": ["127.0.0.0/8"], "connect_to": NOWHERE},
        **more,
    }
    folder.mkdir(parents=True)
    (folder / "topic.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return folder


async def crawl_from_memory(folder, bench, pages):
    """Crawl as a worker does, without sockets; return the crawl when nobody works for it any more."""
    crawl, answers = CrawlProject.open(folder), WebResponder(bench.web, bench.pages)
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
    return CrawlProject.open(tmp_path / "crawl")


async def waiting(crawl, limit=QUEUE):
    frontier = crawl.frontier()
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
    frontier = crawl.frontier()
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
    assert record.parts["told"] == 1.0


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


async def test_boundary_labels_move_the_threshold_and_report_true_counts(bench, crawl, command):
    """Everything is on topic that is asked about: the threshold must not rise, and the counts are the page store's."""
    before = relevant_pages(crawl)
    asked = await questions(crawl, 10, boundary=True)
    chances = [question.record.relevance for question in asked]
    assert 2 <= len(asked) <= 10
    assert min(chances) < crawl.threshold() <= max(chances)
    printed = await command("label", crawl.folder.root, "--boundary", "--json", piped="y" * len(asked))
    assert printed.returncode == 0, printed.stderr
    moved = json.loads(printed.stdout)["boundary"]
    assert moved["below"] + moved["above"] == moved["below_yes"] + moved["above_yes"] == len(asked)
    assert (moved["relevant"], moved["relevant_now"]) == (before, relevant_pages(crawl))
    assert moved["relevant_now"] >= before + moved["below"]
    assert moved["now"] < moved["threshold"]


async def test_boundary_labels_are_reported_in_one_line(crawl, command):
    printed = await command("label", crawl.folder.root, "--boundary", piped="y n s u n q")
    assert printed.returncode == 0, printed.stderr
    assert re.search(r"on topic: threshold 0\.\d\d → \d\.\d\d, relevant \d+ → \d+\n", printed.stdout)


def relevant_pages(crawl):
    with PageStoreReader(crawl.folder.pages) as collection:
        return sum(record.relevant for record in collection.ranked())


async def test_boundary_labels_count_on_a_shared_store_that_nobody_works_on(bench, tmp_path, command):
    try:
        with store_server("redis", tmp_path / "store") as server:
            folder = write_topic(tmp_path / "crawl", bench.web, store=server.url)
            crawl = await crawl_from_memory(folder, bench, 60)
            before = relevant_pages(crawl)
            printed = await command("label", folder, "--boundary", "--json", piped="y" * 10)
            taught = json.loads(printed.stdout)
            assert taught["applied"]
            assert taught["boundary"]["relevant"] == before
            assert taught["boundary"]["relevant_now"] == relevant_pages(crawl) > before
    except ServerMissing as error:
        pytest.skip(str(error))
