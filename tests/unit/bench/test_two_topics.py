"""The counting of `python -m bench.effectiveness.two_topics`, by hand."""

import pytest

from bench.effectiveness.two_topics import best_division, counts, hits, pairs_of, ratio, tables
from thresher_lab.simulation.simulator import SimulatedCrawl, SimulatedFetch

DEAD = -1


def crawl(*pages):
    fetches = [SimulatedFetch(url=f"http://a.example/{page}", page_id=page, relevance=0.0, bytes=0) for page in pages]
    return SimulatedCrawl(fetches=fetches, seconds=0.0, scoring_seconds=0.0, virtual_seconds=0.0)


TEA, SOLAR = {1, 2, 3, 9}, {5, 6, 9}


def test_a_fetch_is_a_hit_if_its_page_is_about_the_topic():
    assert hits(crawl(1, DEAD, 5, 9), TEA) == [1, None, None, 9]


def test_a_page_of_both_topics_counts_once_in_all_and_once_in_each():
    row = counts(crawl(1, 9, 5, 7), [crawl(9, 1, 2, 3), crawl(4, 9, 5, 6)], [TEA, SOLAR], 4)
    assert (row["together"], row["together_both"], row["together_fetches"]) == ([2, 2], 3, 4)
    assert (row["separately"], row["separately_both"], row["separately_fetches"]) == ([2, 1], 2, 4)


def test_only_the_first_half_of_a_crawl_of_one_topic_is_counted_and_less_if_it_ended_before():
    row = counts(crawl(1), [crawl(1), crawl(4, 7, 5, 6)], [TEA, SOLAR], 4)
    assert (row["separately"], row["separately_fetches"]) == ([1, 0], 3)


def test_the_best_division_gives_the_fetches_to_the_richer_crawl():
    assert best_division([1, 2, 3, None], [None, None, 5, 6], 4) == 3
    assert best_division([1, 2, 3, None], [None, None, 5, 6], 4, least=(1, 1)) == 2
    assert best_division([1, 9], [9, 5], 2) == 2


def test_the_ratio_is_of_pages_per_fetch_over_all_pairs():
    names = ("together_both", "together_fetches", "separately_both", "separately_fetches")
    rows = [dict(zip(names, each, strict=True)) for each in [(30, 100, 10, 100), (10, 100, 30, 50)]]
    middle, low, high = ratio(rows)
    assert middle == pytest.approx((40 / 200) / (40 / 150))
    assert low <= middle <= high


def test_topics_are_paired_in_their_order_and_three_in_a_ring():
    assert [pair.topics for pair in pairs_of("webkb", "test", "perfect", 600, 1.0)] == [
        ("faculty", "staff"),
        ("staff", "student"),
        ("student", "faculty"),
    ]
    wide = [pair.topics for pair in pairs_of("wikispeedia", "test", "perfect", 600, 1.0)]
    assert len({topic for pair in wide for topic in pair}) == 2 * len(wide) == 40


def test_tables_name_topics_below_their_share_and_forecasts_that_failed():
    found = counts(crawl(1, 9, 5, 7), [crawl(9, 1, 2, 3), crawl(5, 6, 9, 4)], [TEA, {5, 6, 8}], 4)
    ahead = [{"least": 0, "most": 2, "waiting": waiting} for waiting in (2, 3)]
    row = {"web": "w", "judge": "perfect", "balance": 1.0, "topics": ["tea", "solar"], "forecasts": ahead, **found}
    lines = list(tables([row]))
    assert lines[2].endswith("| 1 of 2 | 1 of 2 |")
    assert lines[-2:] == [
        "| w | perfect | 1.0 | tea | solar | 2 | 2 | 1.00 |",
        "| w | perfect | 1.0 | solar | tea | 1 | 2 | 0.50 |",
    ]
