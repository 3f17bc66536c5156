"""Processes of a crawl use one thread for linear algebra, and the system's allocator for Arrow."""

import os
import subprocess
import sys

from thresher.runner import BLAS_THREADS, limit_libraries

PRINTS_POOL = "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"


def test_threads_and_memory_of_libraries_are_limited():
    assert limit_libraries({}) == {**dict.fromkeys(BLAS_THREADS, "1"), "ARROW_DEFAULT_MEMORY_POOL": "system"}


def test_what_the_user_has_set_is_kept():
    chosen = {**dict.fromkeys(BLAS_THREADS, "4"), "ARROW_DEFAULT_MEMORY_POOL": "mimalloc"}
    assert limit_libraries(dict(chosen)) == chosen


def test_arrow_takes_memory_from_the_system():
    environment = limit_libraries({**os.environ})
    printed = subprocess.check_output([sys.executable, "-c", PRINTS_POOL], env=environment, text=True)
    assert printed.strip() == "system"
