"""The baselines of LPE: anchor only, context only, and page with anchor."""

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, KnownAim, lease, page
from thresher.records import Link
from thresher.strategies.baselines import AnchorOnly, ContextOnly, PageAnchor
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

AIM = KnownAim({"a good page": 0.8, "a poor page": 0.2, "words": 0.4, "around": 0.1})
LINK = Link(url="http://a.example/1", anchor="words", context="around")


def score(strategy, judgement=RELEVANT, text="a good page"):
    [candidate] = strategy.score(page(LINK, text=text), judgement, lease())
    return candidate.score


@pytest.mark.parametrize("judgement", [RELEVANT, IRRELEVANT])
def test_anchor_only_reads_the_anchor(judgement):
    assert score(AnchorOnly(AIM), judgement) == 0.4


@pytest.mark.parametrize("judgement", [RELEVANT, IRRELEVANT])
def test_context_only_reads_what_stands_around_it(judgement):
    assert score(ContextOnly(AIM), judgement) == 0.1


def test_page_anchor_takes_half_of_each():
    assert score(PageAnchor(AIM)) == pytest.approx(0.5 * 0.8 + 0.5 * 0.4)


async def test_page_anchor_takes_the_mean_over_all_pages_with_the_link():
    strategy = PageAnchor(AIM)
    frontier = MemoryFrontier(merge=strategy.merge)
    for text in ("a good page", "a poor page"):
        await frontier.add(list(strategy.score(page(LINK, text=text), RELEVANT, lease())))
    assert (await frontier.find(LINK.url)).score == pytest.approx(0.5 * (0.8 + 0.2) / 2 + 0.5 * 0.4)
