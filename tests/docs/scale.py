"""What the page on scale computes: by the same constants as `thresher plan`, whenever these are measured anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill

from tests.docs.between import with_pieces
from thresher.capacity.constants import load_constants, read_measurements
from thresher.capacity.plan import COLUMNS, lines, make_plan, plan_growth, row
from thresher.capacity.request import CapacityRequest

SCALE = Path(__file__).parents[2] / "docs" / "measurements" / "scale.md"
REQUEST = CapacityRequest(pages=10**9, hosts=5 * 10**6, delay_seconds=2.0)


def scale_page() -> str:
    """Return the page with its plan, its table and the speed of a worker as they are computed now."""
    return with_pieces(SCALE, {"plan": _plan, "growth": _growth, "worker": _worker, "tiers": _tiers})


def _plan() -> str:
    return "\n".join(["```text", *lines(make_plan(REQUEST, load_constants(is_compiled=True))), "```"])


def _tiers() -> str:
    chosen = ("Store:", "  ", "Disk:", "Cost,")
    plan = make_plan(replace(REQUEST, tiered=True), load_constants(is_compiled=True))
    return "\n".join(["```text", *(line for line in lines(plan) if line.startswith(chosen)), "```"])


def _growth() -> str:
    rows = [COLUMNS, ["---"] * len(COLUMNS), *map(row, plan_growth(REQUEST, load_constants(is_compiled=True)))]
    return "\n".join(map(_table_row, rows))


def _table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("| --- ", "|---").replace("|--- |", "|---|")


def _worker() -> str:
    measured, constants = read_measurements()["worker_pages_per_second"], load_constants(is_compiled=True)
    feeds = constants.store_cycles_per_second / constants.worker_pages_per_second
    text = f"""
        `thresher plan` computes with {constants.worker_pages_per_second:g} pages per second for a worker that never
        waits for a delay (`{measured["measured_by"]}`, {measured["on"]}). `--worker-pages-per-second` sets another
        value. So one server should serve about {feeds:.0f} workers at full speed, or many more that mostly wait for
        delays. That is computed, not run."""
    return fill(" ".join(text.split()), 120)
