"""A run: supervisor, worker processes, heartbeats, limits, shutdown."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def limit_libraries(environment: MutableMapping[str, str] = os.environ) -> MutableMapping[str, str]:
    """Limit threads and memory of libraries in processes that import them later; return the environment.

    The matrices of a crawl are small. The threads of OpenBLAS would wait for each other in a loop, which takes a fifth
    of a worker's processor time, and workers use all cores anyway. Arrow's own allocator keeps what its threads have
    freed: 170 MB in a worker that never used more than 15. What the user has set is kept.
    """
    for name in BLAS_THREADS:
        environment.setdefault(name, "1")
    environment.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    return environment
