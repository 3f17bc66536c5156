"""Levels by the crawl's own back-links: seed → far → hub → target."""

from random import Random

from tests.unit.strategies.small_world import page, verdict
from thresher.records import Link, Revision
from thresher_lab.peers import ache_levels
from thresher_lab.peers.ache_levels import CrawledLevels
from thresher_lab.peers.level_classifier import Neighbourhood


def near(name):
    return Neighbourhood.of(f"http://a.example/{name}", name, "")


def crawled(*, hub_is_relevant=False):
    levels = CrawledLevels(3, Random(0))
    for name, follows in [("seed", "far"), ("far", "hub"), ("hub", "target"), ("target", "seed")]:
        relevant = name == "target" or (name == "hub" and hub_is_relevant)
        link = Link(url=f"http://a.example/{follows}")
        found = page(link, url=f"http://a.example/{name}")
        levels.add(found, None if name == "seed" else near(name), relevant=relevant)
    return levels


def test_each_link_is_of_the_level_of_its_distance():
    assert crawled().samples() == [[near("target")], [near("hub")], [near("far")]]


def test_relevant_pages_are_of_level_0_only_and_others_count_once_for_each_way():
    assert crawled(hub_is_relevant=True).samples() == [[near("hub"), near("target")], [near("far")], [near("far")]]


def test_revisions_move_levels():
    levels = crawled()
    levels.revise([Revision(url="http://a.example/target", judgement=verdict(False))])
    levels.revise([Revision(url="http://a.example/far", judgement=verdict(True))])
    assert levels.samples() == [[near("far")], [], [near("target")]]


def test_the_oldest_pages_are_forgotten(monkeypatch):
    monkeypatch.setattr(ache_levels, "MAX_PAGES", 2)
    assert crawled().samples() == [[near("target")], [near("hub")], []]
