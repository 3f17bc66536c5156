"""A classifier is measured on pages that it was not trained on, and what is too small is named."""

import pytest

from thresher.intervals import wilson_interval
from thresher_papers.training.quality import FOLDS, ModelQuality, cross_validate

LABELS = ["a"] * 10 + ["b"] * 5


def test_every_page_is_held_out_once_and_never_trained_on_then():
    held = []

    def predict(others, held_out):
        assert not set(others) & set(held_out)
        assert len(others) + len(held_out) == len(LABELS)
        held.extend(held_out)
        return ["a"] * len(held_out)

    quality = cross_validate(LABELS, predict)
    assert sorted(held) == list(range(15))
    assert quality.confusion == {"a": {"a": 10}, "b": {"a": 5}}


def test_each_fold_has_its_share_of_every_class():
    parts = []
    cross_validate(LABELS, lambda _, held_out: parts.append(sorted(held_out)) or ["a"] * len(held_out))
    assert [len([place for place in part if place >= 10]) for part in parts] == [1] * FOLDS


def test_the_same_seed_gives_the_same_folds():
    def parts(seed):
        found = []
        cross_validate(LABELS, lambda _, out: found.append(list(out)) or ["a"] * len(out), random_state=seed)
        return found

    assert parts(3) == parts(3)
    assert parts(3) != parts(4)


QUALITY = ModelQuality({"near": {"near": 30, "far": 10}, "far": {"far": 50, "near": 10}, "odd": {"far": 4}})


def test_precision_recall_and_accuracy_come_from_the_confusion():
    near, far, odd = QUALITY.classes()
    assert (near.precision, near.recall, near.pages) == (0.75, 0.75, 40)
    assert (far.precision, far.recall) == (pytest.approx(50 / 64), pytest.approx(50 / 60))
    assert (odd.precision, odd.recall, odd.is_small) == (None, 0.0, True)
    assert QUALITY.accuracy == pytest.approx(80 / 104)
    assert QUALITY.largest_share == pytest.approx(60 / 104)


def test_the_interval_is_that_of_wilson():
    assert ModelQuality({"a": {"a": 8, "b": 2}}).interval == wilson_interval(8, 10)


def test_small_classes_are_named_and_a_good_model_is_not_doubted():
    first, small, held_out = QUALITY.lines("class")
    assert first.startswith("Held out: 77% of 104 pages get the right class (95 % interval 68% to 84%)")
    assert small == "Too few pages for reliable figures, fewer than 30: class odd (4)."
    assert held_out == "With fewer than 10 hosts, single pages were held out: expect less on other hosts."


HOSTS = [f"host{number % 12}" for number in range(60)]


def test_all_pages_of_a_host_are_held_out_together():
    parts = []
    labels = ["ab"[number % 2] for number in range(60)]
    quality = cross_validate(labels, lambda _, out: parts.append(list(out)) or ["a"] * len(out), hosts=HOSTS)
    assert sorted(place for part in parts for place in part) == list(range(60))
    assert sum(len({HOSTS[place] for place in part}) for part in parts) == 12
    assert max(map(len, parts)) <= 15
    assert "All pages of a host were held out together" in list(quality.lines("class"))[-1]


def test_few_hosts_are_not_held_out_as_a_whole():
    assert not cross_validate(["a", "b"] * 30, lambda _, out: ["a"] * len(out), hosts=["one", "two"] * 30).by_host


def test_a_model_that_may_be_no_better_than_guessing_is_called_so():
    lines = list(ModelQuality({"a": {"a": 40}, "b": {"a": 38, "b": 2}}).lines("layer"))
    assert lines[1] == "So the model is not shown to be better than always naming the most frequent layer."


def test_json_has_the_same_numbers():
    found = QUALITY.as_json()
    assert (found["pages"], found["confusion"]["odd"]) == (104, {"far": 4})
    assert [row["reliable"] for row in found["classes"]] == [True, True, False]
