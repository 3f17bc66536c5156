"""Slow servers slow nobody else down."""

from tests.faults import slow


def test_good_hosts_keep_their_speed_among_tarpits():
    told = slow.tarpits(24, good_hosts=8, pages_each=28, seconds=16, settings={"engine": {"concurrency": 8}})
    assert told.share >= 0.6  # most of a short crawl is its first seconds
    assert told.tarpit_requests >= 24
