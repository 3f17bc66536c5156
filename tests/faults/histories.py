"""Row R13: the contract's state machine on every store, and the faults planted to see that it finds them."""

from __future__ import annotations

import re
import subprocess
import sys

from testing.crawl_process import REPOSITORY
from tests.contract.test_frontier_machine import HISTORIES, TIERED_HISTORIES
from tests.faults.table import Outcome

MACHINE, MUTANTS = "tests/contract/test_frontier_machine.py", "tests/contract/test_frontier_mutants.py"
COUNTS = re.compile(r"(\d+) (passed|failed|error|skipped)")


def r13() -> Outcome:
    """Run both, and count."""
    machine, mutants = run_tests(MACHINE), run_tests(MUTANTS)
    bad = sum(reported.get(word, 0) for reported in (machine, mutants) for word in ("failed", "error", "skipped"))
    histories = min(*HISTORIES.values(), *TIERED_HISTORIES.values())
    figure = f"{machine.get('passed', 0)} runs agree with the model, each over at least {histories} histories of up to "
    figure += f"60 steps; {mutants.get('passed', 0)} planted faults found, {bad} not"
    return Outcome(held=not bad and bool(machine) and bool(mutants), figure=figure)


def run_tests(file: str) -> dict[str, int]:
    """Run the tests of a file; return how many passed, failed and so on."""
    command = [sys.executable, "-m", "pytest", "--timeout=3000", file]
    reported = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True).stdout
    return {word: int(number) for number, word in COUNTS.findall(reported.splitlines()[-1])}
