"""Fish: the first links of a page are followed, more of them from relevant pages."""

from dataclasses import replace

import pytest

from tests.unit.strategies.small_world import HERE, IRRELEVANT, RELEVANT, lease, links, page
from thresher.records import Link, Merge
from thresher_papers.strategies.fish import Fish


def scores(judgement, *found, strategy=None):
    return [candidate.score for candidate in (strategy or Fish()).score(page(*found), judgement, lease())]


def test_the_first_fifteen_links_of_a_relevant_page_score_one():
    assert scores(RELEVANT, *links(20)) == [1.0] * 15 + [0.0] * 5


def test_the_first_ten_links_of_an_irrelevant_page_score_one_half():
    assert scores(IRRELEVANT, *links(20)) == [0.5] * 10 + [0.0] * 10


def test_a_broken_width_is_rounded_up():
    assert scores(RELEVANT, *links(6), strategy=Fish(width=3)) == [1.0] * 5 + [0.0]


def test_only_distinct_links_to_other_pages_count():
    twice, itself = links(1), Link(url=HERE)
    assert scores(RELEVANT, *twice, itself, *twice, *links(20)) == [1.0] * 15 + [0.0] * 5


def test_the_rest_waits_with_the_same_depth():
    assert {candidate.depth_left for candidate in Fish().score(page(*links(20)), IRRELEVANT, lease())} == {2}


def test_a_link_says_why_it_has_its_place():
    last = list(Fish(width=1).score(page(*links(2)), IRRELEVANT, lease()))[-1]
    assert last.breakdown == {"relevant page": 0.0, "place": 2.0}


def test_a_url_found_again_keeps_its_best_score():
    assert Fish.merge is Merge.MAX


def slow_lease(seconds, depth_left=2):
    return replace(lease(depth_left=depth_left), fetch_seconds=seconds)


@pytest.mark.parametrize(("judgement", "fast", "slow"), [(RELEVANT, 3, 2), (IRRELEVANT, 1, 0)])
def test_behind_a_slow_server_a_fish_lives_shorter(judgement, fast, slow):
    def depth(seconds):
        [child] = Fish(slow_seconds=5).score(page(*links(1)), judgement, slow_lease(seconds))
        return child.depth_left

    assert (depth(5.0), depth(5.1)) == (fast, slow)


def test_a_path_ends_at_a_slow_server_when_it_was_about_to_end():
    assert list(Fish(slow_seconds=5).score(page(*links(1)), IRRELEVANT, slow_lease(9, depth_left=1))) == []


def test_by_default_the_speed_of_a_server_does_not_matter():
    [child] = Fish().score(page(*links(1)), IRRELEVANT, slow_lease(1000))
    assert child.depth_left == 1


def test_a_negative_time_is_refused():
    with pytest.raises(ValueError, match="slow_seconds"):
        Fish(slow_seconds=-1)
