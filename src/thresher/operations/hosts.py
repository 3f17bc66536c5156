"""Hosts for users: their numbers, the parts that are not crawled, and releasing and blocking them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from thresher.errors import ConfigError
from thresher.frontier.base import CrawlStore, FailureCount, HostEntry
from thresher.locale.translation import _
from thresher.monitoring.failures import block_kind_of
from thresher.politeness import host_budget
from thresher.reasons.reason import Reason, ReasonKind, describe
from thresher.traps.detector import FIRST_PAGES, LEFT, forget_left, read_left


class SharedStateReader(Protocol):
    """Reads the stored state of hosts."""

    async def get_state(self, host: str, kind: str) -> str | None: ...


class FailureReader(Protocol):
    """Reads why URLs failed."""

    async def failures(self) -> list[FailureCount]: ...


def host_json(
    entry: HostEntry, left: Mapping[str, Reason], blocked: Mapping[str, int], *, language: str = "en"
) -> dict[str, Any]:
    """Return a host as plain values, with the parts of it that are not crawled, and its block pages by kind."""
    return {
        **asdict(entry),
        "parked": describe(entry.parked, language),
        "harvest_rate": harvest(entry),
        "left_alone": {part: describe(reason, language) for part, reason in left.items()},
        "blocked": dict(blocked),
    }


async def block_pages(frontier: FailureReader) -> dict[str, dict[str, int]]:
    """Return by host how many URLs gave a block page, by its kind; URLs that are tried again do not count."""
    found: dict[str, dict[str, int]] = {}
    for count in await frontier.failures():
        if not count.waiting and (kind := block_kind_of(count.reason)):
            by_kind = found.setdefault(count.host, {})
            by_kind[kind] = by_kind.get(kind, 0) + count.urls
    return found


def harvest(entry: HostEntry) -> float:
    """Return the harvest rate of a host."""
    return entry.relevant / entry.pages if entry.pages else 0.0


async def left_parts(states: SharedStateReader, entries: Sequence[HostEntry]) -> dict[str, dict[str, Reason]]:
    """Return by host the parts that are not crawled, each with the reason."""
    watched = [entry.host for entry in entries if entry.pages >= FIRST_PAGES]
    stored = await asyncio.gather(*(states.get_state(host, LEFT) for host in watched))
    return {host: read_left(text) for host, text in zip(watched, stored, strict=True) if text}


async def release(frontier: CrawlStore, host: str) -> None:
    """Let a host be crawled again, with a new budget, including parts that were excluded as traps.

    Raises:
        ConfigError: It is not parked, and no part of it is excluded.
    """
    parked = await host_budget.release(frontier, host)
    if not (await forget_left(frontier, host) or parked):
        raise ConfigError(
            _("{host} is not parked, nor is any part of it left alone; thresher hosts lists those that are", host=host)
        )


async def block(frontier: CrawlStore, host: str, reason: str = "") -> None:
    """Park a host until it is released."""
    await frontier.park(host, Reason.of(ReasonKind.BLOCKED_BY_USER, *filter(None, [reason])))
