"""The workers of a crawl."""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np

from thresher.coordination.local_workers import read_workers
from thresher.coordination.worker_registry import RegisteredWorker
from thresher_ui.dashboard.open_crawl import OpenCrawl


async def workers(open_crawl: OpenCrawl) -> dict[str, Any]:
    """Return the registered workers of a shared crawl, or the worker processes of this machine."""
    if (registered := await open_crawl.resources.run.registered_workers()) is not None:
        return {"workers": list(map(_listed, registered))}
    pages = await open_crawl.pages()
    paths = await open_crawl.reader.ask(lambda reader: reader.names)
    processes = {
        local_worker.name: (local_worker.process, local_worker.since)
        for local_worker in await read_workers(open_crawl.frontier_reader)
    }
    settled = np.bincount(pages.rows["segment"], minlength=len(paths))
    rows = []
    for number, name in enumerate(paths):
        process, since = processes.pop(name, (0, 0.0))
        last = pages.rows["fetched_at"][pages.rows["segment"] == number]
        silent = max(0.0, time.time() - float(last[-1])) if len(last) else 0.0
        rows.append(_local(name, process, since, int(settled[number]), silent))
    rows += [_local(name, process, since, 0, 0.0) for name, (process, since) in processes.items()]
    return {"workers": rows}


def _listed(worker: RegisteredWorker) -> dict[str, Any]:
    return {
        "name": worker.name,
        "machine": worker.heartbeat.host,
        "process": worker.heartbeat.pid,
        "pages": worker.heartbeat.pages,
        "since": worker.heartbeat.since,
        "state": "silent" if worker.is_silent else worker.heartbeat.state,
        "silent_seconds": worker.silent_seconds,
    }


def _local(name: str, process: int, since: float, pages: int, silent_seconds: float) -> dict[str, Any]:
    return {
        "name": name,
        "machine": socket.gethostname(),
        "process": process,
        "pages": pages,
        "since": since,
        "state": "working" if process else "stopped",
        "silent_seconds": silent_seconds,
    }
