"""Visiting again by expected gain, in small: what `python -m bench.effectiveness.refresh` measures in full."""

import pytest

from bench.effectiveness.refresh import ChangingWeb, measure, policies


def caught(order):
    return measure(order, lambda web: policies(web)[order], pages=100, weeks=12, share=0.2).caught


@pytest.mark.parametrize("other", ["uniform", "relevance"])
def test_more_changes_are_caught_than_in_other_orders(other):
    assert caught("gain") > caught(other)


def test_a_web_changes_by_itself_and_the_same_way_each_time():
    one, other = ChangingWeb(40, seed=3), ChangingWeb(40, seed=3)
    assert one.pass_days(7) == other.pass_days(7) != set()
    assert one.pages == other.pages
