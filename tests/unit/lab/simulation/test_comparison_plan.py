"""Names are checked before the first crawl."""

import pytest

from tests.unit.lab.small_web import tea_and_solar
from thresher import registry
from thresher.errors import ConfigError, UnknownName
from thresher_lab.simulation.comparison_plan import ComparisonPlan, Contender, checked_strategies, chosen_topics


def plan(*strategies, **more):
    common = {"web": "small", "topics": ["energy"], "judges": ["perfect"], "seed_sets": 1, "seeds": 2, "pages": 9}
    return ComparisonPlan(**{**common, "strategies": checked_strategies(strategies), **more})


def test_all_stands_for_every_strategy_and_the_oracle():
    assert [each.strategy for each in checked_strategies(["all"])] == [*registry.known("strategy"), "oracle"]
    assert checked_strategies(["fish", "all"])[0].strategy == "fish"


def test_upper_bounds_are_named_like_strategies():
    names = ["labels-known", "reads-paragraph", "reads-link-text"]
    assert [each.strategy for each in checked_strategies(names)] == names
    with pytest.raises(UnknownName, match="labels-known"):
        checked_strategies(["labels-knwon"])


def test_parameters_stand_behind_a_name_in_brackets():
    [lpe, plain] = checked_strategies(["lpe(threshold=0.1, anchor_weight=1)", "lpe"])
    assert lpe == Contender(strategy="lpe", parameters={"threshold": 0.1, "anchor_weight": 1})
    assert plain == Contender(strategy="lpe")
    with pytest.raises(ConfigError, match="strategy lpe has no parameter 'thresh'"):
        checked_strategies(["lpe(thresh=0.1)"])
    with pytest.raises(UnknownName):
        checked_strategies(["lqe(threshold=0.1)"])


def test_where_one_strategy_must_be_trained_pages_are_set_aside_for_all():
    assert {each.training for each in plan("breadth-first", "layers").tasks()} == {0.3}
    assert {each.training for each in plan("breadth-first").tasks()} == {0.0}
    assert {each.training for each in plan("breadth-first", training=0.3).tasks()} == {0.3}


def test_every_crawl_may_take_as_much_from_a_host():
    assert [each.host_pages for each in plan("breadth-first", "fish", host_pages=10).tasks()] == [10, 10]


def test_every_crawl_starts_at_the_same_distance():
    assert [each.distance for each in plan("breadth-first", "fish", distance=2).tasks()] == [2, 2]


def test_a_side_of_the_split_may_be_cut_short():
    web = tea_and_solar()
    web.name = "wikispeedia"
    with pytest.raises(UnknownName, match="Everyday_life/Films"):
        chosen_topics(web, ["dev:1"], seeds=2)
    with pytest.raises(UnknownName, match="dev:x"):
        chosen_topics(web, ["dev:x"], seeds=2)
