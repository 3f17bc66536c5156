"""Redirects are followed ten times, whatever they are made of."""

from tests.faults import hops


def test_redirects_and_refreshes_lead_on_ten_times_and_no_further():
    reported = hops.hops()
    assert reported.wrong == {}
    assert reported.arrived == hops.ARRIVED
    assert reported.twice == 0
