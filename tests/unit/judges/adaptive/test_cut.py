"""The cut follows the crawl: where many pages are on topic, probabilities rise; verdicts do not waver."""

import numpy as np
import pytest

from tests.unit.judges.adaptive.test_judge import Drawer, other, solar
from thresher.errors import ConfigError
from thresher.judges.adaptive import judge as judge_module
from thresher.judges.adaptive.calibration import CHINESE, OTHER, THRESHOLD
from thresher.judges.adaptive.cut import CUT, HIGHEST, LOWEST, MIN_PAGES, otsu_cut, predicted_shift, score_features
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.registry import make
from thresher.topics.profile import TopicProfile

SEEDS = [solar(0), solar(1), solar(2)]
PROFILE = TopicProfile(vectors={"en": {"solar": 1.0, "cell": 1.0}}, seeds=frozenset(seed.url for seed in SEEDS))
DRAW = np.random.default_rng(0)
FEW = 1.0 / (1.0 + np.exp(-np.concatenate([DRAW.normal(-4.5, 1.0, 465), DRAW.normal(1.0, 1.0, 35)])))
MANY = 1.0 / (1.0 + np.exp(-np.concatenate([DRAW.normal(-4.5, 1.0, 300), DRAW.normal(-1.0, 1.5, 200)])))


def fed(judge, pages, *, seeds=SEEDS):
    for each in (*seeds, *pages):
        judge.learn(each)
    return judge


def refit(judge):
    return judge._languages[OTHER].refit()


def shift_of(judge):
    return judge._languages[OTHER]._shift


def always(monkeypatch, *shifts):
    """Let the prediction be these shifts, the last one from then on."""
    following = list(shifts)
    monkeypatch.setattr(
        judge_module, "predicted_shift", lambda *_, **__: following.pop(0) if len(following) > 1 else following[0]
    )


@pytest.mark.parametrize("language", [OTHER, CHINESE])
def test_a_crawl_that_goes_well_has_the_lower_cut(language):
    few, many = (predicted_shift(chances, several=False, weights=CUT[language]) for chances in (FEW, MANY))
    assert LOWEST <= few < many <= HIGHEST


def test_otsus_cut_lies_between_two_groups():
    assert otsu_cut(np.array([-5.0, -4.0, -4.5, 1.0, 2.0])) == -1.5
    assert otsu_cut(np.array([3.0, 3.0])) == 3.0


def test_the_features_of_any_sample_are_finite():
    for logits in (np.full(100, -7.0), np.full(100, 7.0), np.array([-7.0, 7.0])):
        assert np.isfinite(score_features(logits, several=True)).all()


def test_before_there_are_enough_pages_nothing_is_shifted(monkeypatch):
    always(monkeypatch, 1.0)
    judge = fed(AdaptiveJudge(PROFILE), map(other, range(MIN_PAGES - 1)))
    refit(judge)
    assert shift_of(judge) == 0.0
    judge.learn(other(MIN_PAGES))
    refit(judge)
    assert shift_of(judge) == 1.0


def test_the_shift_moves_only_by_more_than_a_step(monkeypatch):
    judge, seen = fed(AdaptiveJudge(PROFILE), map(other, range(MIN_PAGES))), []
    for number, shift in enumerate((1.0, 1.4, 0.6, 1.6)):
        always(monkeypatch, shift)
        judge.learn(other(1000 + number))
        refit(judge)
        seen.append(shift_of(judge))
    assert seen == [1.0, 1.0, 1.0, 1.6]


def test_a_shift_revises_the_verdicts_of_earlier_pages(monkeypatch):
    always(monkeypatch, 0.0)
    judge = fed(AdaptiveJudge(PROFILE), map(other, range(MIN_PAGES)))
    refit(judge)
    always(monkeypatch, 5.0)
    judge.learn(other(1000))
    revisions = [revision.judgement for revision in refit(judge)]
    assert shift_of(judge) == 5.0
    assert len(revisions) > MIN_PAGES / 2
    assert all(revised.relevant == (revised.relevance >= THRESHOLD) for revised in revisions)


def test_a_configured_threshold_does_not_follow_the_crawl(monkeypatch):
    always(monkeypatch, 1.0)
    judge = fed(AdaptiveJudge(PROFILE, threshold=0.3), map(other, range(MIN_PAGES)))
    refit(judge)
    assert (shift_of(judge), judge.threshold) == (0.0, 0.3)
    assert AdaptiveJudge(PROFILE).threshold == THRESHOLD


@pytest.mark.parametrize("threshold", ["often", 1.5, -1])
def test_any_other_threshold_is_refused(threshold):
    with pytest.raises(ConfigError, match="threshold must be auto or a number from 0 to 1"):
        make("judge", "adaptive", {"threshold": threshold}, PROFILE)


def test_labels_alone_do_not_move_the_shift(monkeypatch):
    always(monkeypatch, 1.0, 3.0)
    judge = fed(AdaptiveJudge(PROFILE, refit_pages=1000), map(other, range(MIN_PAGES)))
    refit(judge)
    assert shift_of(judge) == 1.0
    judge.teach({other(3).url: False})
    judge.teach({other(3).url: None})
    assert shift_of(judge) == 1.0


def test_the_shift_survives_a_restart_and_reaches_other_workers(monkeypatch):
    always(monkeypatch, 1.0)
    shared = {}
    first = AdaptiveJudge(PROFILE)
    first.load_state(Drawer(shared, "one"))
    refit(fed(first, map(other, range(MIN_PAGES))))
    first.save_state()
    always(monkeypatch, 1.3)
    again, second = AdaptiveJudge(PROFILE), AdaptiveJudge(PROFILE)
    again.load_state(Drawer(shared, "one"))
    second.load_state(Drawer(shared, "two"))
    assert shift_of(again) == shift_of(second) == 1.0
