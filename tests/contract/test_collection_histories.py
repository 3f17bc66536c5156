"""Crawl folders and their collection: no history ends with a content `verify` and pages missing."""

from functools import partial

import pytest
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


FOUND = {
    "rows that waited were deleted": [("fetch", 0, 4), ("upload", 0), ("fetch", 0, 2), ("lose_rows", 0, 2)],
    "the first entry of a stream of files is cut": [("upload", 0), ("damage", 0, "manifest", "truncate")],
    "the collection was rolled back": [
        ("copy_collection",),
        ("fetch", 0, 3),
        ("upload", 0),
        ("roll_collection_back",),
    ],
    "the clock was set back between two fetches": [("fetch_and_be_killed", 0, 2), ("set_clock_back", 86_400.0)],
    "an object and its entry are damaged, and two machines have its rows": [
        ("begin", 2),
        ("copy",),
        ("damage", 903, "segments", "truncate"),
        ("damage", 105, "manifest", "zero"),
    ],
    "the object of a file is lost, and an upload does not read it": [
        ("begin", 6),
        ("damage", 0, "files", "delete"),
        ("upload", 0),
        ("gather",),
    ],
    "a copy goes on": [("fetch", 0, 3), ("upload", 0), ("copy",), ("fetch", 1, 2), ("upload", 0), ("upload", 1)],
}
"""Histories that ended badly, as short as they could be made."""


@pytest.mark.parametrize("steps", FOUND.values(), ids=FOUND)
def test_a_history_that_ended_badly_ends_well(steps):
    machine = CollectionMachine()
    try:
        for name, *arguments in steps:
            getattr(machine, name)(*arguments)
        machine.finish()
    finally:
        machine.world.close()
