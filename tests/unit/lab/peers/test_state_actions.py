"""The nine numbers of a link, by hand."""

import pytest

from tests.unit.strategies.small_world import page
from thresher.records import Link
from thresher.topics.profile import TopicProfile
from thresher_lab.peers.tres import INPUTS, NAMES, StateActions

AIM = TopicProfile(vectors={"en": {"solar": 1.0}}, phrases=["solar cells"])
PLAIN = Link(url="http://b.example/x", anchor="tea")
SOLAR = Link(url="http://b.example/solar-x", anchor="Solar cells")


def numbers(made, link, path=(0, 0, 0), reward=1.0):
    [sample] = made.expand(page(link), path, reward)
    return sample.x.tolist(), sample.path


def test_there_are_nine():
    assert INPUTS == len(NAMES) == 9


def test_a_link_of_a_relevant_page():
    x, path = numbers(StateActions(AIM), PLAIN, path=(1, 1, 2))
    assert x == [1, 1, pytest.approx(0.7), 0, 0, 0, 0.5, 1, 0]  # two of three relevant, one step away
    assert path == (2, 1, 1)


def test_a_link_of_an_irrelevant_page_is_further_away():
    x, path = numbers(StateActions(AIM), PLAIN, path=(1, 1, 1), reward=0.0)
    assert x[:3] == [0, 0.5, pytest.approx(0.3)]
    assert path == (1, 2, 2)


def test_words_of_the_topic_in_url_and_anchor():
    x, _ = numbers(StateActions(AIM), SOLAR)
    assert x[3:6] == [1, 1, 1]
    assert x[8] == pytest.approx(AIM.similarity("Solar cells"))


def test_what_is_known_of_a_host_is_renewed():
    made = StateActions(AIM)
    [sample] = made.expand(page(PLAIN), (0, 0, 0), 1.0)
    for reward in (1.0, 0.0, 0.0):
        made.visited("http://b.example/other", reward)
    made.renew(sample)
    assert sample.x[6:8].tolist() == [pytest.approx(0.3), 0]


def test_a_seed_has_no_path_and_its_title_for_an_anchor():
    sample = StateActions(AIM).seed("http://b.example/", "Solar")
    assert sample.x.tolist() == [0, 0, 0, 0, 1, 0, 1, 0, pytest.approx(AIM.similarity("Solar"))]
