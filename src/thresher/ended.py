"""How the last run of a crawl ended, kept in the frontier so that every command and machine can report it."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field

from thresher.frontier.base import EVERYBODY, Frontier
from thresher.frontier.look import Look

KIND = "ended"
KEPT_SECONDS = 10 * 365 * 86_400.0
RUNNING, KILLED, ERROR = "running", "killed", "error"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The end of a run.

    Args:
        code: The ending in lower case, such as ``pages`` or ``done``; ``running`` while it has not ended, ``killed``
            when it was cut off, ``error`` when it failed.
        words: The same for people.
        exit_code: Of ``thresher run``; None while it is not known.
        fetched: Pages that the run brought.
        at: When it was noted, in seconds since the epoch.
    """

    code: str
    words: str
    exit_code: int | None = None
    fetched: int = 0
    at: float = field(default_factory=time.time)


async def note_ended(frontier: Frontier, ended: Ended) -> None:
    """Keep how the run stands; it replaces what was kept of the run before."""
    await frontier.remember(EVERYBODY, KIND, json.dumps(asdict(ended)), seconds=KEPT_SECONDS)


async def last_ended(frontier: Frontier | Look, *, is_running: bool) -> Ended | None:
    """Return how the last run ended; None when there was none, or nothing that can be read.

    Args:
        is_running: Whether a run may be under way; else one that never noted its end was killed.
    """
    note = await frontier.recall(EVERYBODY, KIND)
    try:
        ended = Ended(**json.loads(note)) if note else None
    except (ValueError, TypeError):
        return None
    if ended and ended.code == RUNNING and not is_running:
        return Ended(code=KILLED, words="the last run was killed before it could end", at=ended.at)
    return ended
