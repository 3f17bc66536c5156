"""Control of a crawl while it runs: pause it, change its limits.

The settings reach all workers through the frontier, and apply until they are changed or the next run starts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from thresher.frontier.base import CRAWL_WIDE, SharedState, StateReader

KIND, INITIAL_LIMITS_KIND = "wishes", "begun with"
KEPT_SECONDS = 365 * 86_400.0
POLL_SECONDS = 1.0
LIMITS = ("pages", "relevant", "minutes", "harvest_below")


@dataclass(frozen=True, kw_only=True)
class RunControl:
    """Settings for the current run; None keeps what the run started with.

    Args:
        paused: Lease no new URLs.
        pages: End the run at this many pages.
        relevant: At this many relevant pages.
        minutes: After this many minutes.
        harvest_below: When less than this share of the last pages was relevant.
    """

    paused: bool = False
    pages: int | None = None
    relevant: int | None = None
    minutes: float | None = None
    harvest_below: float | None = None

    def limits(self) -> dict[str, Any]:
        """Return the limits that are set, by name."""
        return {name: value for name in LIMITS if (value := getattr(self, name)) is not None}


async def set_run_control(frontier: SharedState, run_control: RunControl) -> None:
    """Publish new settings to all workers of a crawl."""
    await frontier.put_state(CRAWL_WIDE, KIND, json.dumps(asdict(run_control)), seconds=KEPT_SECONDS)


async def begin(frontier: SharedState, limits: RunControl, *, continues: bool = False) -> None:
    """Publish the limits that a run starts with, and reset the settings of the previous run unless it continues."""
    if not continues:
        await set_run_control(frontier, RunControl())
    await frontier.put_state(CRAWL_WIDE, INITIAL_LIMITS_KIND, json.dumps(asdict(limits)), seconds=KEPT_SECONDS)


async def read_run_control(frontier: StateReader) -> RunControl:
    """Return the current settings; the defaults when they cannot be read."""
    return await _read_kind(frontier, KIND)


async def initial_limits(frontier: StateReader) -> RunControl:
    """Return the limits that the last run started with."""
    return await _read_kind(frontier, INITIAL_LIMITS_KIND)


async def _read_kind(frontier: StateReader, kind: str) -> RunControl:
    content = await frontier.get_state(CRAWL_WIDE, kind)
    try:
        return _read(json.loads(content)) if content else RunControl()
    except (ValueError, TypeError, AttributeError):
        return RunControl()


def _read(entry: Mapping[str, Any]) -> RunControl:
    pages, relevant, minutes, harvest_below = (entry.get(name) for name in LIMITS)
    return RunControl(
        paused=entry.get("paused") is True,
        pages=None if pages is None else int(pages),
        relevant=None if relevant is None else int(relevant),
        minutes=None if minutes is None else float(minutes),
        harvest_below=None if harvest_below is None else float(harvest_below),
    )


class RunControlPoller:
    """Polls the run-control settings, at most once a second."""

    def __init__(self, frontier: SharedState, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._frontier = frontier
        self._clock = clock
        self._next = 0.0
        self._run_control = RunControl()

    async def poll(self) -> RunControl:
        """Return the settings as of the last poll."""
        if self._clock() >= self._next:
            self._run_control = await read_run_control(self._frontier)
            self._next = self._clock() + POLL_SECONDS
        return self._run_control
