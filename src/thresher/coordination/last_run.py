"""How the last run of a crawl ended, stored in the frontier so that every command and machine can report it."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, replace

from thresher.frontier.base import CRAWL_WIDE, SharedState, StateReader
from thresher.locale.translation import Translatable, _

KIND = "ended"
KEPT_SECONDS = 10 * 365 * 86_400.0
RUNNING, KILLED, ERROR = "running", "killed", "error"
NOTHING_FETCHED = 9
"""Exit code of a run that could fetch nothing, or almost nothing."""
MESSAGES = {
    "done": _("nothing is left to fetch"),
    "resting": _("the remaining URLs wait for hosts that do not answer or are parked"),
    "relevant": _("the limit of relevant pages is reached"),
    "topics": _("every topic has its pages"),
    "harvest": _("the harvest rate fell below its limit"),
    "pages": _("the page limit is reached"),
    "minutes": _("the time limit is reached"),
    "stopped": _("stopped by the user"),
    "forced": _("stopped by the user at once"),
    "left": _("this machine left, others continue"),
    RUNNING: _("the run has not ended yet"),
    KILLED: _("the last run was killed before it could end"),
}
"""How a run ended, by its code."""


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


def without_pages(why: str, fetched: int) -> Translatable:
    """Return how a run ended that could fetch nothing, or almost nothing."""
    if fetched:
        return _("almost nothing could be fetched, {why}", why=why)
    return _("nothing could be fetched, {why}", why=why)


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
        return RunEnd(code=KILLED, words=MESSAGES[KILLED], at=ended.at)
    return replace(ended, words=_translatable(ended)) if ended else None


def _translatable(ended: RunEnd) -> str:
    """Return the words with a translation, which is made from the code: it names no hosts and no numbers."""
    if ended.code == ERROR:
        return _("the run failed: {error}", error=ended.words).in_english(ended.words)
    if ended.code not in MESSAGES:
        return ended.words
    message = MESSAGES[ended.code]
    if ended.exit_code == NOTHING_FETCHED:
        message = without_pages(message, ended.fetched)
    return message.in_english(ended.words)
