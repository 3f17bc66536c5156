"""Slow servers slow nobody else down."""

from tests.faults import slow

ROUNDS = 3
"""One round is enough: another process that takes the processor slows either crawl down, nothing speeds them up."""


def test_good_hosts_keep_their_speed_among_tarpits():
    shares = []
    for _ in range(ROUNDS):
        pace = slow.tarpits(24, good_hosts=8, pages_each=28, seconds=16, settings={"engine": {"concurrency": 8}})
        assert pace.tarpit_requests >= 24
        shares.append(pace.share)
        if pace.share >= 0.6:  # most of a short crawl is its first seconds
            return
    raise AssertionError(f"shares of the speed that were left: {shares}")
