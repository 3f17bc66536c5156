"""What all tests share: a clock, an S3 server, and compiled modules for the processes that tests start."""

import os
import sys

import hypothesis
import pytest

from testing.clock import Clock
from testing.servers.fixtures import s3, s3_server_of_session  # noqa: F401
from tests.levels import LEVELS, is_in
from thresher.runner import limit_libraries


def pytest_configure():
    """Let the process of the tests, and those that they start, waste no processor time.

    Processes of the tests share the processors, so threads of a matrix product would only wait for each other. Tests
    start hundreds of processes; each would compile all modules again where the environment says not to keep compiled
    ones. How long one example of a property takes says more about other processes than about us: it has no deadline.
    """
    limit_libraries()
    hypothesis.settings.register_profile("shared machine", deadline=None)
    hypothesis.settings.load_profile("shared machine")
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser):
    parser.addoption("--level", choices=LEVELS, help="run only the tests of a level: check, ci or nightly (all)")


def pytest_collection_modifyitems(config, items):
    if level := config.getoption("--level"):
        left_out = [item for item in items if not is_in(item.nodeid, level)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_in(item.nodeid, level)]


@pytest.fixture
def clock():
    return Clock()
