"""Verdicts are computed from curves: order at every portion, and an interval over topics."""

import pytest

from tests.unit.lab.reproduce.rows import row
from thresher_lab.reproduce.claims import Verdict, compare, end, judge_order, paired, together


def curves(**strategies):
    return {name: {f"topic {number}": curve for number, curve in enumerate(own)} for name, own in strategies.items()}


def test_a_claim_holds_when_it_does_at_every_portion_and_for_all_topics():
    found = judge_order("a > b", curves(a=[(2, 4), (3, 5)], b=[(1, 2), (1, 2)]), ["a", "b"])
    assert found.verdict == Verdict.HOLDS


def test_a_claim_holds_in_part_when_the_curves_cross():
    found = judge_order("a > b", curves(a=[(1, 9), (1, 9)], b=[(2, 4), (2, 4)]), ["a", "b"])
    assert found.verdict == Verdict.IN_PART
    assert "at 1 of 2 portions" in found.reason


def test_a_claim_holds_in_part_when_it_depends_on_the_topic():
    found = judge_order("a > b", curves(a=[(9, 9), (1, 1)], b=[(2, 2), (2, 2)]), ["a", "b"])
    assert found.verdict == Verdict.IN_PART


def test_equal_curves_prove_nothing():
    assert judge_order("a > b", curves(a=[(1, 2), (1, 2)], b=[(1, 2), (1, 2)]), ["a", "b"]).verdict == Verdict.FAILS


def test_a_claim_about_what_was_not_run_is_not_tested():
    found = judge_order("a > b", {"a": {"tea": [1]}, "b": {}}, ["a", "b"])
    assert (found.verdict, found.reason) == (Verdict.UNTESTED, "no rows of b")


def test_an_order_of_three_holds_in_part_when_the_first_is_the_best():
    found = judge_order("a > b > c", curves(a=[(4, 8)] * 2, b=[(2, 4)] * 2, c=[(3, 6)] * 2), ["a", "b", "c"])
    assert found.verdict == Verdict.IN_PART


def test_an_order_does_not_hold_when_its_headline_fails():
    found = judge_order("a > b > c", curves(a=[(3, 6)] * 2, b=[(2, 4)] * 2, c=[(4, 8)] * 2), ["a", "b", "c"])
    assert found.verdict == Verdict.FAILS
    assert found.reason.startswith("the headline fails, a is not above c; here c > a > b")


def test_the_order_that_was_found_is_reported():
    found = judge_order("a > b > c", curves(a=[(3, 6)] * 2, b=[(2, 4)] * 2, c=[(4, 8)] * 2), ["a", "b", "c"])
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
        ([], Verdict.UNTESTED),
    ],
)
def test_verdicts_are_summed_up(verdicts, sum_of_them):
    assert together(verdicts) == sum_of_them


def test_an_order_over_one_topic_is_not_tested():
    assert judge_order("a > b", curves(a=[(2, 3)], b=[(1, 2)]), ["a", "b"]).verdict == Verdict.UNTESTED
