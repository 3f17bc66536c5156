"""A run: supervisor, worker processes, heartbeats, limits, shutdown."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def limit_blas_threads(environment: MutableMapping[str, str] = os.environ) -> MutableMapping[str, str]:
    """Let NumPy's linear algebra use one thread in processes that import it later; return the environment.

    The matrices of a crawl are small. The threads of OpenBLAS would wait for each other in a loop, which takes a fifth
    of a worker's processor time, and workers use all cores anyway. What the user has set is kept.
    """
    for name in BLAS_THREADS:
        environment.setdefault(name, "1")
    return environment
