"""A pass opens what its page asked for, as much as it may have, and nothing after its end."""

from thresher.engine.browser.quota import NetworkQuota


def test_only_places_that_the_page_asked_for_are_open():
    one = NetworkQuota(max_connections=1, max_bytes=1)
    one.expect("a.example", 443)
    assert one.expects("A.example.", 443)
    assert not one.expects("a.example", 80)
    assert not one.expects("b.example", 443)


def test_the_number_of_connections_is_limited():
    one = NetworkQuota(max_connections=2, max_bytes=1)
    assert [one.enter(number, lambda: None) for number in range(3)] == [True, True, False]
    assert one.is_spent


def test_a_connection_that_is_over_still_counts():
    one = NetworkQuota(max_connections=1, max_bytes=1)
    one.enter(0, lambda: None)
    one.leave(0)
    assert not one.enter(1, lambda: None)


def test_bytes_are_counted_over_all_connections():
    one = NetworkQuota(max_connections=2, max_bytes=10)
    assert [one.spend(6), one.spend(4), one.spend(1)] == [True, True, False]
    assert one.is_spent


def test_the_end_cuts_what_is_open_and_lets_nothing_in():
    cut = []
    one = NetworkQuota(max_connections=9, max_bytes=9)
    one.enter(0, lambda: cut.append(0))
    one.enter(1, lambda: cut.append(1))
    one.leave(0)
    one.end()
    assert cut == [1]
    assert not one.enter(2, lambda: None)
    assert not one.spend(1)


def test_every_pass_has_a_secret_of_its_own():
    assert len({NetworkQuota(max_connections=1, max_bytes=1).authorization for _ in range(20)}) == 20
