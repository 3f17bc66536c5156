"""Crawl folders and their collection: no history ends with a content `verify` and pages missing."""

from functools import partial

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.collection_state_machine import CollectionMachine, Tally

HISTORIES = 25
STEPS = 12


def run_histories(number):
    """Run histories; return what they did. `make faults` runs many more than the test does."""
    tally = Tally()
    run_state_machine_as_test(
        partial(CollectionMachine, tally),
        settings=settings(
            max_examples=number,
            stateful_step_count=STEPS,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    return tally


def test_no_history_ends_with_a_content_verify_and_pages_missing():
    tally = run_histories(HISTORIES)
    assert tally.histories >= HISTORIES
