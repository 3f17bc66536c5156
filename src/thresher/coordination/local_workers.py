"""The worker processes of a crawl on this machine, published through the frontier.

Crawls on a shared store use `worker_registry` instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from thresher.frontier.base import CRAWL_WIDE, SharedState, StateReader

WORKERS_KIND = "local workers"
_EARLIER_KIND = "crew"  # of a run by version 0.2.0
WORKERS_TTL_SECONDS = 10.0
"""A list that was not published again for this long has expired."""
PUBLISH_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class LocalWorker:
    """A worker process.

    Args:
        since: Start time, in seconds since the epoch.
    """

    name: str
    process: int
    since: float


async def publish_workers(frontier: SharedState, local_workers: Sequence[LocalWorker]) -> None:
    """Publish the running workers; repeat within `WORKERS_TTL_SECONDS`."""
    content = json.dumps([asdict(local_worker) for local_worker in local_workers])
    await frontier.put_state(CRAWL_WIDE, WORKERS_KIND, content, seconds=WORKERS_TTL_SECONDS)


async def read_workers(frontier: StateReader) -> list[LocalWorker]:
    """Return the workers that were published last; none when the list has expired or cannot be read."""
    content = await frontier.get_state(CRAWL_WIDE, WORKERS_KIND)
    content = content or await frontier.get_state(CRAWL_WIDE, _EARLIER_KIND)
    try:
        return [LocalWorker(**entry) for entry in json.loads(content)] if content else []
    except (ValueError, TypeError):
        return []
