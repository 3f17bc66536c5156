"""Why a URL is where it is: what the frontier and the page store know of it, put together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from thresher.archive.collection import Collection, Hop
from thresher.archive.pages import PageRecord
from thresher.build import Crawl
from thresher.errors import ConfigError
from thresher.frontier.base import UrlEntry
from thresher.urls.canonical import canonicalize, fingerprint
from thresher.urls.traps import trap


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """All that is known of a URL.

    Args:
        entry: Where it stands in the frontier; None when it never got there.
        path: From the seed to it, or to the page it was found on when it was not fetched yet.
        history: Every time it was settled, oldest first.
        outside: Why the crawl's rules leave it out; empty when they do not.
    """

    url: str
    entry: UrlEntry | None
    path: list[Hop]
    history: list[PageRecord]
    outside: str

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "url": self.url,
            "state": str(self.entry.state) if self.entry else "unknown",
            "reason": self.entry.reason if self.entry else self.outside,
            "frontier": asdict(self.entry) if self.entry else None,
            "path": [_hop(hop) for hop in self.path],
            "history": [_settled(record) for record in self.history],
        }


def _hop(hop: Hop) -> dict[str, Any]:
    link = {"anchor": hop.anchor, "score": hop.score, "score_parts": dict(hop.parts)}
    return {**_settled(hop.record), **link}


def _settled(record: PageRecord) -> dict[str, Any]:
    kept = (
        "url",
        "status",
        "reason",
        "title",
        "language",
        "relevance",
        "relevant",
        "probability",
        "depth",
        "fetched_at",
    )
    return {
        **{name: getattr(record, name) for name in kept},
        "outcome": str(record.outcome),
        "relevance_parts": dict(record.parts),
    }


async def explain(crawl: Crawl, text: str) -> Explanation:
    """Gather all that is known of a URL.

    Raises:
        ConfigError: The text is no http or https URL.
    """
    url = canonicalize(text)
    if url is None:
        raise ConfigError(f"{text!r} is not an http or https URL")
    frontier = crawl.frontier()
    try:
        entry = await frontier.find(url)
    finally:
        await frontier.close()
    with Collection(crawl.folder.pages) as collection:
        path = collection.path(fingerprint(url))
        if not path and entry and entry.parent:
            path = collection.path(entry.parent)
        history = collection.history(fingerprint(url))
    outside = "" if entry else crawl.rules().scope.allows(url, 0) or trap(url)
    return Explanation(url=url, entry=entry, path=path, history=history, outside=outside)
