"""Every formula against numbers worked out by hand.

The crawl of most tests has five fetches, hits at 1, 3 and 4; there are four targets on a web of 100 pages.
"""

import numpy as np
import pytest

from thresher_lab.statistics import metrics

HITS = [True, False, True, True, False]
R = 4


def test_the_running_sum_of_hits_counts_them():
    assert metrics.running_sum(HITS, 5).tolist() == [1, 1, 2, 3, 3]


def test_a_short_crawl_stays_flat_up_to_the_budget():
    assert metrics.running_sum(HITS, 8).tolist() == [1, 1, 2, 3, 3, 3, 3, 3]


def test_a_long_crawl_is_cut_at_the_budget():
    assert metrics.running_sum(HITS, 2).tolist() == [1, 1]


def test_an_empty_crawl_finds_nothing():
    assert metrics.running_sum([], 3).tolist() == [0, 0, 0]
    assert metrics.harvest_rate_curve([], 2).tolist() == [0, 0]
    assert metrics.harvest_ratio([]) == 0


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_below_one_is_refused(budget):
    with pytest.raises(ValueError, match=f"at least 1 fetch, got {budget}"):
        metrics.running_sum(HITS, budget)


def test_harvest_rate_is_relevant_per_fetched():
    assert metrics.harvest_rate_curve(HITS, 5).tolist() == [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5]
    assert metrics.harvest_rate_at(HITS, 4) == 0.75


def test_harvest_rate_stays_flat_after_the_end_of_a_crawl():
    assert metrics.harvest_rate_curve(HITS, 7).tolist()[-3:] == [3 / 5, 3 / 5, 3 / 5]


def test_harvest_ratio_is_the_mean_score():
    assert metrics.harvest_ratio([0.5, 0.0, 0.25, 1.0]) == 0.4375
    assert metrics.harvest_ratio(np.array([0.5, 1.0])) == 0.75


def test_information_adds_up():
    assert metrics.sum_of_information([0.5, 0.0, 0.25]) == 0.75
    assert metrics.running_sum([0.5, 0.0, 0.25], 4).tolist() == [0.5, 0.5, 0.75, 0.75]


def test_recall_is_the_share_of_targets_found():
    assert metrics.recall_curve(HITS, R, 6).tolist() == [0.25, 0.25, 0.5, 0.75, 0.75, 0.75]


def test_recall_without_targets_is_refused():
    with pytest.raises(ValueError, match="at least 1 target, got 0"):
        metrics.recall_curve(HITS, 0, 5)


def test_recall_at_shares_of_the_web():
    """1, 2, 5, 10 and 20 pages of 100; the crawl ended after 5."""
    assert metrics.recall_at_shares(HITS, R, 100) == {0.01: 0.25, 0.02: 0.25, 0.05: 0.75, 0.10: 0.75, 0.20: 0.75}


def test_a_share_of_a_small_web_is_rounded_and_at_least_one_page():
    """0.05 · 36 = 1.8 becomes 2 pages; 0.01 · 36 = 0.36 becomes 1."""
    assert metrics.recall_at_shares([False, True], 1, 36, (0.01, 0.05)) == {0.01: 0, 0.05: 1}


def test_harvest_at_targets_is_the_precision_after_as_many_pages_as_targets():
    assert metrics.harvest_at_targets(HITS, R) == 3 / 4


def test_who_stops_early_has_no_full_harvest_at_targets():
    assert metrics.harvest_at_targets([True], R) == 1 / 4
    assert metrics.harvest_rate_at([True], R) == 1


def test_pages_to_a_recall():
    assert metrics.pages_to_recall(HITS, R, 0.50) == 3
    assert metrics.pages_to_recall(HITS, R, 0.75) == 4
    assert metrics.pages_to_recall([True, True], 2, 0.95) == 2


def test_a_recall_that_was_not_reached_has_no_page():
    assert metrics.pages_to_recall(HITS, R, 0.90) is None
    assert metrics.pages_to_recall([], R, 0.50) is None


def test_pages_to_a_recall_are_not_misled_by_binary_fractions():
    """0.07 · 100 is 7.000000000000001 in binary, yet 7 targets are 7 percent."""
    assert metrics.pages_to_recall([True] * 20, 100, 0.07) == 7


@pytest.mark.parametrize("share", [0, 1.1])
def test_a_share_outside_zero_to_one_is_refused(share):
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        metrics.pages_to_recall(HITS, R, share)


def test_the_area_adds_up_the_hits_after_each_fetch():
    """1 + 1 + 2 + 3 + 3, and 3 more for each fetch after the end."""
    assert metrics.hits_area(HITS, 5) == 10
    assert metrics.hits_area(HITS, 7) == 16


def test_the_normalised_area_is_the_mean_recall():
    """(1 + 1 + 2 + 3 + 3) / 4 targets / 5 fetches."""
    assert metrics.normalised_area(HITS, R, 5) == 0.5
    assert metrics.normalised_area([True] * 4, 4, 4) == (1 + 2 + 3 + 4) / 16


def test_percent_of_oracle_is_a_ratio_of_areas():
    """Crawl 0 1 1 2 = 4, oracle 1 2 2 2 = 7 (it ended after two fetches)."""
    crawl, oracle = [False, True, False, True], [True, True]
    assert metrics.percent_of_oracle(crawl, oracle, 4) == pytest.approx(100 * 4 / 7)


def test_the_mean_percent_of_oracle_is_a_mean_of_ratios():
    """Oracle 0 1 2 2, crawl 0 0 1 2: 0/1, 1/2 and 2/2; the first fetch does not count."""
    crawl, oracle = [False, False, True, True], [False, True, True, False]
    assert metrics.mean_percent_of_oracle(crawl, oracle, 4) == pytest.approx(50)


def test_the_oracle_itself_has_a_hundred_percent():
    assert metrics.percent_of_oracle(HITS, HITS, 9) == 100
    assert metrics.mean_percent_of_oracle(HITS, HITS, 9) == 100


@pytest.mark.parametrize("measure", [metrics.percent_of_oracle, metrics.mean_percent_of_oracle])
def test_an_oracle_without_hits_measures_nothing(measure):
    with pytest.raises(ValueError, match="finds no target in 3 fetches"):
        measure(HITS, [False, False], 3)


def test_relevant_hosts_are_counted_once():
    assert metrics.distinct_relevant_hosts(HITS, ["a", "b", "a", "c", "d"]) == 2


def test_bytes_per_relevant_page_count_every_fetch():
    assert metrics.bytes_per_relevant_page(HITS, [100, 200, 300, 0, 300]) == 300
    assert metrics.bytes_per_relevant_page([False], [100]) is None


def test_overlap_is_the_common_share_of_the_first_pages_without_seeds():
    """Without the seed s: a b c d against b x a c. N = 4: a b c common; N = 2: only b."""
    a, b = ["s", "a", "b", "c", "d"], ["s", "b", "x", "a", "c"]
    assert metrics.url_overlap(a, b, seeds=["s"]) == 3 / 4
    assert metrics.url_overlap(a, b, seeds=["s"], limit=2) == 1 / 2


def test_overlap_looks_no_farther_than_the_shorter_crawl():
    """N = 2: a b against b x."""
    assert metrics.url_overlap(["a", "b", "c", "d"], ["b", "x"], limit=4) == 1 / 2


def test_crawls_of_seeds_alone_do_not_overlap():
    assert metrics.url_overlap([1], [1], seeds=[1]) == 0


def test_exclusive_harvest_is_the_ratio_over_pages_that_only_one_crawl_fetched():
    """Without the seed s: a and c only in A, x and y only in B."""
    a = {"s": 1.0, "a": 0.5, "b": 0.9, "c": 0.1}
    b = {"s": 1.0, "x": 0.8, "b": 0.9, "y": 0.6}
    only_a, only_b = metrics.exclusive_harvest(a, b, seeds=["s"])
    assert only_a == pytest.approx(0.3)
    assert only_b == pytest.approx(0.7)
    assert metrics.exclusive_harvest(a, b, seeds=["s"], limit=1) == (0.5, 0.8)


def test_equal_crawls_have_no_exclusive_harvest():
    assert metrics.exclusive_harvest({"a": 0.5}, {"a": 0.5}) == (None, None)
