"""Learning anchor: what a link is worth before and after its words are known, and what makes an example."""

from dataclasses import replace

import pytest

from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, page, verdict
from thresher.modelstate.codec import pack_values
from thresher.modelstate.folder import FolderStateStore
from thresher.records import Link
from thresher.strategies.base import Batched, Stateful
from thresher_papers.strategies import learning_anchor
from thresher_papers.strategies.learning_anchor import STATE_KIND, LearningAnchor, new_threshold

JAZZ = Link(url="http://a.example/jazz", anchor="jazz")
BARE = Link(url="http://a.example/bare")


def score(strategy, link=JAZZ, judgement=RELEVANT, strategy_data=None):
    [candidate] = strategy.score(page(link), judgement, lease(strategy_data=strategy_data))
    return candidate


def led(strategy, anchor, relevant, **strategy_data):
    """Let a link with this anchor lead to a page."""
    list(
        strategy.score(
            page(), RELEVANT if relevant else IRRELEVANT, lease(strategy_data={"anchor": anchor, **strategy_data})
        )
    )


def trained(**parameters):
    """Give a strategy that has learned from two links: jazz music is relevant, football is not."""
    strategy = LearningAnchor(first_examples=1, retrain_every=100, **parameters)
    led(strategy, "jazz music", True)
    led(strategy, "football", False)
    return strategy


def test_before_the_first_training_the_page_decides():
    candidate = score(LearningAnchor(), judgement=verdict(True, 0.6))
    assert candidate.score == 0.6
    assert candidate.strategy_data == {"anchor": "jazz"}


def test_page_and_anchor_are_weighed_by_the_factor():
    candidate = score(trained(), judgement=verdict(True, 0.6))
    assert candidate.breakdown == {"page": 0.6, "anchor": pytest.approx(0.6154, abs=1e-4)}
    assert candidate.score == pytest.approx(0.5 * 0.6 + 0.5 * 0.6154, abs=1e-4)
    assert score(trained(factor=0.2), judgement=IRRELEVANT).score == pytest.approx(0.8 * 0.6154, abs=1e-4)


def test_a_link_without_words_is_worth_its_page():
    candidate = score(trained(), BARE, verdict(True, 0.6))
    assert candidate.score == 0.6


def test_anchor_and_score_ride_on_the_link():
    strategy_data = score(trained()).strategy_data
    assert strategy_data["anchor"] == "jazz"
    assert strategy_data["anchor_score"] == pytest.approx(0.6154, abs=1e-4)


def test_only_the_beginning_of_a_long_anchor_rides_on_the_link():
    link = Link(url="http://a.example/", anchor="x" * 1000)
    assert score(LearningAnchor(), link).strategy_data == {"anchor": "x" * 200}


def test_the_first_training_comes_with_enough_examples_of_both_kinds():
    strategy = LearningAnchor(first_examples=2)
    for anchor, relevant in [("jazz", True), ("football", False), ("tennis", False)]:
        led(strategy, anchor, relevant)
    assert "anchor" not in score(strategy).breakdown
    led(strategy, "opera", True)
    assert "anchor" in score(strategy).breakdown


def test_later_trainings_come_after_the_set_number_of_examples():
    strategy = LearningAnchor(first_examples=1, retrain_every=2)
    led(strategy, "jazz music", True)
    led(strategy, "football", False)
    first = score(strategy).breakdown["anchor"]
    led(strategy, "jazz", False)
    assert score(strategy).breakdown["anchor"] == first
    led(strategy, "jazz", False)
    assert score(strategy).breakdown["anchor"] < first


def examples(strategy):
    return strategy._classifier.state()["examples"]


def test_every_link_with_a_known_target_is_an_example_however_unsure_its_score():
    strategy = trained()
    strategy._threshold = 0.9
    led(strategy, "jazz", False, anchor_score=0.5)
    assert examples(strategy) == [1, 2]


def test_pseudo_labels_must_lie_beyond_the_threshold():
    strategy = trained(pseudo_labels=True)
    strategy._threshold = 0.5
    score(strategy)  # .6154: |2p - 1| = .23
    assert examples(strategy) == [1, 1]
    strategy._threshold = 0.2
    score(strategy)
    assert examples(strategy) == [2, 1]


def test_links_without_words_and_seeds_are_no_examples():
    strategy = LearningAnchor()
    led(strategy, "", True)
    list(strategy.score(page(), RELEVANT, lease()))
    assert examples(strategy) == [0, 0]


def test_pseudo_labels_take_confident_links_at_once_and_by_their_own_score():
    strategy = trained(pseudo_labels=True)
    list(strategy.score(page(JAZZ), IRRELEVANT, lease()))
    assert examples(strategy) == [2, 1]
    led(strategy, "jazz", False, anchor_score=0.9)
    assert examples(strategy) == [2, 1]


def test_the_new_threshold_is_the_least_from_which_scores_were_right():
    known = [(0.95, True), (0.1, False), (0.7, False), (0.6, True)]  # right at .9 and .8, wrong at .4, right at .2
    assert new_threshold(known, 0.9, old=0.3) == pytest.approx(0.8)
    assert new_threshold(known, 0.75, old=0.3) == pytest.approx(0.2)


def test_equal_scores_stand_or_fall_together():
    assert new_threshold([(0.9, True), (0.9, False)], 0.9, old=0.3) == 0.3


def test_the_old_threshold_stays_when_scores_are_not_right_often_enough():
    assert new_threshold([], 0.9, old=0.3) == 0.3
    assert new_threshold([(0.9, False)], 0.9, old=0.3) == 0.3


def test_in_batches_an_earlier_generation_comes_first_and_training_waits_for_the_next():
    strategy = LearningAnchor(batch="all", first_examples=1)
    for anchor, relevant in [("jazz music", True), ("football", False)]:
        led(strategy, anchor, relevant)
    first = score(strategy)
    assert (first.score, first.strategy_data) == (pytest.approx(0, abs=1e-5), {"anchor": "jazz", "generation": 1})
    second = score(strategy, strategy_data=first.strategy_data)
    assert second.strategy_data["generation"] == 2
    assert second.breakdown["anchor"] > 0.5
    assert second.score < first.score


def test_in_batches_of_a_number_links_wait_below_zero_and_training_comes_between_batches():
    strategy = LearningAnchor(batch=50, first_examples=1)
    assert isinstance(strategy, Batched)
    for anchor, relevant in [("jazz music", True), ("football", False)]:
        led(strategy, anchor, relevant)
    during = score(strategy, judgement=verdict(True, 0.6))
    assert (during.score, during.breakdown) == (pytest.approx(0.6 - 1), {"page": 0.6})
    [after] = strategy.score(page(JAZZ), verdict(True, 0.6), replace(lease(), score=-0.2))
    assert after.score == pytest.approx(0.5 * 0.6 + 0.5 * 0.6154 - 1, abs=1e-4)


def test_a_batch_whose_first_link_is_dead_is_trained_on_after_as_many_examples():
    strategy = LearningAnchor(batch=2, first_examples=1)
    led(strategy, "jazz music", True)
    assert "anchor" not in score(strategy).breakdown
    led(strategy, "football", False)
    assert "anchor" in score(strategy).breakdown


def test_a_restart_gives_the_same_scores(tmp_path):
    strategy, again = trained(), LearningAnchor(first_examples=1)
    assert isinstance(strategy, Stateful)
    strategy.load_state(FolderStateStore(tmp_path, "one"))
    strategy.save_state()
    again.load_state(FolderStateStore(tmp_path, "one"))
    assert score(again) == score(strategy)


def test_a_restart_trains_on_all_examples(tmp_path):
    strategy, again = trained(), LearningAnchor(first_examples=1)
    strategy.load_state(FolderStateStore(tmp_path, "one"))
    led(strategy, "jazz", True, anchor_score=0.9)
    strategy.save_state()
    again.load_state(FolderStateStore(tmp_path, "one"))
    assert score(again).breakdown["anchor"] > score(strategy).breakdown["anchor"]
    assert again._known == strategy._known


def test_workers_add_up_where_anchors_led(tmp_path):
    one, two = LearningAnchor(first_examples=1), LearningAnchor(first_examples=1)
    one.load_state(FolderStateStore(tmp_path, "one"))
    two.load_state(FolderStateStore(tmp_path, "two"))
    led(one, "jazz music", True)
    one.save_state()
    led(two, "football", False)
    assert score(two) == score(trained())


def test_what_another_worker_wrote_is_replaced_and_never_added_twice(tmp_path):
    one, two = trained(), LearningAnchor(first_examples=1)
    one.load_state(FolderStateStore(tmp_path, "one"))
    for _ in range(3):
        one.save_state()
        two.load_state(FolderStateStore(tmp_path, "two"))
    assert two._classifier.examples == 2


def test_examples_of_others_bring_the_next_training_forward(tmp_path):
    one, two = trained(), LearningAnchor(first_examples=1, retrain_every=10)
    two.load_state(FolderStateStore(tmp_path, "two"))
    led(two, "jazz music", True)
    led(two, "football", False)
    before = score(two).breakdown["anchor"]
    for _ in range(20):
        led(one, "jazz", True)
    one.load_state(FolderStateStore(tmp_path, "one"))
    one.save_state()
    led(two, "tennis", False)
    assert score(two).breakdown["anchor"] > before


def test_a_damaged_entry_of_another_worker_is_left_out(tmp_path, caplog):
    FolderStateStore(tmp_path, "bad").write(STATE_KIND, b"nothing")
    FolderStateStore(tmp_path, "worse").write(
        STATE_KIND, pack_values({"worker": "x", "known": [], "classifier": {"examples": [-1, 2], "terms": {}}})
    )
    strategy = trained()
    strategy.load_state(FolderStateStore(tmp_path, "one"))
    assert caplog.text.count("left out") == 2
    assert examples(strategy) == [1, 1]


@pytest.mark.parametrize("parameters", [{"factor": 1.5}, {"batch": "some"}, {"first_examples": 0}])
def test_parameters_without_sense_are_refused(parameters):
    with pytest.raises(ValueError, match="must"):
        LearningAnchor(**parameters)


def test_waiting_links_are_scored_again_after_a_training():
    strategy = LearningAnchor(first_examples=1, retrain_every=2)
    before = score(strategy, judgement=verdict(True, 0.6)).score
    assert strategy.revise([]) == {}
    led(strategy, "jazz music", True)
    led(strategy, "football", False)
    change = strategy.revise([])[JAZZ.url]
    assert (change.was, change.now) == (before, pytest.approx(0.5 * 0.6 + 0.5 * 0.6154, abs=1e-4))
    assert strategy.revise([]) == {}


def test_a_fetched_link_is_not_scored_again():
    strategy = LearningAnchor(first_examples=1, retrain_every=2)
    score(strategy)
    list(strategy.score(page(), RELEVANT, lease(url=JAZZ.url, strategy_data={"anchor": "jazz"})))
    led(strategy, "football", False)
    assert JAZZ.url not in strategy.revise([])


def test_a_link_that_waits_for_a_batch_stays_below_the_ready_ones():
    strategy = LearningAnchor(first_examples=1, retrain_every=2, batch=2)
    score(strategy)
    led(strategy, "jazz music", True)
    led(strategy, "football", False)
    led(strategy, "football", False)
    assert all(change.now < 0 for change in strategy.revise([]).values())


def test_a_generation_once_sorted_keeps_its_order():
    strategy = LearningAnchor(first_examples=1, batch="all")
    score(strategy)
    list(strategy.score(page(), RELEVANT, lease(strategy_data={"anchor": "jazz", "generation": 1})))
    list(strategy.score(page(), IRRELEVANT, lease(strategy_data={"anchor": "football", "generation": 2})))
    list(strategy.score(page(), IRRELEVANT, lease(strategy_data={"anchor": "football", "generation": 3})))
    assert strategy.revise([]) == {}


def test_the_links_that_are_remembered_are_limited(monkeypatch):
    monkeypatch.setattr(learning_anchor, "MAX_WAITING", 2)
    strategy = LearningAnchor(first_examples=1, retrain_every=2)
    for number in range(3):
        score(strategy, Link(url=f"http://a.example/{number}", anchor="jazz"), verdict(True, 0.6))
    led(strategy, "jazz music", True)
    led(strategy, "football", False)
    assert set(strategy.revise([])) == {"http://a.example/1", "http://a.example/2"}
