"""A person says yes or no: the judge and the queue follow, whether a crawl runs or not."""

import asyncio
import io
import json
import sys
from dataclasses import asdict
from unittest.mock import patch

import pytest

from testing.labels import known_labels, questions
from testing.live_crawl import run as crawl_pages
from testing.live_crawl import served, write_crawl
from testing.servers.store import ServerMissing, store_server
from thresher.coordination.run_control import RunControl, set_run_control
from thresher.crawl import CrawlSetup
from thresher.operations.labelling import add_labels
from thresher.runner.limits import Limits, StopReason
from thresher.runner.supervisor import Supervisor, SupervisorOptions
from thresher.storage.reader import PageOrder, PageStoreReader
from thresher_lab.webs.generator import generate

TOPIC = "Science/Astronomy"
STRATEGIES = ("best-first", "relevant-parents")
BEST = 40
"""Waiting URLs of which a strategy that learns thinks again every time."""


@pytest.fixture(scope="module")
def web():
    return generate(3, pages=600, hosts=12, languages=("en",), tunnel_depth=0)


def supervised(folder, *, pages, workers=1):
    """Begin a run as `thresher run` does; gives its task."""
    limits, crawl = Limits(pages=pages), CrawlSetup.open(folder)
    supervisor = Supervisor(crawl, SupervisorOptions(workers=workers, limits=limits, handles_signals=False))
    return asyncio.ensure_future(supervisor.run())


async def counted(crawl, pages, *, seconds=20.0):
    """Wait until a crawl has `pages` pages."""
    frontier = crawl.backend.frontier()
    try:
        for _ in range(int(seconds / 0.05)):
            if (now := (await frontier.counts()).pages) >= pages:
                return now
            await asyncio.sleep(0.05)
    finally:
        await frontier.close()
    raise AssertionError(f"only {now} pages")


def best_parent(crawl, entries):
    """Return the page that most of the best waiting URLs were found on."""
    parents = [entry.parent for entry in entries if entry.parent]
    with PageStoreReader(crawl.folder.pages) as collection:
        return collection.find(max(set(parents), key=parents.count)).url


async def peek(crawl, limit=20):
    frontier = crawl.backend.frontier()
    try:
        return await frontier.peek(limit)
    finally:
        await frontier.close()


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_no_to_the_page_that_leads_the_queue_changes_it_though_nobody_runs(tmp_path, web, strategy):
    async with served(web) as places:
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": strategy})
        await crawl_pages(folder, 60)
        crawl = CrawlSetup.open(folder)
        before = await peek(crawl)
        page = best_parent(crawl, before)
        taught = await add_labels(crawl, {page: False})
        assert taught.applied
        assert [entry.url for entry in taught.before.queue] == [entry.url for entry in before]
        after = {entry.url: entry.score for entry in await peek(crawl, 2_000)}
        found_there = [entry for entry in before if entry.parent == page_key(page)]
        assert any(after[entry.url] < entry.score for entry in found_there)
        with PageStoreReader(folder / "pages") as collection:
            record = collection.find(page_key(page))
        assert not record.relevant
        assert record.parts["label"] == 0.0
        result = await crawl_pages(folder, 80)
    assert result.status.pages == 80
    assert await known_labels(crawl) == {page: False}


async def test_a_yes_lifts_what_was_found_on_the_page(tmp_path, web):
    async with served(web) as places:
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "best-first"})
        await crawl_pages(folder, 120)  # pages off the topic among them
    crawl = CrawlSetup.open(folder)
    before = {entry.url: entry for entry in await peek(crawl, 2_000)}
    page = poor_parent(crawl, before.values())
    taught = await add_labels(crawl, {page: True})
    assert taught.applied
    after = {entry.url: entry.score for entry in await peek(crawl, 2_000)}
    found_there = [url for url, entry in before.items() if entry.parent == page_key(page)]
    assert sum(after[url] for url in found_there) > sum(before[url].score for url in found_there)
    with PageStoreReader(folder / "pages") as collection:
        assert collection.find(page_key(page)).relevant


def poor_parent(crawl, entries):
    """Return the least relevant page that was kept and that some of these URLs were found on."""
    parents = {entry.parent for entry in entries if entry.parent}
    with PageStoreReader(crawl.folder.pages) as collection:
        kept = [record for record in map(collection.find, parents) if record and collection.text(record.fingerprint)]
    return min(kept, key=lambda record: record.reward).url


def page_key(url):
    from thresher.urls.canonical import fingerprint

    return fingerprint(url)


@pytest.fixture(params=["sqlite", "redis"])
def store(request, tmp_path):
    if request.param == "sqlite":
        yield "sqlite"
        return
    try:
        with store_server("redis", tmp_path / "store") as server:
            yield server.url
    except ServerMissing as error:
        pytest.skip(str(error))


async def test_workers_that_run_read_a_label_and_put_the_queue_in_a_new_order(tmp_path, web, store):
    async with served(web) as places:
        politeness = {"delay_seconds": 0.2, "robots": "ignore"}
        more = {"politeness": politeness, "store": store}
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "thresher"}, **more)
        run, crawl = supervised(folder, pages=500, workers=2), CrawlSetup.open(folder)
        await counted(crawl, 60)
        await control_run(crawl, paused=True)  # so that nothing but the label moves the queue
        await asyncio.sleep(2.5)
        taught = await add_labels(crawl, {poor_parent(crawl, await peek(crawl, BEST)): True})
        assert not run.done()
        assert taught.applied
        with PageStoreReader(folder / "pages") as collection:
            assert taught.after.relevant == collection.tally().relevant
        assert [asdict(entry) for entry in taught.before.queue] != [asdict(entry) for entry in taught.after.queue]
        await control_run(crawl, pages=1)
        assert (await run).stop_reason is StopReason.PAGES


async def control_run(crawl, **run_control):
    frontier = crawl.backend.frontier()
    await set_run_control(frontier, RunControl(**run_control))
    await frontier.close()


async def test_a_crawl_pauses_goes_on_and_takes_another_limit(tmp_path, web):
    async with served(web) as places:
        politeness = {"delay_seconds": 0.2, "robots": "ignore"}
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "best-first"}, politeness=politeness)
        run, crawl = supervised(folder, pages=500), CrawlSetup.open(folder)
        await counted(crawl, 10)
        await control_run(crawl, paused=True)
        await asyncio.sleep(2.0)
        paused = await counted(crawl, 10)
        await asyncio.sleep(1.5)
        assert await counted(crawl, 10) == paused
        await control_run(crawl, pages=paused + 20)
        result = await run
    assert result.stop_reason is StopReason.PAGES
    assert result.status.pages == paused + 20


async def test_the_questions_are_pages_nobody_has_spoken_of(tmp_path, web):
    async with served(web) as places:
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "best-first"})
        await crawl_pages(folder, 60)
    crawl = CrawlSetup.open(folder)
    first = await questions(crawl, 6)
    await add_labels(crawl, {first[0].record.url: True})
    second = [question.record.url for question in await questions(crawl, 6)]
    assert len(first) == len(second) == 6
    assert first[0].record.url not in second
    assert not set(crawl.seeds()) & {question.record.url for question in first}
    assert all(question.excerpt for question in first)


async def test_a_word_that_is_taken_back_counts_no_more(tmp_path, web, thresher):
    async with served(web) as places:
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "best-first"})
        await crawl_pages(folder, 40)
    with PageStoreReader(folder / "pages") as collection:
        page = collection.some(PageOrder.BEST, 1)[0].url
    printed = await asyncio.to_thread(thresher, "label", folder, "--no", page, "--json")
    assert printed.returncode == 0, printed.stderr
    assert json.loads(printed.stdout)["labels"] == 1
    taken = await asyncio.to_thread(thresher, "label", folder, "--forget", page)
    assert taken.returncode == 0, taken.stderr
    assert await known_labels(CrawlSetup.open(folder)) == {}
    with PageStoreReader(folder / "pages") as collection:
        assert "label" not in collection.find(page_key(page)).parts


async def test_label_reads_its_answers_from_a_pipe_and_refuses_an_empty_one(tmp_path, web, thresher):
    async with served(web) as places:
        folder = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "best-first"})
        await crawl_pages(folder, 20)
    with patch.object(sys, "stdin", io.StringIO("")):
        asked = await asyncio.to_thread(thresher, "label", folder)
    assert asked.returncode == 4
    assert "--yes" in asked.stderr
    with patch.object(sys, "stdin", io.StringIO("y\ns\nn\nu\nq\n")):
        asked = await asyncio.to_thread(thresher, "label", folder)
    assert asked.returncode == 0, asked.stderr
    assert list((await known_labels(CrawlSetup.open(folder))).values()) == [True]
