"""Where links wait: at once, in generations, or for a batch."""

import pytest

from tests.unit.strategies.small_world import lease
from thresher.strategies.batches import Batches


def test_without_batches_links_stand_where_they_score():
    batches = Batches("none")
    assert (batches.size, batches.generation_data(lease()), batches.place(1.0, {})) == (0, {}, 1.0)


def test_in_generations_links_carry_theirs_and_wait_behind_the_one_before():
    batches = Batches("all")
    strategy_data = batches.generation_data(lease(strategy_data={"generation": 1}))
    assert (batches.size, strategy_data, batches.place(0.4, strategy_data)) == (
        0,
        {"generation": 2},
        pytest.approx(-1.6),
    )


def test_for_a_batch_of_a_number_links_wait_below_zero_and_carry_nothing():
    batches = Batches(50)
    assert (batches.size, batches.generation_data(lease()), batches.place(0.4, {})) == (50, {}, pytest.approx(-0.6))
    assert batches.place(1.0, {}) < 0


@pytest.mark.parametrize("batch", ["some", 0, -1, True, 1.5])
def test_anything_else_is_refused(batch):
    with pytest.raises(ValueError, match="batch must be none or all or a number above 0"):
        Batches(batch)
