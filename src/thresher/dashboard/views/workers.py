"""Who works for a crawl."""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np

from thresher.crew import crew
from thresher.dashboard.watched import WatchedCrawl
from thresher.fleet.roster import Worker


async def workers(watched: WatchedCrawl) -> dict[str, Any]:
    """Return who works for a crawl: those on the roster of a shared store, or the processes on this machine."""
    if watched.crawl.is_shared:
        return {"workers": [_listed(worker) for worker in await watched.workers()]}
    pages = await watched.pages()
    paths = await watched.reader.ask(lambda collection: collection.names)
    processes = {hand.name: (hand.process, hand.since) for hand in await crew(watched.frontier)}
    settled = np.bincount(pages.rows["segment"], minlength=len(paths))
    rows = []
    for number, name in enumerate(paths):
        process, since = processes.pop(name, (0, 0.0))
        last = pages.rows["fetched_at"][pages.rows["segment"] == number]
        silent = max(0.0, time.time() - float(last[-1])) if len(last) else 0.0
        rows.append(_local(name, process, since, int(settled[number]), silent))
    rows += [_local(name, process, since, 0, 0.0) for name, (process, since) in processes.items()]
    return {"workers": rows}


def _listed(worker: Worker) -> dict[str, Any]:
    return {
        "name": worker.name,
        "machine": worker.sign.host,
        "process": worker.sign.pid,
        "pages": worker.sign.pages,
        "since": worker.sign.since,
        "state": "silent" if worker.is_silent else worker.sign.state,
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
