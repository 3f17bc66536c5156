"""Every frontier against the model, over random histories."""

from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.frontier_machine import FrontierMachine
from tests.contract.frontier_stores import STORES

# Not on tiers: a cold URL that is found again keeps two copies, each with its own carry, until the cold one is read.
HISTORIES = {"memory": 40, "sqlite": 30, "redis": 20, "redis in chunks": 20, "valkey": 10}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_frontier_does_what_the_model_does(name):
    run_state_machine_as_test(
        partial(FrontierMachine, STORES[name]),
        settings=settings(
            max_examples=HISTORIES[name],
            stateful_step_count=60,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
