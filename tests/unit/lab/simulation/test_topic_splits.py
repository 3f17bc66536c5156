"""The split of topics is drawn by its rule, and no topic is on both sides."""

import json
from importlib import resources

import pytest

from thresher.errors import ConfigError
from thresher_lab.simulation.topic_splits import (
    ARCHIPELAGO_TOPICS,
    MAX_TARGETS,
    MIN_TARGETS,
    draw,
    eligible,
    gather,
    split,
)
from thresher_lab.webs.archipelago import PARTS

CONTENT = json.loads((resources.files("thresher_lab.simulation") / "splits.json").read_text(encoding="utf-8"))
ISLANDS = [web for web in CONTENT["webs"] if web != "archipelago"]


def pages(first, count):
    return frozenset(range(first, first + count))


def test_every_web_has_a_split_and_the_file_says_how_it_was_drawn():
    assert set(ISLANDS) == set(PARTS)
    assert "random.Random('thresher splits 1: <web>')" in CONTENT["rule"]


@pytest.mark.parametrize("web", ISLANDS)
def test_the_lists_are_what_the_rule_draws(web):
    assert draw(web, [*split(web, "dev"), *split(web, "test")]) == {
        "dev": split(web, "dev"),
        "test": split(web, "test"),
    }


@pytest.mark.parametrize("web", ISLANDS)
def test_one_topic_in_three_is_for_making_strategies(web):
    dev, test = split(web, "dev"), split(web, "test")
    assert not set(dev) & set(test)
    assert len(dev) == round((len(dev) + len(test)) / 3)
    assert all(MIN_TARGETS <= count <= MAX_TARGETS for side in CONTENT["webs"][web].values() for count in side.values())


def test_wikispeedia_has_enough_topics_to_conclude_from():
    assert len(split("wikispeedia", "dev")) >= 10
    assert len(split("wikispeedia", "test")) >= 20


def test_a_topic_of_the_archipelago_is_on_the_side_it_has_at_home():
    islands = {island: {side: split(island, side) for side in ARCHIPELAGO_TOPICS} for island in PARTS}
    assert gather(islands) == {side: split("archipelago", side) for side in ARCHIPELAGO_TOPICS}


def test_a_wider_view_of_a_web_has_the_topics_of_the_web():
    assert split("webkb+misc", "test") == split("webkb", "test")


def test_a_list_can_be_changed_without_harm():
    split("webkb", "dev").clear()
    assert split("webkb", "dev")


def test_a_web_without_a_split_is_an_error_that_names_those_with_one():
    with pytest.raises(ConfigError, match=r"no dev topics .* 'mine'.*wikispeedia.*name the topics"):
        split("mine", "dev")


def test_topics_of_a_fair_size_and_level_take_part():
    topics = {
        "small": pages(0, 19),
        "alone": pages(100, 20),
        "other": pages(200, 30),
        "large": pages(1000, 801),
        "Science": pages(3000, 90),
        "Science/Physics": pages(3000, 40),
        "Science/Physics/Planets": pages(3000, 20),
    }
    assert eligible(topics) == ["Science/Physics", "alone"]


def test_the_smaller_of_two_topics_that_share_half_its_pages_is_left_out():
    topics = {"history": pages(0, 100), "kings": pages(61, 80), "queens": pages(80, 40), "ships": pages(200, 20)}
    assert eligible(topics) == ["history", "kings", "ships"]
