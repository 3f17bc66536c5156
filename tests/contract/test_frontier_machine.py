"""Every frontier against the model, over random histories."""

from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.frontier_machine import FrontierMachine
from tests.contract.frontier_stores import STORES

HISTORIES = {"memory": 80, "sqlite": 50}


@pytest.mark.parametrize("name", STORES)
def test_a_frontier_does_what_the_model_does(name):
    run_state_machine_as_test(
        partial(FrontierMachine, STORES[name]),
        settings=settings(
            max_examples=HISTORIES.get(name, 60),
            stateful_step_count=60,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
