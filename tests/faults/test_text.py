"""Whatever text a page sends: it is read right, in linear time, and its addresses have one spelling."""

import pytest

from tests.faults import patterns, text, url_cases
from thresher.urls.canonical import canonicalize


def test_titles_are_read_right_whatever_charset_is_declared():
    found = text.titles(74)
    assert found.wrong == {}


def test_every_pattern_of_a_crawl_is_linear():
    found = text.regular_expressions(tries=5, large=200_000, most_seconds=3.0)
    assert found.slow == []
    assert found.number > 40


def test_patterns_are_found_bound_and_in_calls():
    places = {(use.place, use.method) for use in patterns.uses()}
    assert ("thresher.urls.canonical._PLAIN_URL", "fullmatch") in places
    assert ("thresher.urls.canonical._SESSION_IN_PATH", "sub") in places
    assert any(place.startswith("thresher.urls.canonical:") and method == "sub" for place, method in places)


def test_a_pattern_that_is_not_linear_is_found_out():
    import re

    use = patterns.Use("here", re.compile(r"(?:a+)+b"), "search")
    assert patterns.slow_ones(use, tries=0, small=8_000, large=10_000, most_seconds=2.0)[1]


def test_fuzzed_addresses_keep_their_one_spelling():
    found = text.addresses(600)
    assert found.failures == []


@pytest.mark.parametrize(("written", "base", "url"), url_cases.CASES)
def test_the_standards_cases_come_out_as_it_says(written, base, url):
    assert canonicalize(written, base) == url
