"""What one page, one URL and one host cost, as measured; `constants.json` says when, where and by which command."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Constants:
    """The measured figures that a plan is computed from.

    Args:
        worker_pages_per_second: Pages that one worker takes on one core when no host makes it wait.
        worker_ram_bytes: Resident memory of one worker.
        kept_bytes_per_page_byte: Bytes in the page store per byte of HTML.
        sqlite_cycles_per_second: Pages per second that one SQLite frontier settles and leases.
        sqlite_url_bytes: Bytes of the SQLite frontier's file per URL.
        store_cycles_per_second: Pages per second that one server of the shared store settles and leases.
        cluster_cycles_per_second: The same for one node of a cluster, where every page asks several nodes.
        store_waiting_url_bytes: Bytes per waiting URL in the shared store, its seen entry included.
        store_host_bytes: Bytes per host that has something waiting.
        store_done_url_bytes: Bytes per URL that is done.
        store_resident_share: Resident memory of the server per byte that it counts as used.
        store_log_bytes_per_cycle: Bytes that one page adds to the server's append-only log between two rewrites.
        store_restart_seconds_per_gigabyte: Seconds that a restart takes per gigabyte of used memory.
    """

    worker_pages_per_second: float
    worker_ram_bytes: float
    kept_bytes_per_page_byte: float
    sqlite_cycles_per_second: float
    sqlite_url_bytes: float
    store_cycles_per_second: float
    cluster_cycles_per_second: float
    store_waiting_url_bytes: float
    store_host_bytes: float
    store_done_url_bytes: float
    store_resident_share: float
    store_log_bytes_per_cycle: float
    store_restart_seconds_per_gigabyte: float


def read_measurements() -> dict[str, dict[str, Any]]:
    """Return every constant with its value, the command that measured it, the day and the machine."""
    measured: dict[str, dict[str, Any]] = json.loads(
        (files(__package__) / "constants.json").read_text(encoding="utf-8")
    )
    return measured


def load_constants() -> Constants:
    """Return the constants that came with this version."""
    measured = read_measurements()
    return Constants(**{field.name: float(measured[field.name]["value"]) for field in fields(Constants)})
