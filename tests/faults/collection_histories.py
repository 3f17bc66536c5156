"""Row C1: random histories of crawl folders and their collection, and the faults planted to see that they are found."""

from __future__ import annotations

from tests.contract.test_collection_histories import run_histories
from tests.faults.histories import run_tests
from tests.faults.table import Outcome

HISTORIES = 500
MUTANTS = "tests/contract/test_collection_mutants.py"


def c1() -> Outcome:
    """Run both, and count."""
    tally, mutants = run_histories(HISTORIES), run_tests(MUTANTS)
    bad = sum(mutants.get(word, 0) for word in ("failed", "error", "skipped"))
    figure = f"{tally.histories} histories with {tally.steps:,} steps and {tally.clean} verdicts without a finding: "
    figure += f"missing pages 0; {mutants.get('passed', 0)} planted faults found, {bad} not"
    return Outcome(held=tally.histories >= HISTORIES and bool(mutants) and not bad, figure=figure)
