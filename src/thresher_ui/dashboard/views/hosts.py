"""Hosts: their pages, why they or parts of them are not crawled, the state of their robots.txt, and usage signals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from thresher.monitoring.totals import host_totals
from thresher.operations import hosts as host_operations
from thresher.parsing.html import PRODUCT
from thresher.politeness.robots import ROBOTS_PATH, RobotsAnswer, is_unreachable, statements_for
from thresher.politeness.tdmrep import TDMREP_PATH, reservations_in
from thresher.reasons.legacy import stored_reason
from thresher.reasons.reason import describe
from thresher_ui.dashboard.open_crawl import OpenCrawl

SCHEMES = ("https", "http")
_BLOCK_PAGES_SECONDS = 10.0


async def hosts(
    open_crawl: OpenCrawl, *, limit: int = 100, parked: bool = False, language: str = "en"
) -> dict[str, Any]:
    """Return hosts, those with most pages first; with `parked`, only parked ones. Reasons are in a language."""
    entries = await open_crawl.frontier_reader.hosts(limit, parked=parked)
    left = await host_operations.left_parts(open_crawl.frontier_reader, entries)
    reader = open_crawl.frontier_reader
    blocked = await open_crawl.cache.get(
        "block pages", lambda: host_operations.block_pages(reader), seconds=_BLOCK_PAGES_SECONDS
    )
    entries = await host_totals(entries, open_crawl.crawl.backend.counted_pages)
    names, is_read = [entry.host for entry in entries], open_crawl.crawl.config.politeness.robots != "ignore"
    robots = await _answers(open_crawl, names if is_read else [], ROBOTS_PATH)
    reserved = await _answers(open_crawl, names if is_read else [], TDMREP_PATH)
    return {
        "hosts": [
            {
                **host_operations.host_json(
                    entry, left.get(entry.host, {}), blocked.get(entry.host, {}), language=language
                ),
                "robots": _state(robots[entry.host], language) if is_read else _robots_state("ignored"),
                "signals": _signals(robots[entry.host], reserved[entry.host]) if is_read else [],
            }
            for entry in entries
        ]
    }


async def _answers(open_crawl: OpenCrawl, hosts: Sequence[str], path: str) -> dict[str, list[RobotsAnswer]]:
    """Return what is cached of one file of each host, by its schemes."""
    keys = [(host, f"{scheme}://{host}{path}") for host in hosts for scheme in SCHEMES]
    states = await open_crawl.frontier_reader.get_states(keys)
    answers: dict[str, list[RobotsAnswer]] = {host: [] for host in hosts}
    for (host, _), stored in zip(keys, states, strict=True):
        if stored:
            answers[host].append(RobotsAnswer(**json.loads(stored)))
    return answers


def _signals(robots: Sequence[RobotsAnswer], reserved: Sequence[RobotsAnswer]) -> list[dict[str, str]]:
    """Return the usage signals in the cached files of a host; http and https often have the same ones."""
    found = [each for answer in robots for each in statements_for(answer.text, PRODUCT)]
    found += [each for answer in reserved for rule in reservations_in(answer.text) for each in rule]
    return [{**each.signal._asdict(), "path": each.path} for each in dict.fromkeys(found)]


def _state(answers: Sequence[RobotsAnswer], language: str) -> dict[str, Any]:
    """Return the state of the newest robots.txt of a host, by the rules of `thresher.politeness.robots`."""
    if not answers:
        return _robots_state("unknown")
    newest = max(answers, key=lambda answer: answer.read_at)
    if newest.target:
        return _robots_state("elsewhere", newest, language)
    if is_unreachable(newest.status):
        return _robots_state("unreadable", newest, language)
    return _robots_state("read" if newest.status < 300 else "none", newest, language)


def _robots_state(state: str, answer: RobotsAnswer | None = None, language: str = "en") -> dict[str, Any]:
    return {
        "state": state,
        "status": answer.status if answer else None,
        "reason": describe(stored_reason(answer.reason), language) if answer else "",
        "tries": answer.tries if answer else 0,
        "target": answer.target if answer else "",
    }
