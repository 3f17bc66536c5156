"""Every frontier against the model, over random histories."""

from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.frontier_machine import (
    DamagedRunsMachine,
    FoundAgainMachine,
    FreshLinksMachine,
    FrontierMachine,
)
from tests.contract.frontier_stores import STORES

HISTORIES = {"memory": 40, "sqlite": 30, "redis": 20, "redis in chunks": 20, "valkey": 10}
TIERED_HISTORIES = {"tiered": 15, "tiered valkey": 5}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_frontier_does_what_the_model_does(name):
    run(FrontierMachine, name, HISTORIES[name])


@pytest.mark.parametrize("name", TIERED_HISTORIES)
@pytest.mark.parametrize(
    "machine",
    [FreshLinksMachine, FoundAgainMachine, DamagedRunsMachine],
    ids=["fresh links", "found again", "damaged runs"],
)
def test_tiers_do_what_the_model_does(machine, name):
    run(machine, name, TIERED_HISTORIES[name])


def run(machine, name, histories):
    run_state_machine_as_test(
        partial(machine, STORES[name]),
        settings=settings(
            max_examples=histories,
            stateful_step_count=60,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
