"""Means, intervals and tests over topics, checked by hand; small and equal samples are no accidents."""

import pytest

from thresher_lab.statistics.significance import (
    Interval,
    Score,
    TopicValue,
    bootstrap_difference,
    bootstrap_mean,
    compare_paired,
    holm,
    topic_means,
    wilcoxon_p,
)


def scores(strategy, values, seed_set="s1"):
    return [
        Score(strategy=strategy, topic=topic, seed_set=seed_set, value=value)
        for topic, value in zip("abcdefgh", values, strict=False)
    ]


def test_the_interval_of_two_values_is_known():
    """Drawn twice from {0, 1}: mean 0, 1/2 or 1 with chances 1/4, 1/2, 1/4, so the middle 95 % reach from 0 to 1."""
    assert bootstrap_mean([0, 1]) == Interval(0.5, 0, 1)


def test_the_interval_comes_near_the_one_of_the_normal_distribution():
    """400 values, half 0, half 1: 0.5 ± 1.96 · 0.5 / √400 = 0.451 to 0.549."""
    interval = bootstrap_mean([0, 1] * 200)
    assert interval.low == pytest.approx(0.451, abs=0.004)
    assert interval.high == pytest.approx(0.549, abs=0.004)


def test_the_same_seed_gives_the_same_interval():
    values = [0.1, 0.5, 0.2, 0.9, 0.4]
    assert bootstrap_mean(values, seed=3) == bootstrap_mean(values, seed=3)
    assert bootstrap_mean(values, seed=3, resamples=50) != bootstrap_mean(values, seed=4, resamples=50)


def test_one_topic_has_an_interval_without_width():
    assert bootstrap_mean([0.4]) == Interval(0.4, 0.4, 0.4)


def test_a_mean_of_no_topics_is_refused():
    with pytest.raises(ValueError, match="at least 1 topic"):
        bootstrap_mean([])


def test_a_difference_is_paired_by_topic():
    """The strategies differ a lot between topics, but always by 0.25 from each other."""
    assert bootstrap_difference([0.25, 0.5, 1.0], [0.0, 0.25, 0.75]) == Interval(0.25, 0.25, 0.25)


def test_pairs_need_two_values():
    with pytest.raises(ValueError, match="shorter"):
        bootstrap_difference([0.1, 0.2], [0.1])


def test_wilcoxon_of_five_wins_is_two_of_thirty_two():
    """All five differences positive: 2 · (1/2)⁵ = 0.0625."""
    assert wilcoxon_p([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]) == pytest.approx(0.0625)


def test_wilcoxon_ranks_the_differences():
    """Ranks 1 to 4, the smallest negative: a rank sum of at most 1 has 2 of 16 chances, two-sided 4 of 16."""
    assert wilcoxon_p([-1, 2, 3, 4], [0, 0, 0, 0]) == pytest.approx(0.25)


def test_wilcoxon_leaves_equal_topics_out():
    assert wilcoxon_p([1, 2, 3, 4, 5, 7], [0, 0, 0, 0, 0, 7]) == pytest.approx(0.0625)


def test_wilcoxon_without_any_difference_is_one():
    assert wilcoxon_p([0.3, 0.3], [0.3, 0.3]) == 1
    assert wilcoxon_p([0.1 + 0.2], [0.3]) == 1
    assert wilcoxon_p([0.5], [0.3]) == 1


def test_holm_multiplies_the_smallest_p_most():
    """0.01 · 3; 0.02 · 2; 0.5 · 1."""
    assert holm({"x": 0.5, "y": 0.01, "z": 0.02}) == pytest.approx({"x": 0.5, "y": 0.03, "z": 0.04})


def test_holm_never_turns_the_order_around_and_never_exceeds_one():
    """0.03 · 3 = 0.09 stays the least for 0.04 · 2 = 0.08; 0.9 · 1 stays; 0.6 · 2 is cut to 1."""
    assert holm({"x": 0.03, "y": 0.04, "z": 0.9}) == pytest.approx({"x": 0.09, "y": 0.09, "z": 0.9})
    assert holm({"x": 0.6, "y": 0.7}) == {"x": 1, "y": 1}
    assert holm({}) == {}


def test_seed_sets_weigh_the_same_within_their_topic_and_repeats_within_their_seed_set():
    """Topic a: seed set 1 was run twice (0 and 1), seed set 2 once (1): (0.5 + 1) / 2, not 2/3."""
    rows = [
        Score(strategy="x", topic="a", seed_set=1, value=0.0),
        Score(strategy="x", topic="a", seed_set=1, value=1.0),
        Score(strategy="x", topic="a", seed_set=2, value=1.0),
    ]
    assert topic_means(rows) == {"x": {"a": 0.75}}


def test_topics_count_the_same_however_many_seed_sets_they_have():
    rows = scores("x", [0.0]) + scores("x", [0.0], "s2") + [Score(strategy="x", topic="b", seed_set="s1", value=1.0)]
    [only] = compare_paired(rows, "x")
    assert only.mean.mean == 0.5


def test_a_comparison_tells_everything_about_a_strategy():
    """Differences: +0.5, +0.25, -0.25, 0; three of them count, ranks 3, 1.5 and 1.5."""
    rows = scores("base", [0.25, 0.25, 0.5, 0.0]) + scores("new", [0.75, 0.5, 0.25, 0.0])
    base, new = compare_paired(rows, "base")
    assert (new.strategy, new.wins, new.losses, new.ties) == ("new", 2, 1, 1)
    assert new.mean.mean == 0.375
    assert new.difference.mean == 0.125
    assert new.difference.low < 0 < new.difference.high
    assert new.p == pytest.approx(wilcoxon_p([0.5, 0.25, -0.25], [0, 0, 0]))
    assert new.worst == TopicValue("d", 0.0)
    assert new.worst_difference == TopicValue("c", -0.25)
    assert base.strategy == "base"


def test_the_baseline_ties_with_itself():
    [base] = compare_paired(scores("base", [0.2, 0.4]), "base")
    assert base.difference == Interval(0, 0, 0)
    assert (base.p, base.wins, base.losses, base.ties) == (1, 0, 0, 2)


def test_p_is_corrected_over_the_strategies_without_the_baseline():
    """Both win all eight topics: 2 · (1/2)⁸ each, times 2 strategies."""
    rows = scores("base", [0.0] * 8)
    rows += scores("x", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) + scores(
        "y", [0.8, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.2]
    )
    comparisons = {comparison.strategy: comparison for comparison in compare_paired(rows, "base")}
    assert comparisons["x"].p == comparisons["y"].p == pytest.approx(4 / 256)


def test_comparisons_come_in_the_order_of_the_rows():
    rows = scores("z", [0.1]) + scores("base", [0.1]) + scores("a", [0.1])
    assert [comparison.strategy for comparison in compare_paired(rows, "base")] == ["z", "base", "a"]


def test_one_topic_and_equal_values_are_compared_without_a_warning():
    _, new = compare_paired(scores("base", [0.3]) + scores("new", [0.3]), "base")
    assert (new.p, new.ties, new.difference) == (1, 1, Interval(0, 0, 0))
    _, new = compare_paired(scores("base", [0.3]) + scores("new", [0.4]), "base")
    assert (new.p, new.wins) == (1, 1)


def test_noise_of_floating_point_is_a_tie():
    _, new = compare_paired(scores("base", [0.3]) + scores("new", [0.1 + 0.2]), "base")
    assert (new.wins, new.ties) == (0, 1)


def test_a_missing_seed_set_is_refused():
    rows = scores("base", [0.1, 0.2]) + scores("new", [0.1])
    with pytest.raises(ValueError, match=r"'new' has no value for \(topic, seed set\) \('b', 's1'\)"):
        compare_paired(rows, "base")


def test_a_missing_baseline_is_refused():
    with pytest.raises(ValueError, match="'base' has no rows; strategies: new"):
        compare_paired(scores("new", [0.1]), "base")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="must be finite"):
        compare_paired(scores("base", [value]), "base")
