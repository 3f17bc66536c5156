"""A person at a terminal: a first run offers questions, each answer is stored at once and shows what it changed."""

import asyncio
import json
import os
import re
import shutil
import signal

import pytest

from testing.labels import known_labels, questions
from testing.live_crawl import run as crawl_pages
from testing.live_crawl import served, write_crawl
from testing.terminal import terminal
from thresher.crawl import CrawlSetup
from thresher.storage.reader import PageStoreReader
from thresher_lab.webs.generator import generate

TOPIC = "Science/Astronomy"
OFFER = "Ten answers make the count surer. Answer now? [y/N]"
ASKED = "q quit\n"


@pytest.fixture(scope="module")
def web():
    return generate(3, pages=600, hosts=12, languages=("en",), tunnel_depth=0)


@pytest.fixture(scope="module")
def crawled(web, tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions") / "crawl"

    async def crawl():
        async with served(web) as places:
            write_crawl(folder, web, TOPIC, places, {"name": "thresher"})
            await crawl_pages(folder, 60)

    asyncio.run(crawl())
    return folder


@pytest.fixture
def crawl(crawled, tmp_path):
    """A copy of the crawl that a test may change."""
    return CrawlSetup.open(shutil.copytree(crawled, tmp_path / "crawl"))


def relevant_pages(crawl):
    with PageStoreReader(crawl.folder.pages) as collection:
        return collection.tally().relevant


def labels(crawl):
    return [json.loads(line) for line in (crawl.folder.root / "labels.jsonl").read_text().splitlines()]


def nearest(crawl):
    return asyncio.run(questions(crawl, 1))[0]


def test_keys_answer_skip_undo_and_quit(crawl):
    first, before = nearest(crawl), relevant_pages(crawl)
    with terminal("label", crawl.folder.root) as person:
        shown = person.wait_for(ASKED)
        assert f"1/10  {first.record.title}  (rank {first.rank} of {first.pages})" in shown
        assert first.record.url in shown
        assert first.excerpt[:60] in shown
        person.press("y")
        person.wait_for("   yes\n")
        changed = person.wait_for("2/10")
        assert (moved := re.search(r"   relevant (\d+) → (\d+)", changed)), changed
        assert (int(moved[1]), int(moved[2])) == (before, relevant_pages(crawl))
        second = nearest(crawl)
        assert second.record.url in person.wait_for(ASKED)
        person.press("s")
        assert second.record.url not in person.wait_for(ASKED)
        person.press("u")  # the skipped page
        assert second.record.url in person.wait_for(ASKED)
        person.press("u")
        person.wait_for(f"label removed: {first.record.url}")
        assert first.record.url in person.wait_for(ASKED)
        assert relevant_pages(crawl) == before
        person.press("nn")  # the second is not the answer to a question that was not shown yet
        person.wait_for("   no\n")
        person.wait_for(ASKED)
        person.press("q")
        person.wait_for(f"Relevant {before} → {relevant_pages(crawl)}")
        assert person.end() == 0
    assert [label["relevant"] for label in labels(crawl)] == [True, None, False]


def test_an_answer_survives_a_kill_as_soon_as_it_is_confirmed(crawl):
    url = nearest(crawl).record.url
    with terminal("label", crawl.folder.root) as person:
        person.wait_for(ASKED)
        person.press("y")
        person.wait_for("   yes\n")
        os.kill(person.process, signal.SIGKILL)
        assert person.end() == -signal.SIGKILL
    assert asyncio.run(known_labels(crawl)) == {url: True}
    with terminal("label", crawl.folder.root) as person:
        assert url not in person.wait_for(ASKED)
        person.press("\x03")
        person.wait_for("Labelled pages: 1.")
        assert person.end() == 0
    with PageStoreReader(crawl.folder.pages) as collection:
        assert url in {record.url for record in collection.ranked(relevant=True)}


def new_crawl(folder, web, places):
    return CrawlSetup.open(write_crawl(folder, web, TOPIC, places, {"name": "best-first"}))


async def test_a_first_run_in_a_terminal_offers_questions_and_a_second_one_does_not(tmp_path, web):
    async with served(web) as places:
        crawl = new_crawl(tmp_path / "crawl", web, places)
        await asyncio.to_thread(first_run_and_second, crawl)
    assert len(await known_labels(crawl)) == 1


def first_run_and_second(crawl):
    with terminal("run", crawl.folder.root, "--pages", 30) as person:
        person.wait_for(OFFER)
        person.press("y\n")
        person.wait_for(ASKED)
        person.press("n")
        person.wait_for("2/10")
        person.wait_for(ASKED)
        person.press("q")
        assert person.end() == 0
    with terminal("run", crawl.folder.root, "--pages", 35) as person:
        assert person.end() == 0
        assert OFFER not in person.screen


@pytest.mark.parametrize("answer", ["\n", "n\n", "\x03", "\x04"])
async def test_a_user_who_declines_gets_no_question_and_the_run_was_done(tmp_path, web, answer):
    async with served(web) as places:
        crawl = new_crawl(tmp_path / "crawl", web, places)
        await asyncio.to_thread(refuse, crawl, answer)
    assert await known_labels(crawl) == {}


def refuse(crawl, answer):
    with terminal("run", crawl.folder.root, "--pages", 20) as person:
        person.wait_for(OFFER)
        person.press(answer)
        assert person.end() == 0
        assert "q quit" not in person.screen
        assert "Traceback" not in person.screen


@pytest.mark.parametrize(("arguments", "environment"), [(["--json"], {}), ([], {"CI": "true"})])
async def test_no_script_is_asked(tmp_path, web, arguments, environment):
    async with served(web) as places:
        crawl = new_crawl(tmp_path / "crawl", web, places)
        await asyncio.to_thread(run_alone, crawl, arguments, environment)


def run_alone(crawl, arguments, environment):
    with terminal("run", crawl.folder.root, "--pages", 20, *arguments, **environment) as person:
        assert person.end() == 0
        assert OFFER not in person.screen


async def test_a_run_in_a_pipe_is_not_asked(tmp_path, web, thresher):
    async with served(web) as places:
        crawl = new_crawl(tmp_path / "crawl", web, places)
        done = await asyncio.to_thread(thresher, "run", crawl.folder.root, "--pages", 20)
    assert done.returncode == 0, done.stderr
    assert "Ten questions" not in done.stdout + done.stderr
