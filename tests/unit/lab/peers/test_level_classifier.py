"""Levels by the words of links: which words are features, and what they say."""

from thresher.records import Link
from thresher_lab.peers.level_classifier import LevelClassifier, Neighbourhood, neighbourhood

SOLAR = Neighbourhood.of("http://a.com/solar/x", "solar cells", "on a roof")
HUB = Neighbourhood.of("http://a.com/list", "all topics", "more of them")
FAR = Neighbourhood.of("http://a.org/home", "start page", "welcome reader")
SAMPLES = [[SOLAR] * 3, [HUB] * 3, [FAR] * 3]


def test_the_words_of_a_link_are_those_of_its_url_its_anchor_and_around_it():
    near = neighbourhood(Link(url="http://a.com/solar-power", anchor="Cells", context="roofs"))
    assert near == Neighbourhood(("host_com", "solar", "power"), ("cell",), ("roof",))


def test_the_likeliest_level_is_that_of_like_links():
    levels = LevelClassifier.train(SAMPLES).levels([SOLAR, HUB, FAR])
    assert [each.index(max(each)) for each in levels] == [0, 1, 2]
    assert all(abs(sum(each) - 1) < 1e-9 for each in levels)


def test_words_near_a_single_link_are_no_features():
    odd = Neighbourhood.of("http://a.com/odd", "odd", "")
    classifier = LevelClassifier.train([[SOLAR, SOLAR, odd], [HUB], []])
    assert ("anchor", "solar") in classifier._numbers
    assert ("anchor", "odd") not in classifier._numbers


def test_nothing_is_learned_from_one_level():
    assert LevelClassifier.train([[SOLAR], [], []]) is None
    assert LevelClassifier.train([[], [HUB], []]) is None


def test_what_was_learned_can_be_taken_up():
    classifier = LevelClassifier.train(SAMPLES)
    again = LevelClassifier.from_state(classifier.state())
    assert again.levels([SOLAR, HUB]) == classifier.levels([SOLAR, HUB])
