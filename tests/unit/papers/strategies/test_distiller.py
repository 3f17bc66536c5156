"""Hubs are pages whose links are relevant; what they link to is lifted."""

import pytest

from tests.unit.strategies.small_world import lease, verdict
from thresher.records import Judgement, Link, ParsedPage, Revision
from thresher.strategies.base import ScoreChange
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_papers.strategies.distiller import LIFT, Distiller
from thresher_papers.strategies.soft_focus import SoftFocus


def distiller(every=1, **more):
    """Two pages link to good ones, the first to more of them; a third links to one that nobody wants."""
    found = Distiller(every=every, **more)
    found.add("hub", 0.0, ["good", "fine", "new", "hub"])
    found.add("half", 0.0, ["good", "bad", "late"])
    found.add("menu", 0.0, ["bad", "never"])
    found.add("good", 1.0, [])
    found.add("fine", 1.0, [])
    found.add("bad", 0.0, [])
    return found


def test_a_hub_is_as_good_as_what_it_links_to():
    """a = (good φ, fine 1) and h = (hub φ + 1, half φ) for the golden ratio φ, so half is φ / (φ + 1) = 0.618."""
    assert distiller().hubs() == {"hub": 1.0, "half": pytest.approx(0.618, abs=0.001)}


def test_links_of_hubs_that_nobody_fetched_are_lifted():
    found = distiller()
    assert found.distill() == {
        "new": ScoreChange(0.0, LIFT),
        "late": ScoreChange(0.0, pytest.approx(0.618 * LIFT, abs=0.001)),
    }
    assert (found.lift("new"), found.lift("never"), found.lift("good")) == (LIFT, 0.0, 0.0)


def test_a_fetched_page_is_lifted_no_more():
    found = distiller()
    found.distill()
    found.add("new", 0.0, [])
    assert found.distill()["new"] == ScoreChange(LIFT, 0.0)


def test_hubs_are_looked_for_at_the_set_interval_of_pages():
    assert distiller(every=7).distill() == {}
    assert distiller(every=6).distill() != {}


def test_a_revision_of_a_page_moves_its_hubs():
    found = distiller()
    found.revise([Revision(url=url, judgement=Judgement(relevance=0.0, relevant=False)) for url in ("good", "fine")])
    assert found.hubs() == {}


def test_old_pages_are_forgotten():
    assert distiller(most_pages=2).hubs() == {}


def test_no_pages_no_hubs():
    assert Distiller(every=1).hubs() == {}


def page(url, *links):
    return ParsedPage(url=f"http://a.example/{url}", links=tuple(Link(url=f"http://a.example/{end}") for end in links))


async def test_soft_focus_lifts_the_links_of_hubs_in_the_queue():
    strategy, frontier = SoftFocus(distill=2), MemoryFrontier()
    for found, worth in ((page("hub", "good", "new"), 0.2), (page("good", "other"), 1.0)):
        await frontier.add(list(strategy.score(found, verdict(True, relevance=worth), lease())))
        changes = strategy.revise([])
        scores, was = ({url: getattr(c, side) for url, c in changes.items()} for side in ("now", "was"))
        await frontier.rescore(scores, was=was)
    assert (await frontier.find("http://a.example/new")).score == pytest.approx(0.7)
    [again] = strategy.score(page("late", "new"), verdict(True, relevance=0.4), lease())
    assert again.score == pytest.approx(0.9)
    assert again.breakdown == {"page": 0.4, "hubs": 0.5}


def test_a_lifted_link_still_follows_the_judge():
    strategy = SoftFocus(distill=2)
    list(strategy.score(page("hub", "good", "new"), verdict(True, relevance=0.2), lease()))
    list(strategy.score(page("good"), verdict(True, relevance=1.0), lease()))
    strategy.revise([])
    changes = strategy.revise([Revision(url="http://a.example/hub", judgement=verdict(True, relevance=0.6))])
    assert changes["http://a.example/new"] == ScoreChange(0.7, 1.1)


def test_without_it_soft_focus_has_nothing_to_say_of_its_own():
    strategy = SoftFocus()
    list(strategy.score(page("hub", "good"), verdict(True, relevance=0.2), lease()))
    assert strategy.revise([]) == {}


def test_a_number_below_0_is_refused():
    with pytest.raises(ValueError, match="distill"):
        SoftFocus(distill=-1)
