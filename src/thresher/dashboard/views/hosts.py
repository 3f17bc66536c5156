"""Hosts: what they gave, whom the crawl leaves alone and why, and what their robots.txt said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from thresher import hosts as care
from thresher.dashboard.watched import WatchedCrawl
from thresher.engine.robots import RobotsAnswer, is_unreachable
from thresher.totals import host_totals

SCHEMES = ("https", "http")


async def hosts(watched: WatchedCrawl, *, limit: int = 100, parked: bool = False) -> dict[str, Any]:
    """Return hosts, those with most pages first; only parked ones when asked."""
    entries = await watched.look.hosts(limit, parked=parked)
    left = await care.left_parts(watched.look, entries)
    entries = await host_totals(entries, watched.crawl.counted_pages)
    robots = await _robots(watched, [entry.host for entry in entries])
    return {
        "hosts": [
            {**care.host_json(entry, left.get(entry.host, {})), "robots": robots[entry.host]} for entry in entries
        ]
    }


async def _robots(watched: WatchedCrawl, hosts: Sequence[str]) -> dict[str, dict[str, Any]]:
    if watched.crawl.config.manners.robots == "ignore":
        return {host: _said("ignored") for host in hosts}
    places = [(host, f"{scheme}://{host}/robots.txt") for host in hosts for scheme in SCHEMES]
    notes = await watched.look.recall_all(places)
    answers: dict[str, list[RobotsAnswer]] = {host: [] for host in hosts}
    for (host, _), note in zip(places, notes, strict=True):
        if note:
            answers[host].append(RobotsAnswer(**json.loads(note)))
    return {host: _state(said) for host, said in answers.items()}


def _state(answers: Sequence[RobotsAnswer]) -> dict[str, Any]:
    """Say what the newest answer of a host means; `thresher.engine.robots` tells the rules."""
    if not answers:
        return _said("unknown")
    newest = max(answers, key=lambda answer: answer.read_at)
    if newest.target:
        return _said("elsewhere", newest)
    if is_unreachable(newest.status):
        return _said("unreadable", newest)
    return _said("read" if newest.status < 300 else "none", newest)


def _said(state: str, answer: RobotsAnswer | None = None) -> dict[str, Any]:
    return {
        "state": state,
        "status": answer.status if answer else None,
        "reason": answer.reason if answer else "",
        "tries": answer.tries if answer else 0,
        "target": answer.target if answer else "",
    }
