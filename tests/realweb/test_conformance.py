"""Public suites are passed as far as the measurements say; needs a folder of suites (THRESHER_SUITES)."""

import os
from pathlib import Path

import pytest

from bench.conformance import suites

FOLDER = Path(os.environ.get("THRESHER_SUITES", ""))
pytestmark = pytest.mark.skipif(
    not os.environ.get("THRESHER_SUITES") or not FOLDER.is_dir(), reason="no THRESHER_SUITES"
)


def results(rows):
    """Return the numbers of Thresher's rows: right, and cases."""
    return [
        tuple(int(word) for word in row.result.split() if word.isdigit())[:2]
        for row in rows
        if row.program == "Thresher"
    ]


def test_urls_are_resolved_as_the_standard_says():
    """Three hosts that consist of dots are refused by design."""
    assert results(suites.urls(FOLDER)) == [(888, 891)]


def test_robots_verdicts_are_those_of_googles_parser():
    """In three cases Google's parser compares escapes as written; RFC 9309 decodes them, and so does Thresher."""
    assert results(suites.robots(FOLDER)) == [(142, 145)]


def test_charsets_are_those_that_browsers_find():
    [declared, undeclared] = results(suites.charsets(FOLDER))
    assert declared == (81, 82)  # one page is valid UTF-8 and declares something else: Thresher takes the bytes' word
    assert undeclared >= (17, 19)


def test_no_real_page_is_cut():
    [(whole, pages)] = results(suites.markup(FOLDER))
    assert whole == pages > 100


def test_links_of_real_pages_are_found():
    [(found, wanted)] = results(suites.links(FOLDER))
    assert found >= 0.99 * wanted > 0


def test_the_language_of_a_phrase_is_right_or_open():
    [(not_wrong, phrases)] = results(suites.phrases(FOLDER))
    assert not_wrong >= 70
    assert phrases == 76
