"""Crawls of experiments on a generated web of 600 pages."""

import json

import pytest

from thresher_lab.reproduce.trial_runner import ExperimentRunner
from thresher_lab.reproduce.trials import CLASSES, RANKING, TIME, Trial, trial_key

MUSIC = {"web": "generated-en-600", "topic": "Arts/Music", "seed_set": 0, "pages": 40, "seeds": 3}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THRESHER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield ExperimentRunner.open("generated-en-600")


def test_a_row_tells_what_was_found_by_label_by_text_and_by_words(stage):
    row = stage.run(Trial(strategy="breadth-first", **MUSIC))
    found = row["portions"]
    assert {len(found[kind]) for kind in ("labels", "text", "information")} == {20}
    assert found["labels"][-1] == pytest.approx(row["harvest_rate"] * 40)
    assert found["information"][-1] == pytest.approx(row["sum_of_information"], abs=1e-3)
    assert found["labels"][-1] == row["urls"]["labels"]["relevant"]


def test_a_row_is_found_again_by_its_trial(stage):
    trial = Trial(strategy="breadth-first", parameters={}, **MUSIC)
    assert trial_key(json.loads(json.dumps(stage.run(trial)))) == trial.key


def test_targets_of_recall_may_be_limited_to_what_is_near(stage):
    near = stage.run(Trial(strategy="breadth-first", target_depth=1, **MUSIC))
    far = stage.run(Trial(strategy="breadth-first", **MUSIC))
    assert 3 <= near["targets"] < far["targets"]
    assert near["recall"] > far["recall"]
    assert near["harvest_rate"] == far["harvest_rate"]


def test_two_seed_sets_have_no_page_in_common(stage):
    first, second = (stage.seeds(Trial(strategy="lpe", **{**MUSIC, "seed_set": number})) for number in (0, 1))
    assert len(first) == len(second) == 3
    assert not set(first) & set(second)


def test_examples_are_neither_seeds_nor_hits(stage):
    trial = Trial(strategy="anchor-only", examples=30, **MUSIC)
    free = stage.free(trial)
    targets = stage.web.targets("Arts/Music")
    assert len(free) == int(0.3 * len(targets))
    assert not free & set(stage.seeds(trial))
    assert stage.run(trial)["targets"] <= len(targets) - len(free)


def test_a_judge_that_learns_knows_the_examples_before_the_crawl(stage):
    pytest.importorskip("sklearn")
    row = stage.run(Trial(strategy="best-first", examples=30, judge="itfidf", **MUSIC))
    assert 0 < row["collected"] <= row["fetched"]
    assert row["collected_hits"] > 0.5 * row["collected"]


def test_examples_tell_what_the_topic_is_about(stage):
    words = stage._topic_profile_of_examples("Arts/Music", 30).vectors["en"]
    assert words["music"] == 1
    assert len(words) > len(stage.topic_profile("Arts/Music").vectors["en"])


def test_time_is_measured_with_pages_parsed_anew(stage, monkeypatch):
    kept = stage.pages
    row = stage.run(Trial(strategy="fcmrps", judge="cosine", measure=TIME, **MUSIC))
    assert row["ms_per_page"] > 0
    assert stage.pages is kept


def test_the_dump_is_ranked_by_the_trained_layers(stage):
    pytest.importorskip("sklearn")
    row = stage.run(Trial(strategy="layers", training=0.3, measure=RANKING, **MUSIC))
    assert row["ranking"]["1"][1] == 1
    assert row["ranking"]["20"][0] <= row["ranking"]["20"][1]


def test_classes_judge_the_crawl_and_every_score_is_kept(stage):
    pytest.importorskip("sklearn")
    trial = Trial(strategy="rules", measure=CLASSES, **MUSIC)
    row = stage.run(trial)
    assert len(row["scores"]) == row["fetched"]
    assert all(0 <= score <= 1 for _, score in row["scores"])
    assert not stage.classes.examples["Arts/Music"] & {page for page, _ in row["scores"]}
