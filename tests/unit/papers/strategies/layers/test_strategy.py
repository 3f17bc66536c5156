"""Hot words open the first queue; inside a queue anchors decide."""

import pytest

from tests.unit.papers.strategies.layered_world import MODEL
from tests.unit.strategies.small_world import IRRELEVANT, lease, page
from thresher.errors import ConfigError
from thresher.records import Link, Merge
from thresher.registry import make
from thresher.topics.profile import TopicProfile


@pytest.fixture
def strategy(tmp_path):
    MODEL.save(tmp_path)
    topic_profile = TopicProfile(model=tmp_path, phrases=["solar cells", "碩士班甄試"])
    return lambda **parameters: make("strategy", "layers", parameters, topic_profile)


def place(strategy, anchor, text="index"):
    [candidate] = strategy.score(page(Link(url="http://a.example/", anchor=anchor), text=text), IRRELEVANT, lease())
    return candidate


def test_a_link_waits_by_queue_layer_and_similarity(strategy):
    found = place(strategy(), "index")
    assert found.score == pytest.approx(((3 - 1) * 4 + (3 - 1) + 0.5) / 16)
    assert found.breakdown["queue"] == 1.0
    assert (found.breakdown["link layer"], found.breakdown["sim"]) == (1.0, pytest.approx(0.5))


def test_a_hot_word_opens_the_first_queue(strategy):
    found = place(strategy(), "solar", text="tea")
    assert found.breakdown["queue"] == 0.0
    assert found.score == pytest.approx((3 * 4 + 3 + 0.8) / 16)


def test_the_papers_pair_of_words_shares_one_pair_of_characters(tmp_path):
    MODEL.save(tmp_path)
    topic_profile = TopicProfile(model=tmp_path, phrases=["碩士班甄試"])
    found = place(make("strategy", "layers", {}, topic_profile), "研究所甄試", text="tea")
    assert found.breakdown["hot word"] == pytest.approx(0.25)
    assert found.breakdown["queue"] == 0.0
    assert (
        place(make("strategy", "layers", {"theta_h": 0.25}, topic_profile), "研究所甄試", text="tea").breakdown["queue"]
        == 3.0
    )


def test_without_a_hot_word_the_page_decides(strategy):
    assert place(strategy(), "tea", text="solar").breakdown["queue"] == 0.0
    assert place(strategy(), "tea", text="tea").breakdown["queue"] == 3.0


def test_an_anchor_like_none_stands_at_the_end_of_its_queue(strategy):
    assert place(strategy(), "unknown").score == pytest.approx((3 - 1) * 4 / 16)


def test_seeds_start_above_all_queues_or_as_in_the_paper_in_the_last(strategy):
    assert [seed.score for seed in strategy().seeds(["http://a.example/"])] == [1.0]
    assert [seed.score for seed in strategy(seeds_last=True).seeds(["http://a.example/"])] == [0.0]
    assert strategy().merge is Merge.FIRST


def test_it_must_be_trained(tmp_path):
    with pytest.raises(ConfigError, match="thresher train"):
        make("strategy", "layers", {}, TopicProfile(model=tmp_path / "model" / "trained"))
