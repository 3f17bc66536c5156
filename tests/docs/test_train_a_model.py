"""The page on training runs from an empty folder, on a generated web over loopback."""

import asyncio
import json
import re
import shlex
import threading
from contextlib import contextmanager
from random import Random

import pytest

from testing.live_crawl import served
from tests.docs.blocks import ROOT, blocks_of
from tests.e2e.conftest import CommandLine, serving
from thresher_lab.webs.generator import generate

PAGE = ROOT / "docs" / "howto" / "train-a-model.md"
TOPIC = "Science/Astronomy"
COMMANDS = [command for block in blocks_of(PAGE) if block.language == "console" for command in block.commands]
SEARCH = "https://search.example.org/search"


@pytest.fixture(scope="module")
def web():
    return generate(3, pages=900, hosts=24, languages=("en",), tunnel_depth=0, traps=0.0)


@pytest.fixture(scope="module")
def places(web):
    """What network.connect_to must say, while a thread serves the web."""
    with in_thread(web) as places:
        yield places


@contextmanager
def in_thread(web):
    loop, started, found = asyncio.new_event_loop(), threading.Event(), {}

    async def serve():
        async with served(web) as places:
            found.update(places)
            found_end.append(ending := asyncio.Event())
            started.set()
            await ending.wait()

    found_end = []
    thread = threading.Thread(target=loop.run_until_complete, args=[serve()], daemon=True)
    thread.start()
    started.wait()
    yield found
    loop.call_soon_threadsafe(found_end[0].set)
    thread.join()
    loop.close()


def links_of(web):
    return [(page, linked) for page in range(len(web)) for linked in web.links_from(page)]


@pytest.fixture
def folder(web, tmp_path):
    """An empty folder but for the reader's own files."""
    targets = Random(1).sample(sorted(web.targets(TOPIC)), 30)
    (tmp_path / "targets.txt").write_text("".join(f"{web.url_of(page)}\n" for page in targets))
    pairs = (f"{web.url_of(page)}\t{web.url_of(linked)}\n" for page, linked in links_of(web) if linked >= 0)
    (tmp_path / "links.tsv").write_text("".join(pairs))
    rows = [(label, page) for label in web.topics() if "/" in label for page in sorted(web.targets(label))[:25]]
    (tmp_path / "examples.tsv").write_text("".join(f"{label}\t{web.url_of(page)}\n" for label, page in rows))
    return tmp_path


@contextmanager
def search_engine(web):
    """An engine that finds every page that links to a quoted URL."""
    with serving() as engine:
        linking = {}
        for page, linked in links_of(web):
            linking.setdefault(linked, []).append({"url": web.url_of(page)})

        class Answers(dict):
            def get(self, path, _):
                url = re.fullmatch(r"/search\?q=%22(.+)%22&format=json", path)[1]
                number = web.page_id(url.replace("%3A", ":").replace("%2F", "/"))
                return 200, {"Content-Type": "application/json"}, json.dumps({"results": linking.get(number, [])})

        engine.pages = Answers()
        yield engine.url("/search")


def test_every_command_of_the_page_runs(web, places, folder):
    seed = web.url_of(min(web.targets(TOPIC)))
    thresher = CommandLine(folder)
    with search_engine(web) as search:
        for command in COMMANDS:
            line = re.sub(r"\s*\\\n\s*", " ", command).replace("https://…", seed).replace(SEARCH, search)
            program, *words = shlex.split(line)
            assert program == "thresher"
            done = thresher(*words, timeout=120)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            if words[0] == "new":
                at_once(folder / words[1], places)
            if words[0] == "train":
                check(done)


def at_once(crawl, places):
    """Connect to the generated web, without delays."""
    path = crawl / "topic.yaml"
    lines = [line for line in path.read_text().splitlines() if line.partition(":")[0] not in ("politeness", "network")]
    lines.append("politeness: {delay_seconds: 0, contact: me@example.org}")
    lines.append(f'network: {{allow: ["127.0.0.0/8"], tls: record, connect_to: {json.dumps(dict(places))}}}')
    path.write_text("\n".join(lines) + "\n")


def check(done):
    assert "Held out: " in done.stdout
    assert "Next: thresher run stars" in done.stderr


def test_the_report_on_the_page_has_the_form_of_the_real_one(web, places, folder):
    shown = next(block.text for block in blocks_of(PAGE) if block.language == "text")
    first, *_, last = shown.splitlines()
    thresher = CommandLine(folder)
    for command in COMMANDS[:2]:
        done = thresher(*shlex.split(command.replace("https://…", web.url_of(min(web.targets(TOPIC)))))[1:])
        assert done.returncode == 0, done.stderr
        at_once(folder / "stars", places)
    lines = done.stdout.splitlines()
    assert first.split() in [line.split() for line in lines]
    assert last in lines
