"""Row C1: random histories of crawl folders and their collection, and the faults planted to see that they are found."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from tests.contract.collection_state_machine import Tally
from tests.contract.test_collection_histories import run_histories
from tests.faults.histories import run_tests
from tests.faults.table import Outcome

HISTORIES, PROCESSES = 500, 2
MUTANTS = "tests/contract/test_collection_mutants.py::test_a_planted_fault_is_found"


def c1() -> Outcome:
    """Run both, and count."""
    with ProcessPoolExecutor(PROCESSES, mp_context=multiprocessing.get_context("spawn")) as pool:
        tally = sum(pool.map(run_histories, [HISTORIES // PROCESSES] * PROCESSES), Tally())
    mutants = run_tests(MUTANTS)
    bad = sum(mutants.get(word, 0) for word in ("failed", "error", "skipped"))
    figure = f"{tally.histories} histories with {tally.steps:,} steps and {tally.clean} verdicts without a finding: "
    figure += f"missing pages 0; {mutants.get('passed', 0)} planted faults found, {bad} not"
    return Outcome(held=tally.histories >= HISTORIES and bool(mutants) and not bad, figure=figure)
