"""Workers of every kind are built in one place, with the politeness of their crawl."""

import ast
import json

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from tests.unit.politeness.test_settings import OTHERWISE
from tests.unit.test_structure import SOURCES, parsed
from thresher.assembly import build_pipeline
from thresher.config.folder import CrawlFolder
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup
from thresher.engine import watchdog
from thresher.judges.match import MatchJudge
from thresher.politeness.settings import Politeness
from thresher.runner import fetch_once, worker
from thresher.runner.worker_pool import WorkerOrder
from thresher.storage.page_store import NoArchive
from thresher.strategies.baselines import BreadthFirst
from thresher.topics.profile import TopicProfile
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_papers.training import fetch_listed
from thresher_scrapy.session import AddonSession

TOPIC = {"title": {"en": "solar cells"}, "seeds": ["http://127.0.0.1/"], "network": {"allow": ["127.0.0.0/8"]}}
URL = "http://127.0.0.1/a"
ADDON = "thresher_scrapy.addon.TopicalAddon"


class Caught(Exception):
    """Raised in place of the work: its first argument is the context of the worker."""


def catch(module, monkeypatch, call):
    """Return the context of the worker that a call would run."""

    def caught(crawl, context, **_):
        raise Caught(context)

    monkeypatch.setattr(module, "run_worker", caught)
    with pytest.raises(Caught) as raised:
        call()
    return raised.value.args[0]


def of_run(folder, monkeypatch):
    with watchdog.shared_memory() as current_url:
        order = WorkerOrder(options=RunOptions(), pages=None, current_url=current_url.fileno())
        return catch(worker, monkeypatch, lambda: worker._work(CrawlSetup.open(folder), "w1", order))


def of_try_and_seeds(folder, monkeypatch):
    return catch(fetch_once, monkeypatch, lambda: fetch_once.fetch_once(CrawlSetup.open(folder), [URL]))


def of_collect(folder, monkeypatch):
    crawl, training = CrawlSetup.open(folder), CrawlFolder(folder / "training")
    monkeypatch.setattr(fetch_listed, "log_to", lambda *_: None)
    return catch(fetch_listed, monkeypatch, lambda: fetch_listed.fetch_listed(crawl, training, [URL]))


def of_spider(folder, monkeypatch):
    crawler = get_crawler(Spider, {"ADDONS": {ADDON: 300}, "THRESHER_TOPIC": str(folder / "topic.yaml")})
    crawler.spider = Spider("some")
    return AddonSession.of(crawler).open().loop.context


@pytest.mark.parametrize("kind", [of_run, of_try_and_seeds, of_collect, of_spider])
@pytest.mark.parametrize("key", OTHERWISE)
def test_every_key_of_the_politeness_reaches_every_kind_of_worker(kind, key, tmp_path, monkeypatch):
    (tmp_path / "topic.yaml").write_text(json.dumps({**TOPIC, "politeness": {key: OTHERWISE[key]}}))
    context = kind(tmp_path, monkeypatch)
    wanted = CrawlSetup.open(tmp_path).politeness
    assert wanted != Politeness()
    assert context.politeness == wanted
    assert (context.robots is None) == (key == "robots")
    assert context.scope.own_hosts_only == (key != "contact")


def builds_a_pipeline(text):
    """Whether a module imports the pipeline of crawls and calls it."""
    nodes = [*ast.walk(parsed(text))]
    imported = any(isinstance(node, ast.ImportFrom) and node.module == "thresher.pipeline.pipeline" for node in nodes)
    called = any(isinstance(node, ast.Call) and ast.unparse(node.func) == "Pipeline" for node in nodes)
    return imported and called


def test_the_pipeline_of_a_crawl_is_built_in_one_place():
    found = {module for module, text in SOURCES.items() if builds_a_pipeline(text)}
    assert {module for module in found if not module.startswith("thresher_lab.")} == {"thresher.assembly"}


def test_parts_that_are_given_replace_those_of_the_crawl(tmp_path):
    (tmp_path / "topic.yaml").write_text(json.dumps(TOPIC))
    frontier, archive, judge, strategy = MemoryFrontier(), NoArchive(), MatchJudge(TopicProfile()), BreadthFirst()
    pipeline = build_pipeline(
        CrawlSetup.open(tmp_path), None, frontier=frontier, archive=archive, judge=judge, strategy=strategy
    )
    updater = pipeline.updater
    assert (pipeline.frontier, updater.frontier, updater._archive) == (frontier, frontier, archive)
    assert (pipeline._judge, pipeline._strategy) == (judge, strategy)
    assert not (tmp_path / "frontier.db").exists()
