"""Bodies that want too much get no more than a page gets."""

from tests.faults import bombs


def test_a_bomb_costs_no_more_memory_than_a_few_pages():
    grown = bombs.one_by_one(192 << 20, ["page4.test", "page6.test", "words.test"])
    assert max(grown.values()) <= bombs.MAX_GROWTH_MIB, grown


def test_many_bombs_at_once_stop_nobody_else():
    reported = bombs.bombs(size=192 << 20)
    assert reported.grown_mib <= 2 * bombs.MAX_GROWTH_MIB
    assert reported.good_pages == bombs.GOOD_PAGES + 1


def test_bodies_without_an_end_are_kept_in_part():
    reported = bombs.bodies(timeout_seconds=2.0)
    assert reported.wrong == {}
    assert reported.longest_seconds < 10  # on a busy machine
    assert reported.most_mib <= 16


def test_hard_pages_are_parsed_in_their_time_or_given_up():
    reported = bombs.parsing()
    assert reported.longest_seconds <= 2.5
    assert reported.most_links <= 5000
    assert reported.given_up == []


def test_a_parser_that_never_returns_stops_nobody_else():
    reported = bombs.hanging()
    assert reported.good_pages == bombs.GOOD_PAGES + 1
    assert "cannot be parsed: it stopped a worker" in reported.light
    assert "cannot be parsed: more than" in reported.heavy
