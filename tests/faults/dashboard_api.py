"""The API under requests that its own description made up, right ones and wrong ones."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.dashboard_server import NAME, Served, served, small_crawl
from tests.faults.table import Outcome
from thresher_ui.dashboard.api.operations import DESCRIPTION

FULL_EXAMPLES = 100
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "ignored_auth",
)
SETTINGS = 'checks.negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415"]'
FUZZ_SECONDS = 1800.0


@dataclass(frozen=True)
class Fuzzed:
    """What came of it.

    Args:
        statuses: How often each was answered.
        printed: What the tool printed of failures; empty when there were none.
    """

    statuses: Counter[int]
    printed: str

    @property
    def server_errors(self) -> int:
        """How often the server was at fault."""
        return sum(number for status, number in self.statuses.items() if status >= 500)


def fuzz(dashboard: Served, examples: int, *, seed: int = 1) -> Fuzzed:
    """Let schemathesis ask every operation, with `examples` random requests each; check the answers by the description.

    The stream of events is left out, for it never ends.
    """
    with TemporaryDirectory(prefix="thresher-") as folder:
        (Path(folder) / "schemathesis.toml").write_text(SETTINGS, encoding="utf-8")
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"http://{dashboard.place}{DESCRIPTION}"]
        command += ["--header", f"Authorization: Bearer {dashboard.guard.token}", "--exclude-path-regex", "events$"]
        command += ["--phases", "examples,coverage,fuzzing", "--checks", ",".join(CHECKS), "--seed", str(seed)]
        command += ["--max-examples", str(examples), "--continue-on-failure", "--no-color", "--warnings", "off"]
        command += ["--suppress-health-check", "all"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FUZZ_SECONDS)
        statuses = Counter(dashboard.statuses)
    printed = "" if done.returncode == 0 else done.stdout[-6000:] + done.stderr[-2000:]
    return Fuzzed(statuses, printed)


def d9() -> Outcome:
    """Ask much."""
    with TemporaryDirectory(prefix="thresher-") as folder, served(small_crawl(Path(folder) / NAME)) as dashboard:
        fuzzed = fuzz(dashboard, FULL_EXAMPLES)
    answered = ", ".join(f"{status}: {number:,}" for status, number in sorted(fuzzed.statuses.items()))
    figure = f"{sum(fuzzed.statuses.values()):,} requests ({answered}); 5xx = {fuzzed.server_errors}"
    return Outcome(held=not fuzzed.server_errors and not fuzzed.printed, figure=figure)
