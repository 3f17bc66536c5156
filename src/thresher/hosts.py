"""Hosts as people see them and care for them: what they gave, what is left alone, and how one lets them go on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from thresher import budgets
from thresher.errors import ConfigError
from thresher.frontier.base import Frontier, HostEntry
from thresher.traps.watch import FIRST_PAGES, LEFT, forget_left

BLOCKED = "blocked by hand"


class Notes(Protocol):
    """What was remembered about hosts."""

    async def recall(self, host: str, kind: str) -> str | None:
        """Return a note."""
        ...


def host_json(entry: HostEntry, left: Mapping[str, str]) -> dict[str, Any]:
    """Return a host as plain values, with the parts of it that are left alone."""
    return {**asdict(entry), "harvest_rate": harvest(entry), "left_alone": dict(left)}


def harvest(entry: HostEntry) -> float:
    """Return the share of relevant pages among those of a host."""
    return entry.relevant / entry.pages if entry.pages else 0.0


async def left_parts(notes: Notes, entries: Sequence[HostEntry]) -> dict[str, dict[str, str]]:
    """Return by host the parts that are left alone, each with the reason."""
    watched = [entry.host for entry in entries if entry.pages >= FIRST_PAGES]
    said = await asyncio.gather(*(notes.recall(host, LEFT) for host in watched))
    return {host: dict(json.loads(note)) for host, note in zip(watched, said, strict=True) if note}


async def release(frontier: Frontier, host: str) -> None:
    """Let a host be asked again, with a fresh budget, and the parts of it that were left alone.

    Raises:
        ConfigError: It is not parked, nor is any part of it left alone.
    """
    parked = await budgets.release(frontier, host)
    if not (await forget_left(frontier, host) or parked):
        raise ConfigError(f"{host} is not parked, nor is any part of it left alone; thresher hosts lists who is")


async def block(frontier: Frontier, host: str, reason: str = "") -> None:
    """Ask a host no more, until somebody releases it."""
    await frontier.park(host, f"{BLOCKED}: {reason}" if reason else BLOCKED)
