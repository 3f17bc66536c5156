"""Redirects are followed five times, whatever they are made of."""

from tests.faults import hops


def test_redirects_and_refreshes_lead_on_five_times_and_no_further():
    told = hops.hops()
    assert told.wrong == {}
    assert told.arrived == hops.ARRIVED
    assert told.twice == 0
