"""Sitemaps that lie, grow and point elsewhere: the quick form of row H9."""

from tests.faults.sitemaps import EXPECTED, MAX_GROWTH_BYTES, mapped, unread


def test_sitemaps_are_bounded_and_stay_on_their_hosts():
    found = mapped(200, 60 << 20, seconds=60)
    assert {name: found.let_in[name] for name in EXPECTED} == EXPECTED
    assert found.let_in["many.test"] == 200
    assert (found.files["deep.test"], found.files["self.test"], found.files["cdn.test"]) == (4, 2, 1)
    assert found.elsewhere == 0
    assert unread(found) == set()
    assert found.growth_bytes <= MAX_GROWTH_BYTES
