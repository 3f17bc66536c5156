"""A population of agents: who lives chooses one link, and nobody goes where somebody was."""

from collections import Counter

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, links, page
from thresher.modelstate.folder import FolderStateStore
from thresher.records import Link
from thresher.strategies.base import HandlesMisses, Stateful
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.infospiders import LAST, MAX_PASSED, ROUNDS_LOST, InfoSpider, InfoSpiders

AIM = TopicProfile(vectors={"en": {"jazz": 1.0}})


def agent(energy=0.5, **fields):
    return InfoSpider(energy=energy, genotype={"jazz": 1.0}, **fields).strategy_data()


def crawl(strategy, strategy_data, judgement=IRRELEVANT, found=None, url="http://a.example/here"):
    """Score one page; return what agents chose, and where new ones might start."""
    found = links(20) if found is None else found
    candidates = list(strategy.score(page(*found, url=url), judgement, lease(strategy_data=strategy_data, url=url)))
    chosen = [candidate for candidate in candidates if candidate.score > LAST + 1]
    return chosen, [candidate for candidate in candidates if candidate.score <= LAST + 1]


def test_the_first_agents_are_shared_out_among_the_seeds():
    assert [seed.strategy_data["agents"] for seed in InfoSpiders(AIM).seeds(["a", "b", "c"])] == [4, 3, 3]
    assert [seed.strategy_data["agents"] for seed in InfoSpiders(AIM).seeds(list("abcdefghijkl"))] == [1] * 12


def test_every_agent_on_a_seed_goes_its_own_way():
    chosen, _ = crawl(InfoSpiders(AIM), {"agents": 4})
    assert len({candidate.url for candidate in chosen}) == 4
    assert {candidate.score for candidate in chosen} == {-1.0}


def test_who_starts_on_a_page_neither_pays_nor_gains():
    [candidate], _ = crawl(InfoSpiders(AIM), {"agents": 1}, RELEVANT)
    assert candidate.strategy_data["energy"] == 0.5


def test_an_agent_pays_for_a_page_and_goes_on_one_round_later():
    [candidate], _ = crawl(InfoSpiders(AIM), agent(round=7))
    assert candidate.score == -8
    assert candidate.strategy_data["energy"] == 0.4
    assert candidate.breakdown == {"round": 8, "estimate": 0.5, "energy": 0.4}


def test_an_agent_without_energy_dies():
    chosen, _ = crawl(InfoSpiders(AIM), agent(energy=0.1))
    assert chosen == []


def test_a_well_fed_agent_splits_in_two():
    chosen, _ = crawl(InfoSpiders(AIM), agent(), RELEVANT)
    assert [candidate.strategy_data["energy"] for candidate in chosen] == [0.7, 0.7]


def test_there_are_never_too_many_agents():
    strategy = InfoSpiders(AIM, most_agents=3)
    crawl(strategy, {"agents": 2})
    chosen, _ = crawl(strategy, agent(), RELEVANT)
    assert [candidate.strategy_data["energy"] for candidate in chosen] == [1.4]
    chosen, _ = crawl(strategy, {})
    assert chosen == []


def test_agents_whose_pages_never_came_are_given_up():
    strategy = InfoSpiders(AIM, most_agents=3)
    crawl(strategy, {"agents": 3})
    chosen, _ = crawl(strategy, agent(round=ROUNDS_LOST + 2), RELEVANT)
    assert len(chosen) == 2


def test_at_a_dead_end_an_agent_takes_the_best_link_that_it_passed_over():
    strategy = InfoSpiders(AIM)
    [candidate], _ = crawl(strategy, agent(), found=[*links(3), Link(url="http://a.example/jazz", anchor="jazz")])
    best = candidate.strategy_data["passed"][0][0]
    [again], _ = crawl(strategy, candidate.strategy_data, found=[], url=candidate.url)
    assert again.url == best


def test_at_a_dead_end_without_a_link_in_mind_it_dies():
    assert crawl(InfoSpiders(AIM), agent(), found=[]) == ([], [])


def test_a_page_that_never_comes_costs_as_much_as_any_other_and_the_agent_goes_on():
    strategy = InfoSpiders(AIM)
    assert isinstance(strategy, HandlesMisses)
    [candidate], _ = crawl(strategy, agent(), found=[*links(3), Link(url="http://a.example/jazz", anchor="jazz")])
    [again] = strategy.on_miss(lease(strategy_data=candidate.strategy_data, url=candidate.url))
    assert again.url == candidate.strategy_data["passed"][0][0]
    assert (candidate.strategy_data["energy"], again.strategy_data["energy"], again.score) == (0.4, 0.3, -2.0)


def test_an_agent_dies_of_pages_that_never_come():
    strategy = InfoSpiders(AIM)
    [candidate], _ = crawl(strategy, agent(energy=0.2))
    assert list(strategy.on_miss(lease(strategy_data=candidate.strategy_data, url=candidate.url))) == []


def test_from_a_seed_that_never_comes_nobody_goes_on():
    assert list(InfoSpiders(AIM).on_miss(lease(strategy_data={"agents": 4}))) == []


def test_a_page_that_never_came_makes_room_for_another_agent():
    strategy = InfoSpiders(AIM, most_agents=2)
    first, _ = crawl(strategy, {"agents": 2}, found=links(2))
    for candidate in first:
        list(strategy.on_miss(lease(strategy_data={**candidate.strategy_data, "energy": 0.1}, url=candidate.url)))
    chosen, _ = crawl(strategy, {}, found=[Link(url="http://a.example/new")])
    assert len(chosen) == 1


def test_nobody_goes_where_somebody_was():
    strategy = InfoSpiders(AIM)
    urls = [crawl(strategy, agent(), found=links(3))[0][0].url for _ in range(3)]
    assert len(set(urls)) == 3
    assert crawl(strategy, agent(), found=links(3)) == ([], [])


def test_nobody_goes_to_what_is_no_page():
    assert crawl(InfoSpiders(AIM), agent(), found=[Link(url="http://a.example/photo.jpg")]) == ([], [])


def test_a_link_of_higher_estimate_is_chosen_more_often():
    found = [*links(9), Link(url="http://a.example/jazz", anchor="jazz")]
    chosen = Counter(
        crawl(InfoSpiders(AIM), agent(), found=found, url=f"http://b.example/{n}")[0][0].url for n in range(500)
    )
    # exp(5 * .7311) against nine times exp(5 * .5): 26 in 100
    assert chosen["http://a.example/jazz"] / 500 == pytest.approx(0.26, abs=0.06)


def test_a_sure_agent_always_takes_the_best_link():
    found = [*links(9), Link(url="http://a.example/jazz", anchor="jazz")]
    [candidate], _ = crawl(InfoSpiders(AIM, beta=200.0), agent(), found=found)
    assert candidate.url == "http://a.example/jazz"


def test_the_same_state_makes_the_same_choices():
    one, same, other = (InfoSpiders(AIM, random_state=state) for state in (1, 1, 2))
    first = [[candidate.url for candidate in crawl(each, {"agents": 5})[0]] for each in (one, same, other)]
    assert first[0] == first[1] != first[2]


def test_new_agents_may_start_at_the_best_links_left_over_when_no_other_is_left():
    found = [*links(9), Link(url="http://a.example/jazz", anchor="jazz")]
    _, left = crawl(InfoSpiders(AIM), agent(energy=0.1), found=found)
    assert len(left) == MAX_PASSED
    assert left[0].url == "http://a.example/jazz"
    assert {candidate.score for candidate in left} == {LAST}
    _, better = crawl(InfoSpiders(AIM), agent(), RELEVANT)
    assert {candidate.score for candidate in better} == {LAST + 1}


def test_a_new_agent_joins_the_round_of_the_others():
    strategy = InfoSpiders(AIM)
    crawl(strategy, agent(round=41))
    [candidate], _ = crawl(strategy, {})
    assert candidate.score == -42
    assert candidate.strategy_data["energy"] == 0.5


def test_where_somebody_was_is_known_after_a_restart_and_to_other_workers(tmp_path):
    strategy = InfoSpiders(AIM)
    assert isinstance(strategy, Stateful)
    strategy.load_state(FolderStateStore(tmp_path, "one"))
    crawl(strategy, {"agents": 3}, found=links(3))
    strategy.save_state()
    for worker in ("one", "two"):
        again = InfoSpiders(AIM)
        again.load_state(FolderStateStore(tmp_path, worker))
        assert crawl(again, agent(), found=links(3)) == ([], [])


def test_a_restart_makes_the_same_choices(tmp_path):
    strategy, again = InfoSpiders(AIM), InfoSpiders(AIM)
    strategy.load_state(FolderStateStore(tmp_path, "one"))
    [candidate], _ = crawl(strategy, agent())
    strategy.save_state()
    again.load_state(FolderStateStore(tmp_path, "one"))
    assert crawl(again, candidate.strategy_data, url=candidate.url) == crawl(
        strategy, candidate.strategy_data, url=candidate.url
    )
