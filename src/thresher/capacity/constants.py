"""The measured costs of a page, a URL and a host; `constants.json` records date, machine and command of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from thresher.native import compiled


@dataclass(frozen=True, kw_only=True)
class CapacityConstants:
    """The measured constants that a plan is computed from.

    Args:
        worker_pages_per_second: Pages that one worker processes on one core when it waits for no host.
        worker_ram_bytes: Resident memory of one worker.
        kept_bytes_per_page_byte: Bytes in the page store per byte of HTML.
        sqlite_cycles_per_second: Pages per second that one SQLite frontier commits and leases.
        sqlite_url_bytes: Bytes of the SQLite frontier's file per URL.
        store_cycles_per_second: Pages per second that one server of the shared store commits and leases.
        cluster_cycles_per_second: The same for one node of a cluster, where every page needs several nodes.
        store_waiting_url_bytes: Bytes per waiting URL in the shared store, its seen entry included.
        store_host_bytes: Bytes per host with waiting URLs.
        store_done_url_bytes: Bytes per URL that is done.
        store_resident_share: Resident memory of the server per byte that it reports as used.
        store_log_bytes_per_cycle: Bytes that one page adds to the server's append-only log between two rewrites.
        store_restart_seconds_per_gigabyte: Seconds of a restart per gigabyte of used memory, with a rewritten log.
        store_log_seconds_per_gigabyte: Further seconds per gigabyte of log since the last rewrite.
        tiers_hot_urls_per_host: Waiting URLs of a host that stay in the store when others are in a cold storage.
        tiers_cold_url_bytes: Bytes in the store per URL in a cold storage.
        tiers_cold_url_disk_bytes: Bytes in the cold storage per URL.
        tiers_cycle_share: CPU of the server per page with a cold storage, as a multiple of that without.
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
    store_log_seconds_per_gigabyte: float
    tiers_hot_urls_per_host: float
    tiers_cold_url_bytes: float
    tiers_cold_url_disk_bytes: float
    tiers_cycle_share: float


def read_measurements() -> dict[str, dict[str, Any]]:
    """Return every constant with its value, and the command, date and machine of its measurement."""
    measured: dict[str, dict[str, Any]] = json.loads(
        (files(__package__) / "constants.json").read_text(encoding="utf-8")
    )
    return measured


def load_constants(*, is_compiled: bool = compiled is not None) -> CapacityConstants:
    """Return the constants of this version; a worker is slower where the compiled loops are not in use."""
    values = {name: float(each["value"]) for name, each in read_measurements().items()}
    without_loops = values.pop("pure_worker_pages_per_second")
    if not is_compiled:
        values["worker_pages_per_second"] = without_loops
    return CapacityConstants(**values)
