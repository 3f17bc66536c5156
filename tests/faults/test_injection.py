"""Addresses, headers and cookies of strangers are data: stored as they are, bounded, sent to nobody."""

import pytest

from tests.faults import injection, smuggling


@pytest.fixture(scope="module")
def calm():
    return injection.private_parts(cookies=2000)


def test_hostile_urls_come_out_of_the_stores_as_they_went_in():
    tally = smuggling.smuggling(3000)
    assert tally.broken[:5] == []
    assert tally.figures["urls"] > 2400


def test_nothing_private_is_sent_to_anybody(calm):
    assert calm.broken == []
    assert calm.figures["leaks"] == 0


def test_a_flood_of_headers_is_cut_off(calm):
    tally = injection.heads()
    assert tally.broken == []
    assert tally.figures["cut"] >= 8
    assert tally.figures["peak_rss_bytes"] - calm.figures["peak_rss_bytes"] < 64 * injection.MIB
