"""After a restart a strategy has at hand what the best waiting URLs were found on."""

from dataclasses import replace

import pytest

from thresher.feedback.updates import warm_start
from thresher.records import LABEL_PART, Candidate, Judgement, Outcome, Revision
from thresher.registry import make
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.strategies.base import ScoreChange, WarmStartable
from thresher.strategies.best_first import BestFirst
from thresher.strategies.topics import MultiTopicStrategy
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

PAGE, DONE, WAITS, OTHER, UNKNOWN = (f"http://a.example/{name}" for name in ("page", "done", "waits", "other", "low"))
BY_PARENT = ["best-first", "relevant-parents", "soft-focus", "hard-focus"]
"""Strategies that give a link the worth of its page."""


def strategy_called(name):
    return make("strategy", name, {}, TopicProfile(vectors={"en": {"moon": 1.0}}, labels=[], phrases=["moon"]))


def record(url, relevance, links=()):
    found = [FoundLink(url=link, anchor="about moons", score=relevance, parts={}) for link in links]
    return PageRecord(
        fingerprint=fingerprint(url), url=url, status=200, outcome=Outcome.DONE, fetched_at=1.0, page=True,
        title="Moons", language="en", relevance=relevance, relevant=relevance > 0.5, reward=relevance,
        text="All about moons and the moon.", links=found,
    )  # fmt: skip


@pytest.fixture
def pages(tmp_path):
    writer = PageStoreWriter(tmp_path / "w1.db")
    writer.write([record(PAGE, 0.9, [DONE, WAITS, UNKNOWN]), record(DONE, 0.1)])
    writer.close()
    return tmp_path


def of_topics(**relevances):
    return {name: Judgement(relevance=worth, relevant=worth > 0.5) for name, worth in relevances.items()}


async def test_each_of_several_topics_starts_from_its_own_scores_and_outcomes(tmp_path):
    class Remembering(BestFirst):
        def warm_start(self, page, judgement, *, waiting, outcomes):
            self.known = judgement.reward, dict(waiting), dict(outcomes)

    writer = PageStoreWriter(tmp_path / "w1.db")
    scored = FoundLink(url=WAITS, anchor="moons", score=0.6, parts={"topic moon": 0.6, "topic sun": 0.2, "own": 0.9})
    parent = replace(record(PAGE, 0.9, [DONE]), topics=of_topics(moon=0.9, sun=0.3, gone=0.5))
    done = replace(record(DONE, 0.8), topics=of_topics(moon=0.1, sun=0.8))
    writer.write([replace(parent, links=[*parent.links, scored]), done])
    writer.close()
    strategy = MultiTopicStrategy({"moon": Remembering(), "sun": Remembering()}, seeds={}, wanted={"moon": 1})
    assert await warm_start(strategy, await waiting(), tmp_path) == 1
    of_moon, of_sun = 0.9 * 0.6 / 0.8, 0.9 * 0.2 / 0.8  # together the score in the frontier
    assert strategy.strategies["moon"].known == (0.9, {WAITS: pytest.approx(of_moon)}, {DONE: 0.1})
    assert strategy.strategies["sun"].known == (0.3, {WAITS: pytest.approx(of_sun)}, {DONE: 0.8})
    strategy.set_found({"moon": 1})
    assert strategy.revise([]) == {WAITS: ScoreChange(pytest.approx(0.9), pytest.approx(of_sun))}


async def waiting():
    frontier = MemoryFrontier()
    parent = fingerprint(PAGE)
    await frontier.add([Candidate(url=WAITS, score=0.9, parent=parent), Candidate(url=OTHER, score=0.4)])
    return frontier


def printed(word):
    judgement = Judgement(relevance=float(word), relevant=word, breakdown={LABEL_PART: float(word)})
    return [Revision(url=PAGE, judgement=judgement)]


async def after(pages, name, revisions):
    """Give the scores of what waits after a restart and some words of people."""
    strategy = strategy_called(name)
    assert isinstance(strategy, WarmStartable)
    assert await warm_start(strategy, await waiting(), pages) == 1
    changes = strategy.revise(revisions)
    assert all(change.was == pytest.approx(0.9) for change in changes.values())
    return {url: change.now for url, change in changes.items()}


@pytest.mark.parametrize("name", BY_PARENT)
async def test_links_are_worth_the_label_that_a_person_gave_their_page(pages, name):
    assert await after(pages, name, printed(True)) == {WAITS: 1.0}
    assert await after(pages, name, printed(False)) == {WAITS: 0.0}
    assert await after(pages, name, []) == {}


async def test_where_links_are_learned_a_yes_lifts_them_and_a_no_says_nothing_about_them(pages):
    assert (await after(pages, "thresher", printed(True)))[WAITS] > 0.9
    assert await after(pages, "thresher", printed(False)) == {}


async def test_a_restart_alone_changes_no_score(pages):
    assert await after(pages, "thresher", []) == {}


@pytest.mark.parametrize("name", ["thresher", *BY_PARENT])
async def test_without_a_page_store_nothing_is_taken_up(tmp_path, name):
    assert await warm_start(strategy_called(name), await waiting(), tmp_path) == 0
