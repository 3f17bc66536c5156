"""Who works for a crawl on this machine, and how far each has heard what people said; told through the frontier.

Machines that share a store know each other by `fleet.roster`; there only the hearing is told here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from thresher.frontier.base import EVERYBODY, Frontier

CREW, HEARD = "crew", "heard"
CREW_SECONDS = 10.0
"""A crew that has not been told of for so long is gone."""
TELL_SECONDS = 2.0
HEARD_SECONDS = 365 * 86_400.0


@dataclass(frozen=True, kw_only=True)
class Hand:
    """A worker process.

    Args:
        since: When it began, in seconds since the epoch.
    """

    name: str
    process: int
    since: float


async def muster(frontier: Frontier, hands: Sequence[Hand]) -> None:
    """Tell who is at work; to be told again before `CREW_SECONDS` are over."""
    told = json.dumps([asdict(hand) for hand in hands])
    await frontier.remember(EVERYBODY, CREW, told, seconds=CREW_SECONDS)


async def crew(frontier: Frontier) -> list[Hand]:
    """Return who was at work a moment ago; nobody when that cannot be read."""
    told = await frontier.recall(EVERYBODY, CREW)
    try:
        return [Hand(**said) for said in json.loads(told)] if told else []
    except (ValueError, TypeError):
        return []


async def say_heard(frontier: Frontier, worker: str, labels: int) -> None:
    """Tell that a worker has heard the first `labels` labels, and that the queue has followed."""
    await frontier.remember(EVERYBODY, f"{HEARD} {worker}", str(labels), seconds=HEARD_SECONDS)


async def heard_by(frontier: Frontier, worker: str) -> int:
    """Return how many labels a worker has heard."""
    told = await frontier.recall(EVERYBODY, f"{HEARD} {worker}")
    return int(told) if told and told.isdecimal() else 0
