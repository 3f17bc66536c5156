"""Reopen URLs that the address guard refused, after network.allow has changed.

A refusal depends on the configuration, so it must not be final. The allowed networks of the last run are stored in the
frontier; only when they differ are stored rows searched for refusals.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from thresher.frontier.base import CRAWL_WIDE, CrawlStore
from thresher.records import Candidate
from thresher.storage.reader import PageStoreReader

REFUSED = "refused: "
"""Prefix of the reason when the address guard refused an address."""

_KIND = "network_allow"
_KEPT_SECONDS = 10 * 365 * 86_400.0
_AT_ONCE = 500
_ROWS = "SELECT DISTINCT url FROM page WHERE page = 0 AND reason LIKE 'refused: %'"


async def reopen_refused(pages: Path, allow: Sequence[str], frontier: CrawlStore) -> int:
    """Reopen refused URLs if the allowed networks have changed since the last run; return how many."""
    now = json.dumps(sorted(allow))
    if await frontier.get_state(CRAWL_WIDE, _KIND) == now:
        return 0
    with PageStoreReader(pages) as collection:
        urls = [url for segment in collection.segments for (url,) in segment.execute(_ROWS)]
    reopened = 0
    for start in range(0, len(urls), _AT_ONCE):
        reopened += await frontier.reopen([Candidate(url=url, score=0.0) for url in urls[start : start + _AT_ONCE]])
    await frontier.put_state(CRAWL_WIDE, _KIND, now, seconds=_KEPT_SECONDS)
    return reopened
