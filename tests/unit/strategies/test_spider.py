"""One agent: its estimates, its meals, its children, with numbers computed by hand."""

import json

import pytest

from thresher.records import Link
from thresher_papers.strategies.infospiders import MAX_KEYWORDS, MAX_PASSED, InfoSpider, Prospect, clues_of

JAZZ = InfoSpider(energy=0.5, genotype={"jazz": 1.0})


def test_words_of_the_anchor_are_nearest():
    assert clues_of(Link(url="", anchor="jazz club"), {"jazz": 1.0}) == {"jazz": 1.0}


def test_words_around_a_link_count_by_their_distance():
    link = Link(url="", context="jazz cafe opera house")  # the link stands between cafe and opera
    assert clues_of(link, dict.fromkeys(["jazz", "opera"], 1.0)) == {
        "jazz": pytest.approx(1 / 3, abs=1e-4),
        "opera": 0.5,
    }


def test_every_occurrence_counts():
    assert clues_of(Link(url="", anchor="jazz", context="jazz jazz"), {"jazz": 1.0}) == {"jazz": 2.0}


def test_an_estimate_is_the_logistic_of_the_weighted_clues():
    [plain, good] = JAZZ.estimate_links([Link(url="a", anchor="football"), Link(url="b", anchor="jazz")])
    assert (plain.estimate, good.estimate) == (0.5, 0.7311)


def test_a_page_linked_twice_is_seen_at_its_best():
    [found] = JAZZ.estimate_links([Link(url="a"), Link(url="a", anchor="jazz"), Link(url="a")])
    assert found.estimate == 0.7311


def test_it_starves_after_five_pages_of_nothing():
    spider = JAZZ
    for _ in range(5):
        assert spider.energy > 0
        spider = spider.eat(0.0, cost=0.1)
    assert spider.energy == 0


def test_it_learns_one_step_from_what_it_expected():
    came = JAZZ.go_to(Prospect("b", 0.7311, {"jazz": 1.0}), [])
    assert came.learn(1.0, rate=0.5).genotype == {"jazz": pytest.approx(1 + 0.5 * 0.2689, abs=1e-4)}
    assert came.learn(0.0, rate=0.5).genotype == {"jazz": pytest.approx(1 - 0.5 * 0.7311, abs=1e-4)}


def test_weights_stay_within_bounds():
    came = JAZZ.go_to(Prospect("b", 0.0, {"jazz": 1e6}), [])
    assert came.learn(1.0, rate=0.5).genotype == {"jazz": 10.0}


def test_parent_and_child_share_the_energy():
    parent, child = JAZZ.eat(1.0, cost=0.1).split({})
    assert (parent.energy, child.energy) == (0.7, 0.7)


def test_the_child_goes_by_the_most_frequent_new_term_too():
    parent, child = JAZZ.split({"jazz": 9, "club": 4, "night": 1})
    assert parent.genotype == {"jazz": 1.0}
    assert child.genotype == {"jazz": 1.0, "club": 1.0}


def test_a_full_genotype_gives_up_its_weakest_keyword():
    genotype = {f"word{number}": number + 1.0 for number in range(MAX_KEYWORDS)}
    _, child = InfoSpider(energy=2.0, genotype=genotype).split({"club": 1})
    assert len(child.genotype) == MAX_KEYWORDS
    assert "club" in child.genotype
    assert "word0" not in child.genotype


def test_it_remembers_the_best_links_that_it_passed_over():
    others = [Prospect(f"link{number}", number / 10, {}) for number in range(8)]
    gone = JAZZ.go_to(others[7], others)
    assert [one.url for one in gone.passed] == ["link6", "link5", "link4", "link3", "link2"]
    assert len(gone.passed) == MAX_PASSED
    assert gone.round == 1


def test_it_rides_on_a_url_as_small_json():
    gone = JAZZ.go_to(Prospect("b", 0.7311, {"jazz": 1.0}), [Prospect("c", 0.6, {"jazz": 0.5})])
    written = json.dumps(gone.strategy_data())
    assert InfoSpider.from_strategy_data(json.loads(written)) == gone
    assert len(written) < 2000
