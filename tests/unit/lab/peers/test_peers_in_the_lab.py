"""Each peer finds planted links, does the same again for the same seed, and crawls on after a restart."""

import asyncio

import pytest

from tests.unit.lab.peers.planted_web import AIM, SEED, TOPIC, planted_web
from thresher import registry
from thresher.modelstate.folder import FolderStateStore
from thresher.strategies.base import HandlesMisses, Stateful
from thresher.strategies.baselines import RandomOrder
from thresher_lab.peers import peers
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import PerfectJudge
from thresher_lab.webs.parsed_pages import ParsedPages

PEERS = sorted(peers())
PAGES = 90
PARAMETERS = {"best-n-first": {"N": 4}, "ache-levels": {"learn_every": 10}, "tres": {"rate": 0.01, "replay_start": 10}}
LEARNING = {"ache-levels", "anthelion", "apprentice", "tag-path-bandit", "tres"}


@pytest.fixture(scope="module")
def web():
    return planted_web()


@pytest.fixture(scope="module")
def pages(web):
    return ParsedPages(web, keep=False)


def made(name):
    return registry.make("strategy", name, PARAMETERS.get(name, {}), AIM)


def crawl(web, pages, strategy):
    simulator = Simulator(web, pages, judge=PerfectJudge(web, TOPIC), strategy=strategy)
    return [fetch.url for fetch in asyncio.run(simulator.run([SEED], PAGES)).fetches]


def hits(web, urls):
    return sum(web.is_topic(url, TOPIC) for url in urls)


@pytest.mark.parametrize("name", PEERS)
def test_it_finds_more_planted_links_than_chance_does(name, web, pages):
    chance = max(hits(web, crawl(web, pages, RandomOrder(random_state=state))) for state in range(3))
    found = crawl(web, pages, made(name))
    assert len(found) == len(set(found)) == PAGES
    assert hits(web, found) > chance


@pytest.mark.parametrize("name", PEERS)
def test_the_same_seed_gives_the_same_crawl(name, web, pages):
    assert crawl(web, pages, made(name)) == crawl(web, pages, made(name))


@pytest.mark.parametrize("name", sorted(LEARNING))
def test_it_takes_up_what_an_earlier_run_learned(name, web, pages, tmp_path):
    first, again = made(name), made(name)
    assert isinstance(first, Stateful)
    first.load_state(FolderStateStore(tmp_path, "one"))
    crawl(web, pages, first)
    first.save_state()
    again.load_state(FolderStateStore(tmp_path, "one"))
    assert hits(web, crawl(web, pages, again)) > 0
    assert again._write() != made(name)._write()


@pytest.mark.parametrize("name", sorted(LEARNING))
def test_it_is_notified_of_pages_that_never_come(name):
    assert isinstance(made(name), HandlesMisses)
