"""Agents, anchors and rules crawl a small web to the end of their budget."""

import asyncio

import pytest

from thresher.topics.profile import TopicProfile
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import PerfectJudge
from thresher_lab.webs.generator import generate
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_papers.strategies.infospiders import InfoSpiders
from thresher_papers.strategies.learning_anchor import LearningAnchor
from thresher_papers.strategies.rules.strategy import InterclassRules
from thresher_papers.strategies.rules.table import RuleTable, class_of, count_rules

PAGES = 80
TOPIC = "Science/Astronomy"
AIM = TopicProfile(vectors={"en": {"astronomi": 1.0}})


@pytest.fixture(scope="module")
def web():
    return generate(3, pages=600, hosts=12, tunnel_depth=0)


@pytest.fixture(scope="module")
def pages(web):
    return ParsedPages(web, keep=False)


def crawl(web, pages, strategy):
    """Return how many pages were fetched, and how many of them are on topic."""
    targets = sorted(web.targets(TOPIC))
    simulator = Simulator(web, pages, judge=PerfectJudge(web, TOPIC), strategy=strategy)
    fetches = asyncio.run(simulator.run([web.url_of(page) for page in targets[:5]], PAGES)).fetches
    return len(fetches), sum(fetch.page_id in targets for fetch in fetches)


@pytest.mark.parametrize(
    "make",
    [
        lambda: InfoSpiders(AIM),
        lambda: InfoSpiders(AIM, agents=1, cost=0.6),  # everybody dies soon, and new ones start
        lambda: LearningAnchor(retrain_every=10),
        lambda: LearningAnchor(retrain_every=10, pseudo_labels=True),
        lambda: LearningAnchor(batch="all"),
        lambda: LearningAnchor(batch=10),
    ],
)
def test_it_spends_its_budget_and_finds_more_than_its_seeds(make, web, pages):
    fetched, hits = crawl(web, pages, make())
    assert fetched == PAGES
    assert hits > 5


def test_rules_learned_from_labelled_pages_guide_a_crawl(web, pages, tmp_path):
    def labels(page):
        return dict.fromkeys(web.get(page.url).topics[:1], 1.0)

    def page_at(url):
        found = pages.get(url)
        return found[0] if found else None

    def class_at(url):
        found = page_at(url)
        return class_of(labels(found)) if found else None

    referred = {}
    for number in range(0, len(web), 3):
        page = page_at(web.url_of(number))
        for label in labels(page):
            referred.setdefault(label, set()).update(link.url for link in page.links)
    targets = frozenset(label for label in referred if label.startswith(TOPIC))
    RuleTable(count_rules(referred, class_at), targets).save(tmp_path)
    fetched, hits = crawl(web, pages, InterclassRules(TopicProfile(model=tmp_path), labels))
    assert fetched == PAGES
    assert hits > 5
