"""Best-N-first: the N best move at a time, and what a batch brings waits for the next one."""

import pytest

from tests.unit.strategies.small_world import lease, links, page, verdict
from thresher.records import Revision
from thresher.strategies.base import Batched, Rescorer
from thresher_lab.peers.best_n_first import BestNFirst


def test_n_links_make_a_batch():
    assert BestNFirst().batch_size == 256
    strategy = BestNFirst(N=10)
    assert isinstance(strategy, Batched)
    assert strategy.batch_size == 10


def test_links_wait_below_zero_with_the_relevance_of_their_page():
    [candidate] = BestNFirst().score(page(*links(1)), verdict(True, 0.6), lease())
    assert (candidate.score, candidate.breakdown) == (pytest.approx(0.6 - 1), {"page": 0.6})


def test_revisions_change_only_what_waits_for_a_batch():
    strategy = BestNFirst()
    assert isinstance(strategy, Rescorer)
    list(strategy.score(page(*links(1)), verdict(True, 0.6), lease()))
    [change] = strategy.revise([Revision(url=page().url, judgement=verdict(False, 0.1))]).values()
    assert (change.was, change.now) == (pytest.approx(-0.4), pytest.approx(-0.9))  # what is ready stands above 0


@pytest.mark.parametrize("N", [0, -1, "all", 2.5])
def test_a_batch_is_a_number(N):
    with pytest.raises(ValueError, match="at least 1"):
        BestNFirst(N=N)
