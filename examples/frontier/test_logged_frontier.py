"""The contract of frontiers, run on `LoggedFrontier`."""

from functools import partial

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from logged_frontier import LoggedFrontier

from testing.clock import Clock
from tests.contract.conftest import frontier, open_frontier  # noqa: F401 - fixtures of the tests below
from tests.contract.frontier_machine import FrontierMachine
from tests.contract.test_frontier import *
from tests.contract.test_frontier_hosts import *
from tests.contract.test_frontier_leases import *


class LoggedStore:
    """Where the frontier of one test is kept; a test may close it and open it again."""

    def __init__(self, folder, clock):
        self.path = folder / "frontier.db"
        self.clock = clock

    def open(self, **settings):
        return LoggedFrontier(self.path, clock=self.clock, synchronous="OFF", **settings)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    return LoggedStore(tmp_path, clock)


def test_it_does_what_the_model_does():
    machine = partial(FrontierMachine, LoggedStore)
    run_state_machine_as_test(machine, settings=settings(max_examples=30, stateful_step_count=60, deadline=None))
