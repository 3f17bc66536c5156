"""Entries that versions up to 0.2.0 stored: their kind is known only from their URL, their data and their hops.

No other module knows these signs.
"""

from __future__ import annotations

from typing import NamedTuple

from thresher.reasons.reason import ReasonKind
from thresher.records import EMPTY, RequestKind, StrategyData

_FRAGMENTS = {"#robots-": RequestKind.ROBOTS, "#request-": RequestKind.TICKET}
_KEYS = {"sitemap": RequestKind.SITEMAP, "feed": RequestKind.FEED, "probe": RequestKind.PROBE}
_MAX_INDEX_DEPTH = 3
_HOST_KEY = "for"
_SITEMAP_ENDINGS = (".xml", ".xml.gz")


class OldEntry(NamedTuple):
    """What the entry of an earlier version would be now."""

    kind: RequestKind
    depth_left: int
    strategy_data: StrategyData = EMPTY
    for_host: str = ""


def read_old_entry(url: str, hops: int, depth_left: int, strategy_data: StrategyData) -> OldEntry:
    """Return the kind of an entry, and the fields that were stored differently."""
    for fragment, kind in _FRAGMENTS.items():
        if fragment in url:
            return OldEntry(kind, depth_left, strategy_data)
    kind = next((_KEYS[key] for key in _KEYS if key in strategy_data), RequestKind.at(hops))
    if kind.is_page:
        return OldEntry(kind, depth_left, strategy_data)
    if kind is RequestKind.SITEMAP:
        return OldEntry(
            kind, _MAX_INDEX_DEPTH - int(str(strategy_data["sitemap"])), for_host=str(strategy_data.get(_HOST_KEY, ""))
        )
    return OldEntry(kind, depth_left)


def may_be_old_sitemap(reason: ReasonKind, link: str) -> bool:
    """Return whether a link in the row of a sitemap may be a sitemap: these versions listed them beside the pages."""
    return reason is ReasonKind.SITEMAP and link.endswith(_SITEMAP_ENDINGS)
