"""Commands start quickly: they import what they use. Modules are counted, and not seconds of a busy machine."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
sys.argv = ["thresher", *sys.argv[1:]]
from thresher.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
NEVER = {"scrapy", "twisted", "numpy", "scipy", "sklearn", "pyarrow", "requests", "tldextract", "selectolax", "redis"}
MAX_MODULES = 500
"""`status` imports about 425; it was 695 with all that a run needs."""


@pytest.fixture
def modules(thresher, tmp_path):
    thresher("new", "crawl", "--topic", "apple orchard", "--seed", "http://127.0.0.1:9/")

    def imported(*command):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *command], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return set(json.loads(done.stderr.splitlines()[-1]))

    return imported


def test_u13_status_imports_only_what_it_needs(modules):
    imported = modules("status", "crawl")
    assert not imported & {*NEVER, "rich"}
    assert len(imported) < MAX_MODULES


@pytest.mark.parametrize("command", ["hosts", "frontier", "stop --help", "run --help"])
def test_u13_commands_that_fetch_nothing_leave_the_engine_alone(modules, command):
    name, *option = command.split()
    assert not modules(name, *option or ["crawl"]) & NEVER
