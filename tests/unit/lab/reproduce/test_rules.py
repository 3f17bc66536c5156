"""E10: two crawls page by page."""

import pytest

from tests.unit.lab.reproduce.rows import row
from thresher_lab.reproduce.claims import Verdict
from thresher_lab.reproduce.plans import ExperimentOverrides
from thresher_lab.reproduce.rules import (
    GENERATED,
    GROUNDS,
    e10_report,
    e10_trials,
    exclusive,
    harvest_ratio,
    mean_of_curve,
    overlap,
)

SEED = [0, 1.0]
SOFT = row("soft-focus", scores=[SEED, [1, 0.5], [2, 0.1], [-1, 0.0]], seed_pages=[0])
RULES = row("rules", scores=[SEED, [1, 0.5], [3, 0.9], [4, 0.3]], seed_pages=[0])


def test_the_harvest_ratio_is_the_mean_score_of_all_fetches():
    assert harvest_ratio(SOFT) == pytest.approx(0.4)


def test_overlap_leaves_the_seeds_out():
    assert overlap(SOFT, RULES) == pytest.approx(1 / 3)


def test_exclusive_harvest_is_over_pages_that_only_one_has():
    assert exclusive(SOFT, RULES) == pytest.approx((0.05, 0.6))


def test_rules_are_judged_by_gain_by_exclusive_harvest_and_by_overlap():
    made = e10_report([SOFT, RULES])
    assert [finding.verdict for finding in made.findings] == [Verdict.HOLDS] * 3
    assert made.tables[0].rows[0][4] == pytest.approx(68.75)


def test_every_web_has_its_verdicts_and_one_without_rules_to_learn_is_not_testable():
    generated = [{**row, "web": web} for row in (SOFT, RULES) for web in (GENERATED, f"{GENERATED}-taxonomy50")]
    made = e10_report([SOFT, RULES, *generated])
    assert [finding.verdict for finding in made.findings] == [
        *[Verdict.UNTESTABLE] * 3,
        *[Verdict.HOLDS] * 3,
        *[Verdict.HOLDS] * 3,
    ]


def test_a_crawl_without_its_partner_is_not_judged():
    assert {finding.verdict for finding in e10_report([SOFT]).findings} == {Verdict.UNTESTABLE}


def test_part_b_starts_from_50_seeds_where_a_topic_is_large_enough():
    trials = e10_trials(ExperimentOverrides(webs=["generated-en-3000"], topics=["Arts/Music"], pages=20))
    assert [(trial.seeds, trial.strategy) for trial in trials] == [
        (10, "soft-focus"),
        (10, "rules"),
        (50, "soft-focus"),
        (50, "rules"),
    ]


def test_the_gain_is_that_of_the_whole_curve_and_not_of_its_end():
    early = {**RULES, "scores": [(1, 1.0), (2, 0.0)]}
    late = {**SOFT, "scores": [(1, 0.0), (2, 1.0)]}
    assert harvest_ratio(early) == harvest_ratio(late)
    assert mean_of_curve(early) > mean_of_curve(late)
    assert e10_report([late, early]).findings[0].verdict == Verdict.HOLDS


def test_webkb_whose_classes_are_like_the_papers_is_one_of_the_webs():
    assert "webkb" in [ground.web for ground in GROUNDS]


def test_a_crawl_fetches_a_small_share_of_its_web():
    assert {(ground.pages, ground.share) for ground in GROUNDS} == {(None, 0.05)}
