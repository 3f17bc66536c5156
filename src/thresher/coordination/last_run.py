"""How the last run of a crawl ended, stored in the frontier so that every command and machine can report it."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field

from thresher.frontier.base import CRAWL_WIDE, SharedState, StateReader

KIND = "ended"
KEPT_SECONDS = 10 * 365 * 86_400.0
RUNNING, KILLED, ERROR = "running", "killed", "error"


@dataclass(frozen=True, kw_only=True)
class RunEnd:
    """The end of a run.

    Args:
        code: done, resting, pages, relevant, topics, minutes, harvest, stopped, forced; running while it has not ended,
            killed when it was cut off, error when it failed.
        words: The same as a sentence.
        exit_code: That of the command; null while unknown.
        fetched: Pages that the run fetched.
        at: When it was recorded, in seconds since the epoch.
    """

    code: str
    words: str
    exit_code: int | None = None
    fetched: int = 0
    at: float = field(default_factory=time.time)


async def record_run_end(frontier: SharedState, ended: RunEnd, *, replaces_end: bool = True) -> None:
    """Store the state of the run, replacing that of the previous run; an end only if `replaces_end`."""
    if not replaces_end:
        known = await last_run_end(frontier, is_running=True)
        if known and known.code != RUNNING:
            return
    await frontier.put_state(CRAWL_WIDE, KIND, json.dumps(asdict(ended)), seconds=KEPT_SECONDS)


async def last_run_end(frontier: StateReader, *, is_running: bool) -> RunEnd | None:
    """Return how the last run ended; None when there was none, or its record cannot be read.

    Args:
        is_running: Whether a run may be active; otherwise a run that never recorded its end was killed.
    """
    content = await frontier.get_state(CRAWL_WIDE, KIND)
    try:
        ended = RunEnd(**json.loads(content)) if content else None
    except (ValueError, TypeError):
        return None
    if ended and ended.code == RUNNING and not is_running:
        return RunEnd(code=KILLED, words="the last run was killed before it could end", at=ended.at)
    return ended
