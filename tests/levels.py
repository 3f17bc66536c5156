"""The levels of tests: ``python -m tests.levels LEVEL [options of pytest]``, where LEVEL is check, ci or nightly.

Each level contains the one before it. `RULES` is the one place that says which test belongs where; pytest without
``--level`` runs what it is given. The tests of a file stay in one of two processes, so that what they share is started
once.

A test that fails is not repeated, unless `TIMING` names it with the reason why a busy machine makes it fail.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).parent
LEVELS = ("check", "ci", "nightly")
SIDE_BY_SIDE = ("-n", "2", "--dist", "loadfile")
SLOWEST = "30"
"""How many of the slowest tests are printed."""
FAILED = TESTS.parent / ".pytest_cache" / "v" / "cache" / "lastfailed"
TESTS_FAILED = 1
"""pytest's exit code when tests failed; others mean that it could not run them."""

RULES = {
    # Contract suites: memory and SQLite for every commit, Redis for every push, its relatives every night.
    r"contract/test_\w+_mutants|contract/test_collection_histories": "nightly",
    r"contract/.*\[.*(valkey|cluster)": "nightly",
    r"contract/.*\[.*(redis|tiered)": "ci",
    # Unit tests of what few commits touch.
    r"unit/bench/test_speed_gate.*calls_more": "ci",
    r"unit/(bench|deploy|recording_server)/": "nightly",
    r"unit/papers/judges/test_conformance": "nightly",
    r"unit/(lab|papers|frontier/tiered)/": "ci",
    # Whole commands: a first crawl and what it refuses for every commit; a kill, two workers and labels for every push.
    r"e2e/test_(first_crawl|try|documents)": "check",
    r"e2e/test_(many_machines|politeness|chinese|identity|labels|questions|restored_folder|worker_threads)": "ci",
    r"e2e/test_verify": "ci",
    r"e2e/": "nightly",
    # Faults: one test of each kind for every push, the whole table every night.
    r"faults/test_storage.*(without_its_storage|while_it_moved)|faults/test_bombs.*many_bombs": "nightly",
    r"faults/test_(kill|storage|guard|bombs|outputs|planted)": "ci",
    r"(servers|realweb|screens|faults|deployment)/": "nightly",
    r"consistency/test_(start|exit_codes|verdicts)": "ci",
    r"consistency/": "nightly",
    # Documentation: links and generated pages for every commit, prose and executed pages every night.
    r"docs/test_(links|reference|architecture|exit_codes|translations)": "check",
    r"docs/": "nightly",
    # The package: the wheel and folders of earlier versions for every push.
    r"release/test_(installed|uvx|upgrade|version|recorded|parts)": "ci",
    r"release/": "nightly",
}
"""Regular expressions of the ids of tests below `tests`, with their levels; the first that fits counts. Other tests
belong to `check`."""

TIMING = {
    r"faults/test_kill.py::": "a machine that stalls for two seconds makes fetches time out, and they are repeated "
    "though no worker was killed",
    r"faults/test_guard.py::test_a_name_server_that_changes": "after a stall of two seconds a query is repeated, and "
    "the repeated query gets what the script has for the second one",
    r"e2e/test_labels.py::test_workers_that_run_read_a_label": "the run is paused where it happens to be; at "
    "some places one label changes no score at the head of the queue",
}
"""Tests that are repeated once, with nothing beside them: regular expressions of their ids, with the reason."""


def level_of(test: str) -> str:
    """Return the level of a test by its id, such as ``tests/unit/test_imports.py::test_every_part_has_one_level``."""
    name = test.removeprefix("tests/")
    return next((level for rule, level in RULES.items() if re.match(rule, name)), LEVELS[0])


def is_in(test: str, level: str) -> bool:
    """Return whether a level runs a test."""
    return LEVELS.index(level_of(test)) <= LEVELS.index(level)


def run(options: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *options], cwd=TESTS.parent, check=False).returncode


def may_be_repeated(tests: Sequence[str]) -> bool:
    """Return whether `TIMING` names all of these tests."""
    return all(any(re.match(rule, test.removeprefix("tests/")) for rule in TIMING) for test in tests)


def main(arguments: Sequence[str]) -> int:
    """Run a level; repeat failed tests if `TIMING` names them all."""
    if not arguments or arguments[0] not in LEVELS:
        raise SystemExit(f"give a level: {', '.join(LEVELS)}")
    level, *options = arguments
    FAILED.unlink(missing_ok=True)  # failures of earlier calls are not those of this one
    code = run([str(TESTS), "--level", level, *SIDE_BY_SIDE, "--durations", SLOWEST, *options])
    if code != TESTS_FAILED or not (failed := sorted(json.loads(FAILED.read_text("utf-8")))):
        return code
    if not may_be_repeated(failed):
        return code
    print(f"{len(failed)} tests that depend on time failed; they are repeated with nothing beside them", flush=True)
    return run(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
