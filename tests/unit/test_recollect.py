"""After a restart a strategy has at hand what the best waiting URLs were found on."""

import pytest

from thresher.archive.pages import FoundLink, PageRecord, PageWriter
from thresher.frontier.memory import MemoryFrontier
from thresher.recollect import recollect
from thresher.records import TOLD, Candidate, Judgement, Outcome, Revision
from thresher.registry import make
from thresher.strategies.aim import Aim
from thresher.strategies.base import Recaller
from thresher.urls.canonical import fingerprint

PAGE, DONE, WAITS, OTHER, UNKNOWN = (f"http://a.example/{name}" for name in ("page", "done", "waits", "other", "low"))
STRATEGIES = ["thresher", "best-first", "relevant-parents", "soft-focus", "hard-focus"]


def strategy_called(name):
    return make("strategy", name, {}, Aim(vectors={"en": {"moon": 1.0}}, labels=[], phrases=["moon"]))


def record(url, relevance, links=()):
    found = [FoundLink(url=link, anchor="about moons", score=relevance, parts={}) for link in links]
    return PageRecord(
        fingerprint=fingerprint(url), url=url, status=200, outcome=Outcome.DONE, fetched_at=1.0, page=True,
        title="Moons", language="en", relevance=relevance, relevant=relevance > 0.5, probability=relevance,
        text="All about moons and the moon.", links=found,
    )  # fmt: skip


@pytest.fixture
def pages(tmp_path):
    writer = PageWriter(tmp_path / "w1.db")
    writer.write([record(PAGE, 0.9, [DONE, WAITS, UNKNOWN]), record(DONE, 0.1)])
    writer.close()
    return tmp_path


async def waiting():
    frontier = MemoryFrontier()
    parent = fingerprint(PAGE)
    await frontier.add([Candidate(url=WAITS, score=0.9, parent=parent), Candidate(url=OTHER, score=0.4)])
    return frontier


def said(word):
    judgement = Judgement(relevance=float(word), relevant=word, probability=float(word), parts={TOLD: float(word)})
    return [Revision(url=PAGE, judgement=judgement)]


@pytest.mark.parametrize("name", STRATEGIES)
async def test_what_waits_is_scored_again_when_a_person_speaks(pages, name):
    strategy, frontier = strategy_called(name), await waiting()
    assert isinstance(strategy, Recaller)
    assert await recollect(strategy, frontier, pages) == 1
    changes = strategy.revise(said(word=name == "thresher"))  # to which a no says nothing about links
    assert set(changes) == {WAITS}
    assert changes[WAITS].was == pytest.approx(0.9)
    assert changes[WAITS].now != pytest.approx(0.9)


async def test_a_no_counts_against_a_page_not_against_its_links_where_links_are_learned(pages):
    yes, no = strategy_called("thresher"), strategy_called("thresher")
    for strategy in (yes, no):
        await recollect(strategy, await waiting(), pages)
    assert no.revise(said(False))[WAITS].now == pytest.approx(yes.revise([])[WAITS].now, abs=0.05)


@pytest.mark.parametrize("name", STRATEGIES)
async def test_without_a_page_store_nothing_is_taken_up(tmp_path, name):
    assert await recollect(strategy_called(name), await waiting(), tmp_path) == 0
