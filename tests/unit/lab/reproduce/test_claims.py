"""Verdicts are computed from curves: order at every portion, and an interval over topics."""

import pytest

from tests.unit.lab.reproduce.rows import row
from thresher_lab.reproduce.claims import (
    ORACLE,
    Verdict,
    compare,
    end,
    judge_factor,
    judge_order,
    paired,
    together,
    with_oracle,
)


def curves(**strategies):
    return {name: {f"topic {number}": curve for number, curve in enumerate(own)} for name, own in strategies.items()}


def test_a_claim_holds_when_it_does_at_every_portion_and_for_all_topics():
    found = judge_order("a > b", "web", curves(a=[(2, 4), (3, 5)], b=[(1, 2), (1, 2)]), ["a", "b"])
    assert found.verdict == Verdict.HOLDS


def test_a_claim_holds_in_part_when_the_curves_cross():
    found = judge_order("a > b", "web", curves(a=[(1, 9), (1, 9)], b=[(2, 4), (2, 4)]), ["a", "b"])
    assert found.verdict == Verdict.IN_PART
    assert "at 1 of 2 portions" in found.reason


def test_a_claim_holds_in_part_when_it_depends_on_the_topic():
    found = judge_order("a > b", "web", curves(a=[(9, 9), (1, 1)], b=[(2, 2), (2, 2)]), ["a", "b"])
    assert found.verdict == Verdict.IN_PART


def test_equal_curves_prove_nothing():
    assert (
        judge_order("a > b", "web", curves(a=[(1, 2), (1, 2)], b=[(1, 2), (1, 2)]), ["a", "b"]).verdict == Verdict.FAILS
    )


def test_a_claim_about_what_was_not_run_is_not_testable():
    found = judge_order("a > b", "web", {"a": {"tea": [1]}, "b": {}}, ["a", "b"])
    assert (found.verdict, found.reason) == (Verdict.UNTESTABLE, "no rows of b")


def test_an_order_of_three_holds_in_part_when_the_first_is_the_best():
    found = judge_order("a > b > c", "web", curves(a=[(4, 8)] * 2, b=[(2, 4)] * 2, c=[(3, 6)] * 2), ["a", "b", "c"])
    assert found.verdict == Verdict.IN_PART


def test_an_order_does_not_hold_when_its_headline_fails():
    found = judge_order("a > b > c", "web", curves(a=[(3, 6)] * 2, b=[(2, 4)] * 2, c=[(4, 8)] * 2), ["a", "b", "c"])
    assert found.verdict == Verdict.FAILS
    assert found.reason.startswith("the headline fails, a is not above c; here c > a > b")


def test_the_order_that_was_found_is_reported():
    found = judge_order("a > b > c", "web", curves(a=[(3, 6)] * 2, b=[(2, 4)] * 2, c=[(4, 8)] * 2), ["a", "b", "c"])
    assert "here c > a > b, on average over 2 topics" in found.reason


def test_the_gain_is_the_difference_of_the_means_of_two_curves():
    pair = compare(curves(a=[(2, 4), (4, 8)], b=[(1, 1), (1, 1)]), "a", "b")
    assert pair.gain.mean == pytest.approx((2 + 5) / 2)


def test_seed_sets_are_averaged_within_their_topic():
    rows = [row("lpe", seed_set=0, labels=(1, 3)), row("lpe", seed_set=1, labels=(3, 5))]
    assert paired(rows, ["lpe"], lambda row: row["portions"]["labels"]) == {"lpe": {"wikispeedia tea": [2.0, 4.0]}}


def test_only_what_all_strategies_have_is_compared():
    rows = [row("lpe", "tea"), row("lpe", "solar"), row("cbp", "tea")]
    found = paired(rows, ["lpe", "cbp"], lambda row: row["portions"]["labels"])
    assert [list(topics) for topics in found.values()] == [["wikispeedia tea"], ["wikispeedia tea"]]


def test_other_parameters_are_another_strategy():
    rows = [row("fcmrps"), row("fcmrps (use=13)", labels=(4, 8))]
    found = paired(rows, ["fcmrps", "fcmrps (use=13)"], lambda row: row["portions"]["labels"])
    assert end(found, "fcmrps (use=13)").mean == 8


@pytest.mark.parametrize(
    ("verdicts", "sum_of_them"),
    [
        ([Verdict.HOLDS, Verdict.HOLDS], Verdict.HOLDS),
        ([Verdict.FAILS, Verdict.FAILS], Verdict.FAILS),
        ([Verdict.HOLDS, Verdict.FAILS], Verdict.IN_PART),
        ([], Verdict.UNTESTABLE),
    ],
)
def test_verdicts_are_summed_up(verdicts, sum_of_them):
    assert together(verdicts) == sum_of_them


def test_an_order_over_one_topic_is_not_testable():
    assert judge_order("a > b", "web", curves(a=[(2, 3)], b=[(1, 2)]), ["a", "b"]).verdict == Verdict.UNTESTABLE


def test_an_oracle_finds_a_page_with_every_fetch_until_there_are_none_left():
    rows = [row("a", labels=(2, 4), targets=8), row("a", "solar", labels=(2, 4), targets=40)]
    shares = with_oracle({}, rows, per_fetch=False)[ORACLE]
    assert with_oracle({}, rows)[ORACLE] == {"wikispeedia tea": [0.8, 0.4], "wikispeedia solar": [1.0, 1.0]}
    assert shares == {"wikispeedia tea": [1.0, 1.0], "wikispeedia solar": [0.25, 0.5]}


def test_portions_at_which_nothing_could_be_better_do_not_count():
    found = curves(a=[(2, 4)] * 2, b=[(1, 4)] * 2, **{ORACLE: [(4, 4)] * 2})
    pair = compare(found, "a", "b")
    assert (pair.above, pair.portions, pair.verdict) == (1, 1, Verdict.HOLDS)
    assert judge_order("a > b", "web", found, ["a", "b"]).ceiling == pytest.approx(4 / 2.5)


def test_an_order_is_not_testable_where_an_oracle_is_not_ahead_either():
    found = curves(a=[(4, 4)] * 2, b=[(4, 4)] * 2, **{ORACLE: [(4, 4)] * 2})
    assert judge_order("a > b", "web", found, ["a", "b"]).verdict == Verdict.UNTESTABLE


@pytest.mark.parametrize(
    ("oracle", "ours", "verdict"),
    [(39, 39, Verdict.UNTESTABLE), (60, 45, Verdict.HOLDS), (60, 25, Verdict.IN_PART), (60, 24, Verdict.FAILS)],
)
def test_a_factor_is_testable_where_an_oracle_has_nearly_that(oracle, ours, verdict):
    found = curves(a=[(1, ours)] * 2, b=[(1, 10)] * 2, **{ORACLE: [(1, oracle)] * 2})
    made = judge_factor("a has 5 times as many as b", "web", found, ["a"], "b", 5.0)
    assert (made.verdict, made.ceiling) == (verdict, oracle / 10)
