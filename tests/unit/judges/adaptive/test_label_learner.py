"""Labels move pages like the labelled ones, and all pages a little; the effect is bounded and can be withdrawn."""

import time

import numpy as np
import pytest

from tests.unit.judges.adaptive.test_judge import Drawer, other, page, solar
from thresher.judges.adaptive.calibration import OTHER
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.adaptive.label_learner import AXES, learn_labels, page_axes
from thresher.judges.adaptive.terms import Matrix
from thresher.topics.profile import TopicProfile

SEEDS = [solar(0), solar(1), solar(2)]
PROFILE = TopicProfile(vectors={"en": {"solar": 1.0, "cell": 1.0}}, seeds=frozenset(seed.url for seed in SEEDS))
SHIPS = "a ship with a solar cell in the harbour, sails and ropes"
BIRDS = "a bird on a solar cell in the garden, feathers and songs"


def near(kind, number):
    words = {"ship": SHIPS, "bird": BIRDS}[kind]
    return page(f"{kind}{number}", f"{words}, report {number} of {kind} {number % 7}")


def trained(judge=None):
    judge = judge or AdaptiveJudge(PROFILE)
    crawled = [each for number in range(12) for each in (near("ship", number), near("bird", number))]
    for each in (*SEEDS, *crawled, *map(other, range(40))):
        judge.learn(each)
    return judge


def relevance(judge, kind):
    return judge.judge(near(kind, 99)).relevance


def rows(dense):
    filled = [np.flatnonzero(row) for row in dense]
    return Matrix(
        numbers=np.concatenate(filled).astype(np.intp),
        weights=np.concatenate([row[places] for row, places in zip(dense, filled, strict=True)]),
        starts=np.cumsum([0, *map(len, filled)]),
        pages=np.ones(len(dense)),
    )


def test_pages_with_other_words_of_the_same_things_are_alike_on_the_axes():
    draw = np.random.default_rng(0)
    sail = np.pad(draw.integers(0, 2, (60, 10)), ((0, 0), (0, 10)))
    sing = np.pad(draw.integers(0, 2, (60, 10)), ((0, 0), (10, 0)))
    dense = np.concatenate([sail, sing]).astype(float)
    features = page_axes(rows(dense), 20).features(rows(dense))
    assert features.shape[1] <= AXES
    assert np.linalg.norm(features, axis=1) == pytest.approx(np.ones(120))
    alike = features @ features.T
    assert alike[:60, :60].mean() > 0.3 > 0.0 > alike[:60, 60:].mean()


def test_a_few_labels_move_like_pages_most_and_contradictions_cancel_out():
    features = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    effect = learn_labels(np.array([-1.0]), features[:1], [1.0], 1.0)
    assert effect.of(features[1:2])[0] > effect.of(features[2:])[0] > 0.0
    both = learn_labels(np.zeros(2), features[:2], [1.0, 0.0], 1.0)
    assert both.of(features) == pytest.approx(np.zeros(3), abs=1e-6)


def test_a_label_by_a_model_moves_less_than_a_persons_and_one_half_nothing():
    one = np.array([[1.0, 0.0]])
    person, model, unsure = (learn_labels(np.zeros(1), one, [label], 1.0).of(one)[0] for label in (1.0, 0.8, 0.5))
    assert person > model > 0.0
    assert abs(unsure) < 1e-3


def test_five_hundred_labels_that_contradict_the_judge_neither_diverge_nor_take_long():
    draw = np.random.default_rng(0)
    features = draw.normal(size=(500, AXES))
    features /= np.linalg.norm(features, axis=1)[:, None]
    began = time.process_time()
    effect = learn_labels(draw.normal(0.0, 7.0, 500), features, draw.integers(0, 2, 500).tolist(), 1.5)
    assert np.isfinite(effect.of(features)).all()
    assert time.process_time() - began < 5.0


def test_labels_tell_kinds_of_pages_apart():
    judge = trained()
    judge.teach({near("ship", number).url: True for number in range(4)})
    judge.teach({near("bird", number).url: False for number in range(4)})
    assert relevance(judge, "ship") > relevance(judge, "bird") + 0.3


def test_a_withdrawn_label_leaves_no_trace():
    judge, plain = trained(), trained()
    plain.teach({near("ship", 0).url: None})
    judge.teach({near("ship", number).url: False for number in range(4)})
    judge.teach({near("ship", number).url: None for number in range(4)})
    assert relevance(judge, "ship") == pytest.approx(relevance(plain, "ship"))
    assert judge._languages[OTHER]._effect is None


def test_labels_count_after_a_restart_and_for_other_workers():
    shared, judge = {}, AdaptiveJudge(PROFILE)
    judge.load_state(Drawer(shared, "w1"))
    trained(judge).teach({near("ship", number).url: False for number in range(4)})
    judge.save_state()
    again, second, bare = AdaptiveJudge(PROFILE), AdaptiveJudge(PROFILE), trained()
    again.load_state(Drawer(shared, "w1"))
    second.load_state(Drawer(shared, "w2"))
    assert relevance(again, "ship") == pytest.approx(relevance(judge, "ship"), abs=0.02)
    assert relevance(second, "ship") < relevance(bare, "ship")


def test_labels_help_though_one_of_ten_is_wrong():
    judge = trained()
    labels = {near(kind, number).url: kind == "ship" for kind in ("ship", "bird") for number in range(5)}
    labels[near("bird", 0).url] = True
    judge.teach(labels)
    assert relevance(judge, "ship") > relevance(judge, "bird") + 0.2
