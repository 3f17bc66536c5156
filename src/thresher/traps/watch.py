"""Watching for traps. Budgets end every trap some day; the watch ends most of them after some twenty pages.

It looks at hosts that have given a few pages already, and knows four signs: too many variants of one template without
harvest; pages of one template that say nothing that earlier ones did not say; pages that lead only to pages never
heard of; and pages like the answer to a request for one that cannot exist.

Each worker watches what it fetches itself, so with several workers a trap may cost each of them as much. What one of
them left alone is shared through the notes of the frontier, and there after a restart; the counters begin anew.
"""

from __future__ import annotations

import json
from collections import OrderedDict

from thresher.frontier.base import Frontier
from thresher.records import Candidate, Lease, ParsedPage
from thresher.traps import probe
from thresher.traps.watched import ALL, WatchedHost
from thresher.urls.host import host_key

FIRST_PAGES = 4
"""A host is watched when it has given so many pages; most never do."""
PROBE_AT = 10
"""The page of a host after which it is asked for one that cannot exist; somewhat later all workers know the answer."""
PROBE_KNOWN_AT = PROBE_AT + 5
NOTED_SECONDS = 30 * 24 * 3600.0
LEFT = "left alone"
"""The note on a host of which parts are left alone: from a part to the reason."""

_MAX_HOSTS = 2_000


async def left_alone(frontier: Frontier, host: str) -> dict[str, str]:
    """Return the parts of a host that are left alone, each with the reason."""
    note = await frontier.recall(host, LEFT)
    return dict(json.loads(note)) if note else {}


async def forget_left(frontier: Frontier, host: str) -> bool:
    """Let all parts of a host be asked again, by the next run; False when none was left alone."""
    left = await left_alone(frontier, host)
    if left:
        await frontier.remember(host, LEFT, "{}", seconds=NOTED_SECONDS)
    return bool(left)


class TrapWatch:
    """Says which URLs to leave alone, and which hosts to park."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._hosts: OrderedDict[str, WatchedHost] = OrderedDict()
        self._leaving = False

    def leaves(self, url: str) -> str:
        """Say why a URL should not be fetched; empty when it may be."""
        if not self._leaving:
            return ""
        host = self._hosts.get(host_key(url))
        return host.leaves(url) if host else ""

    async def see(self, lease: Lease, page: ParsedPage, *, relevant: bool, copy: bool) -> str:
        """Take in a page; return why its host should be asked no more, if it should not.

        A host that gave relevant pages elsewhere is asked on; only the part that is a trap is left alone.
        """
        if lease.host_pages < FIRST_PAGES:
            return ""
        host = await self._watched(lease)
        complaint = host.see(page, parent=lease.parent, relevant=relevant, copy=copy)
        if complaint is None or complaint.part in host.left:
            return ""
        if complaint.part == ALL or lease.host_relevant + relevant <= complaint.relevant:
            return complaint.reason
        host.left[complaint.part] = complaint.reason
        self._leaving = True
        await self._frontier.remember(lease.host, LEFT, json.dumps(host.left), seconds=NOTED_SECONDS)
        return ""

    def probe(self, lease: Lease) -> list[Candidate]:
        """Return what to ask a host that has given some pages: a page that cannot exist."""
        return [probe.candidate(lease)] if lease.host_pages + 1 == PROBE_AT else []

    async def take_probe(self, lease: Lease, page: ParsedPage | None) -> str:
        """Learn how a host answers for a page that cannot exist; return it in words."""
        missing = probe.signature(page) if page else []
        (await self._watched(lease)).missing = frozenset(missing)
        await self._frontier.remember(lease.host, probe.NOTE, json.dumps(missing), seconds=NOTED_SECONDS)
        return "pages that are not there have a page" if missing else "pages that are not there are refused"

    async def is_missing(self, lease: Lease, page: ParsedPage) -> bool:
        """Tell whether a page only says that there is none."""
        if lease.host_pages < PROBE_AT:
            return False
        host = await self._watched(lease)
        if lease.host_pages == PROBE_KNOWN_AT:
            host.missing = await self._answer_for_missing(lease.host)
        return probe.is_like(page, host.missing)

    async def _watched(self, lease: Lease) -> WatchedHost:
        host = self._hosts.get(lease.host)
        if host is None:
            host = WatchedHost()
            host.left.update(await left_alone(self._frontier, lease.host))
            host.missing = await self._answer_for_missing(lease.host)
            self._leaving |= bool(host.left)
            self._hosts[lease.host] = host
            if len(self._hosts) > _MAX_HOSTS:
                self._hosts.popitem(last=False)
        self._hosts.move_to_end(lease.host)
        return host

    async def _answer_for_missing(self, host: str) -> frozenset[int]:
        note = await self._frontier.recall(host, probe.NOTE)
        return frozenset(json.loads(note) if note else ())
