"""Every strategy crawls over real sockets: it fetches what was asked for, ends cleanly and can say why."""

import asyncio
import json

import pytest
import yaml
from click.testing import CliRunner

from testing import registered
from testing.live_crawl import run, served, write_crawl
from thresher.cli import thresher
from thresher.runner.limits import StopReason
from thresher.storage.reader import PageStoreReader
from thresher_lab.webs.generator import generate
from thresher_papers.training.layers import needs_training

PAGES = 60
TOPIC = "Science/Astronomy"
KEYWORDS = ["planet", "telescope", "orbit", "asteroid", "lunar", "stellar", "astronomer", "eyepiece"]
AT_ONCE = 3
"""Crawls; each has a process of its own."""
PARAMETERS = {"lpe": {"threshold": 0.05}, "cbp": {"threshold": 0.05}}
"""At their papers' threshold these run dry."""
WITHOUT_PARTS = {"breadth-first", "random"}
"""Their scores are made of nothing."""
TAXONOMY = {"file": "../topics.yaml", "nodes": [TOPIC], "min_urls_per_class": 1}
WITH_TAXONOMY = {"rules"}
TEACHER = "best-first"
"""Its crawl is what the others train on."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """Crawl with all strategies; gives their folders, and how each run ended or what it raised."""
    folder = tmp_path_factory.mktemp("crawls")
    return folder, asyncio.run(crawl_all(folder))


async def crawl_all(folder):
    web = generate(3, pages=600, hosts=12, languages=("en",), tunnel_depth=0)
    (folder / "topics.yaml").write_text(yaml.safe_dump(taxonomy_of(web)), encoding="utf-8")
    async with served(web) as places:
        for name in registered.STRATEGIES:
            strategy = {"name": name, **PARAMETERS.get(name, {})}
            more = {"keywords": KEYWORDS, "output": {"keep_irrelevant": True}}
            if name in WITH_TAXONOMY:
                more["taxonomy"] = TAXONOMY
            write_crawl(folder / name, web, TOPIC, places, strategy, **more)
        endings = {TEACHER: await run(folder / TEACHER, PAGES)}
        places_left = asyncio.Semaphore(AT_ONCE)
        rest = [name for name in registered.STRATEGIES if name != TEACHER]
        runs = [crawl_one(folder, name, places_left) for name in rest]
        return endings | dict(zip(rest, await asyncio.gather(*runs, return_exceptions=True), strict=True))


def taxonomy_of(web):
    """All topics of a web in two levels, with their pages as examples."""
    tree = {}
    for topic in (topic for topic in web.topics() if "/" in topic):
        area, name = topic.split("/")
        pages = map(web.get, map(web.url_of, sorted(web.targets(topic))))
        examples = [{"url": page.url, "title": page.title} for page in pages]
        tree.setdefault(area, {"children": []})["children"].append({name: {"examples": examples}})
    return tree


async def crawl_one(folder, name, places_left):
    async with places_left:
        if needs_training(name):  # on this thread: the runner of commands takes all output for its own
            trained = call("train", folder / name, "--from", folder / TEACHER, "--pages", 0)
            assert trained.exit_code == 0, (trained.output, trained.exception)
        return await run(folder / name, PAGES)


def call(*arguments):
    return CliRunner().invoke(thresher, list(map(str, arguments)))


@pytest.mark.parametrize("name", registered.STRATEGIES)
def test_it_fetches_the_asked_number_of_pages_and_ends(crawled, name):
    folder, endings = crawled
    if isinstance(endings[name], BaseException):
        raise endings[name]
    assert endings[name].stop_reason is StopReason.PAGES
    counts = endings[name].status
    assert (counts.pages, counts.leased) == (PAGES, 0)
    assert complaints(folder / name) == []


def complaints(crawl):
    lines = map(json.loads, (crawl / "crawl.log.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["level"] not in ("debug", "info")]


@pytest.mark.parametrize("name", registered.STRATEGIES)
def test_why_prints_the_parts_of_its_scores(crawled, name):
    folder, _ = crawled
    with PageStoreReader(folder / name / "pages") as collection:
        url = next(record.url for record in collection.ranked() if record.depth)
    described = json.loads(call("why", folder / name, url, "--json", "--details").output)
    link = described["details"]["link"]
    printed = call("why", folder / name, url, "--details").output
    assert f"Score when it was fetched: {described['score']:.3f}" in printed
    assert f"Score when that link was found: {link['score']:.3f}" in printed
    assert bool(link["parts"]) != (name in WITHOUT_PARTS)
    assert all(f"  {part} " in printed.partition("Parts of the link score")[2] for part in link["parts"])
