"""Measures of the papers, by hand."""

import pytest

from thresher.topics.profile import UrlEvidence
from thresher.topics.token_table import TokenTable
from thresher_lab.reproduce.measures import portions, url_counts

PATH = [{"en": "Sports"}, {"en": "Basketball", "zh": "篮球"}]


def test_portions_add_up_to_the_end_of_each():
    assert portions([1, 0, 1, 1], 4, number=2) == [1, 3]


def test_nothing_is_found_after_a_crawl_ran_dry():
    assert portions([1, 1], 8, number=4) == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("url", "own", "only_context", "context"),
    [
        ("http://sports.example/lanqiu.shtml", 1, 0, 1),
        ("http://sports.example/news.shtml", 0, 1, 1),
        ("http://www.example/lanqiu/", 1, 0, 0),
        ("http://www.example/news/", 0, 0, 0),
    ],
)
def test_a_url_counts_for_the_topic_or_for_what_is_above_it_never_for_both(url, own, only_context, context):
    evidence = UrlEvidence([PATH], TokenTable.shipped())
    found = url_counts(evidence, [url])
    assert found == {"relevant": 1, "own": own, "only_context": only_context, "context": context}
