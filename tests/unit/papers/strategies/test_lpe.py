"""LPE follows blocks that are about the topic, and links whose words are; CBP follows blocks alone."""

from math import log, sqrt

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, lease
from thresher.errors import ConfigError
from thresher.modelstate.codec import pack_values
from thresher.modelstate.folder import FolderStateStore
from thresher.records import Link, ParsedPage
from thresher.registry import make
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.cbp import ContentBlockPartition
from thresher_papers.strategies.lpe import LinkPriorityEvaluation

AIM = TopicProfile(vectors={"en": {"solar": 1.0, "cell": 1.0}})
# Four units are known after this page: the topic, and three blocks.
BLOCKS = ("solar cell", "solar tea garden pot", "tea garden pot")
PAGE = ParsedPage(
    url="http://a.example/",
    blocks=BLOCKS,
    links=(
        Link(url="http://a.example/1", anchor="more", context="things", block=0),
        Link(url="http://a.example/2", anchor="solar", context="cell", block=1),
        Link(url="http://a.example/3", anchor="tea", context="solar", block=2),
        Link(url="http://a.example/4", anchor="tea", context="pot", block=2),
    ),
)


def found(strategy, page=PAGE):
    return {candidate.url[-1]: candidate for candidate in strategy.score(page, IRRELEVANT, lease())}


def block_similarity():
    """The second block by hand: solar is in 3 of 4 units, cell and the three others in 2."""
    solar, other = log(5 / 3.5), log(5 / 2.5)
    return solar * solar / (sqrt(solar**2 + other**2) * sqrt(solar**2 + 3 * other**2))


def test_a_block_about_the_topic_hands_its_likeness_to_all_its_links():
    one = found(LinkPriorityEvaluation(AIM))["1"]
    assert (one.score, one.breakdown) == (pytest.approx(1.0), {"block": pytest.approx(1.0)})


def test_in_another_block_a_link_is_worth_its_own_words_and_those_around():
    # Anchors: solar in 2 of 4 units (the topic, solar, tea, tea; "more" has no term), cell in 1. Contexts: both in 2.
    solar, cell = log(5 / 2.5), log(5 / 1.5)
    sim_anchor, sim_context = solar / sqrt(solar**2 + cell**2), 1 / sqrt(2)
    two = found(LinkPriorityEvaluation(AIM))["2"]
    assert two.score == pytest.approx(0.5 * sim_anchor + 0.5 * sim_context)
    assert two.breakdown["block"] == pytest.approx(block_similarity())
    assert two.breakdown["anchor"] == pytest.approx(sim_anchor)


def test_links_that_nothing_speaks_for_are_dropped():
    assert list(found(LinkPriorityEvaluation(AIM))) == ["1", "2"]
    assert list(found(LinkPriorityEvaluation(AIM, threshold=0.3))) == ["1", "2", "3"]


def test_lambda_weighs_the_anchor_against_the_context():
    three = found(LinkPriorityEvaluation(AIM, threshold=0.0, anchor_weight=0.25))["3"]
    assert three.score == pytest.approx(0.75 / sqrt(2))


def test_cbp_follows_blocks_alone():
    assert list(found(ContentBlockPartition(AIM))) == ["1"]
    scores = found(ContentBlockPartition(AIM, threshold=0.0))
    assert scores["2"].score == pytest.approx(block_similarity())
    assert "3" not in scores


def test_a_link_of_an_unknown_block_is_no_fault():
    page = ParsedPage(url="http://a.example/", links=(Link(url="http://a.example/1", anchor="solar cell", block=3),))
    assert found(LinkPriorityEvaluation(AIM, threshold=0.4), page)["1"].score == pytest.approx(0.5)
    assert found(ContentBlockPartition(AIM), page) == {}


def test_seeds_start_on_top():
    assert [seed.score for seed in LinkPriorityEvaluation(AIM).seeds(["http://a.example/"])] == [1.0]


def test_what_was_counted_survives_a_restart(tmp_path):
    first = LinkPriorityEvaluation(AIM)
    first.load_state(FolderStateStore(tmp_path, "w1"))
    found(first)
    first.save_state()
    again = LinkPriorityEvaluation(AIM)
    again.load_state(FolderStateStore(tmp_path, "w1"))
    scores = {url: candidate.score for url, candidate in found(first).items()}
    assert {url: candidate.score for url, candidate in found(again).items()} == scores


def test_workers_add_up_what_they_counted(tmp_path):
    first = ContentBlockPartition(AIM, threshold=0.0)
    first.load_state(FolderStateStore(tmp_path, "w1"))
    found(first)
    first.save_state()
    second = ContentBlockPartition(AIM, threshold=0.0)
    second.load_state(FolderStateStore(tmp_path, "w2"))
    alone = ContentBlockPartition(AIM, threshold=0.0)
    assert found(second)["2"].score != pytest.approx(found(alone)["2"].score)


def test_a_damaged_entry_of_another_worker_is_left_out(tmp_path, caplog):
    FolderStateStore(tmp_path, "bad").write("lpe", b"nothing")
    FolderStateStore(tmp_path, "worse").write("lpe", pack_values({"worker": "x", "tables": {"blocks": {"N": 1}}}))
    LinkPriorityEvaluation(AIM).load_state(FolderStateStore(tmp_path, "w1"))
    assert caplog.text.count("left out") == 2


def test_a_weight_beyond_one_is_refused():
    with pytest.raises(ConfigError, match="anchor_weight"):
        make("strategy", "lpe", {"anchor_weight": 1.5}, AIM)


EXAMPLE = "http://e.example/"
EXAMPLES = TopicProfile(vectors={"en": {"solar": 1.0, "cell": 1.0}}, yes=frozenset([EXAMPLE]))
PEROVSKITE = ParsedPage(url=EXAMPLE, text="perovskite tandem perovskite", blocks=("perovskite tandem",))
LINKED = ParsedPage(
    url="http://a.example/", links=(Link(url="http://a.example/1", anchor="perovskite", context="tandem"),)
)


@pytest.mark.parametrize("strategy", [LinkPriorityEvaluation, ContentBlockPartition])
def test_without_example_pages_the_labels_are_the_topic(strategy):
    crawler = strategy(AIM)
    found(crawler, PEROVSKITE)
    assert found(crawler, LINKED) == {}


def test_an_example_page_adds_its_words_to_the_topic():
    crawler = LinkPriorityEvaluation(EXAMPLES)
    found(crawler, PEROVSKITE)
    assert found(crawler, LINKED)["1"].score > 0.5


def test_only_the_most_telling_terms_of_example_pages_count():
    crawler = LinkPriorityEvaluation(EXAMPLES, topic_terms=1, threshold=0.4)
    found(crawler, ParsedPage(url="http://b.example/", blocks=("tandem",) * 5))
    found(crawler, PEROVSKITE)
    assert found(crawler, LINKED)["1"].breakdown["context"] == 0.0


def test_example_pages_survive_a_restart(tmp_path):
    first = LinkPriorityEvaluation(EXAMPLES)
    first.load_state(FolderStateStore(tmp_path, "w1"))
    found(first, PEROVSKITE)
    first.save_state()
    again = LinkPriorityEvaluation(EXAMPLES)
    again.load_state(FolderStateStore(tmp_path, "w1"))
    assert "1" in found(again, LINKED)


def test_counts_of_an_earlier_version_are_read(tmp_path):
    tables = {name: {"N": 3, "n": {"tea": 2}} for name in ("blocks", "anchors", "contexts")}
    FolderStateStore(tmp_path, "w1").write("lpe", pack_values({"worker": "x", "tables": tables}))
    crawler = LinkPriorityEvaluation(AIM)
    crawler.load_state(FolderStateStore(tmp_path, "w1"))
    assert crawler._blocks.table.units == 3


def test_links_below_the_threshold_may_wait_behind_all_others():
    scores = found(LinkPriorityEvaluation(AIM, drop=False))
    assert list(scores) == ["1", "2", "3", "4"]
    assert min(scores["1"].score, scores["2"].score) > 0.5 >= scores["3"].score > scores["4"].score
    assert list(found(ContentBlockPartition(AIM, drop=False))) == ["1", "2", "3", "4"]
