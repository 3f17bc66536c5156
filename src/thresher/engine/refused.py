"""URLs that the address guard refused, after network.allow has changed: they wait again.

A refusal is a matter of configuration, so it must not be the last word on a URL. The list of allowed networks of the
last run is kept as a note in the frontier; only when it differs are stored rows searched for refusals.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from thresher.archive.collection import Collection
from thresher.frontier.base import EVERYBODY, Frontier
from thresher.records import Candidate

REFUSED = "refused: "
"""How the reason begins when the address guard did not dial an address."""

_KIND = "network_allow"
_KEPT_SECONDS = 10 * 365 * 86_400.0
_AT_ONCE = 500
_ROWS = "SELECT DISTINCT url FROM page WHERE page = 0 AND reason LIKE 'refused: %'"


async def reopen_refused(pages: Path, allow: Sequence[str], frontier: Frontier) -> int:
    """Let refused URLs wait again if the allowed networks have changed since the last run; return how many do."""
    now = json.dumps(sorted(allow))
    if await frontier.recall(EVERYBODY, _KIND) == now:
        return 0
    with Collection(pages) as collection:
        urls = [url for segment in collection.segments for (url,) in segment.execute(_ROWS)]
    reopened = 0
    for start in range(0, len(urls), _AT_ONCE):
        reopened += await frontier.reopen([Candidate(url=url, score=0.0) for url in urls[start : start + _AT_ONCE]])
    await frontier.remember(EVERYBODY, _KIND, now, seconds=_KEPT_SECONDS)
    return reopened
