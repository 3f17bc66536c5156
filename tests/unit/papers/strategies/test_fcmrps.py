"""FCMRPS: four signs, their weights, and the ablations of the paper."""

import pytest

from tests.unit.strategies.small_world import HERE, IRRELEVANT, RELEVANT, KnownAim, lease, page
from thresher.records import Link
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.fcmrps import Fcmrps

BELOW = "http://a.example/dir/sub/child"
AIM = KnownAim({"the page": 0.6, "good": 0.4, "around": 0.25}, {BELOW: 0.5})
LINK = Link(url=BELOW, anchor="good", context="around")


def scored(link=LINK, *, topic_profile=AIM, judgement=RELEVANT, url=HERE, **parameters):
    [candidate] = Fcmrps(topic_profile, **parameters).score(page(link, text="the page", url=url), judgement, lease())
    return candidate


def test_all_four_signs_weigh_the_same():
    candidate = scored()
    assert candidate.score == pytest.approx((0.6 + 0.4 + 0.5 + 0.4) / 4)
    assert candidate.breakdown == {"page": 0.6, "anchor": 0.4, "url": 0.5, "link type": 0.4}


@pytest.mark.parametrize(
    ("use", "RS"),
    [
        (1, 0.6),
        (2, 0.4),
        (3, 0.5),
        (13, (0.6 + 0.5) / 2),
        ("13", (0.6 + 0.5) / 2),
        (124, (0.6 + 0.4 + 0.4) / 3),
        ("all", (0.6 + 0.4 + 0.5 + 0.4) / 4),
    ],
)
def test_the_ablations_of_the_paper(use, RS):
    assert scored(use=use).score == pytest.approx(RS)


def test_weights_can_be_chosen():
    assert scored(weights=[3, 1, 0, 0]).score == pytest.approx(0.75 * 0.6 + 0.25 * 0.4)


def test_no_link_scores_above_85_hundredths():
    best = KnownAim({"the page": 1.0, "good": 1.0}, {BELOW: 1.0})
    assert scored(topic_profile=best).score == pytest.approx(0.85)


def test_the_words_around_count_when_the_anchor_says_nothing():
    assert scored(Link(url=BELOW, anchor="here", context="around")).breakdown["anchor"] == 0.25


def test_signs_are_read_on_irrelevant_pages_too():
    candidate = scored(judgement=IRRELEVANT)
    assert candidate.score == scored().score
    assert candidate.depth_left == 2


def test_the_url_of_the_papers_example_is_fully_relevant():
    sports, basketball = {"en": "Sports", "zh": "体育"}, {"en": "Basketball", "zh": "篮球"}
    link = Link(url="http://sports.sohu.com/lanqiu.shtml")
    candidate = scored(link, topic_profile=TopicProfile(labels=[[sports, basketball]]), use=3)
    assert candidate.score == pytest.approx(1)


@pytest.mark.parametrize("use", ["", "5", 15, "best"])
def test_an_unknown_sign_is_refused(use):
    with pytest.raises(ValueError, match="use must be all or some of the numbers 1234"):
        Fcmrps(AIM, use=use)


@pytest.mark.parametrize("weights", [[1, 1, 1], [1, 1, 1, -1], [0, 0, 0, 1]])
def test_impossible_weights_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        Fcmrps(AIM, weights=weights, use=123)
