"""The harness sees a broken promise: it is tried on a stand-in crawler that breaks one at a time."""

import sys

import pytest

from testing.faulty_crawl.scenario import Plan, observe
from testing.recording_server.site import Site
from tests.faults.figures import Figures, figures

PLAN = Plan(
    site=Site(pages=200, hosts=30),
    delay_seconds=0.1,
    worker_kills=2,
    total_kills=1,
    timeout_seconds=1.0,
    lease_seconds=1.5,
    max_seconds=120.0,
)


def crawl_with(fault: str) -> Figures:
    return figures(PLAN, observe(PLAN, (sys.executable, "-m", "tests.faults.standin", "--fault", fault)))


def test_a_crawler_that_keeps_its_promises_passes():
    measured = crawl_with("none")
    assert (measured.exit_code, measured.kills) == (0, 3)
    assert (measured.lost, measured.kept_twice) == (0, 0)
    assert (measured.unexcused_refetches, measured.over_bound) == (0, 0)
    assert (measured.max_parallel, measured.violations) == (1, 0)


@pytest.mark.parametrize(
    ("fault", "broken"), [("early", "lost"), ("rude", "violations"), ("twice", "unexcused_refetches")]
)
def test_a_broken_promise_is_seen(fault, broken):
    assert getattr(crawl_with(fault), broken) > 0
