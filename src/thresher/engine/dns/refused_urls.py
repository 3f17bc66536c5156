"""Reopen URLs that the address guard refused, after network.allow has changed.

A refusal depends on the configuration, so it must not be final. The allowed networks of the last run are stored in the
frontier; only when they differ are stored rows searched for refusals.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from thresher.frontier.base import CRAWL_WIDE, CrawlStore
from thresher.reasons.reason import REFUSED
from thresher.records import Candidate, RequestKind
from thresher.storage.reader import PageStoreReader

_KIND = "network_allow"
_KEPT_SECONDS = 10 * 365 * 86_400.0
_AT_ONCE = 500
_ROWS = "SELECT DISTINCT url, depth FROM page WHERE page = 0 AND reason_kind IN (SELECT value FROM json_each(?))"


async def reopen_refused(pages: Path, allow: Sequence[str], frontier: CrawlStore) -> int:
    """Reopen refused URLs if the allowed networks have changed since the last run; return how many."""
    now = json.dumps(sorted(allow))
    if await frontier.get_state(CRAWL_WIDE, _KIND) == now:
        return 0
    with PageStoreReader(pages) as collection:
        refused = [
            Candidate(url=url, score=0.0, hops=depth, kind=RequestKind.at(depth))
            for segment in collection.segments
            for url, depth in segment.execute(_ROWS, [json.dumps(sorted(REFUSED))])
        ]
    reopened = 0
    for start in range(0, len(refused), _AT_ONCE):
        reopened += await frontier.reopen(refused[start : start + _AT_ONCE])
    await frontier.put_state(CRAWL_WIDE, _KIND, now, seconds=_KEPT_SECONDS)
    return reopened
