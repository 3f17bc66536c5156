"""Workers leave the cores to each other: NumPy's linear algebra has one thread, unless the user says otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testing.crawl_process import THRESHER, wait_for
from testing.processes import kill_family, workers
from tests.e2e.conftest import CommandLine, quick, serving
from thresher.runner import BLAS_THREADS

START_SECONDS = 30.0
FROM_PYTHON = "import sys, numpy, thresher; list(thresher.Crawl(sys.argv[1]).run(workers=1))"
"""NumPy is imported before Thresher, with all its threads."""
STARTS = {
    "the command line": [*THRESHER, "run", "crawl", "--workers", "1"],
    "Python": [sys.executable, "-c", FROM_PYTHON, "crawl"],
}


def threads(start, folder, **variables):
    """Return the number of threads of a worker that has asked for its second page."""
    environment = {name: value for name, value in os.environ.items() if name not in BLAS_THREADS} | variables
    with serving() as site:
        site.pages = {"/": "<p>Solar cells <a href=/next>next</a></p>"}
        CommandLine(folder)("new", "crawl", "--topic", "solar cells", "--seed", site.url("/"))
        quick(folder / "crawl")
        site.seconds = 1.0
        process = subprocess.Popen(STARTS[start], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        try:
            assert wait_for(lambda: "/next" in site.paths, seconds=START_SECONDS)
            [worker] = workers(process.pid)
            status = Path(f"/proc/{worker}/status").read_text()
        finally:
            kill_family(process.pid)
            process.wait()
    return int(status.split("Threads:")[1].split()[0])


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with one core there is nothing to share")
@pytest.mark.parametrize("start", STARTS)
def test_a_worker_has_one_thread_for_linear_algebra(tmp_path, start):
    for name in ("usual", "wanted"):
        (tmp_path / name).mkdir()
    usual = threads(start, tmp_path / "usual")
    wanted = threads(start, tmp_path / "wanted", OPENBLAS_NUM_THREADS="2")
    assert wanted == usual + 1
