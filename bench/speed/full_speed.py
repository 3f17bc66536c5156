"""Settings under which nothing but this machine limits a crawl of the recording server's pages."""

from __future__ import annotations

from typing import Any

from testing.recording_server.site import Site
from testing.recording_server.words import TOPIC_WORDS

SITE = Site(pages=100_000, hosts=200, page_bytes=30 * 1024, links=60)
CONCURRENCY = 32


def full_speed(**more: Any) -> dict[str, Any]:
    """Return the settings of a crawl without delays or budgets of hosts, and more."""
    return {
        "keywords": TOPIC_WORDS,
        "languages": ["en"],
        "scope": {"max_pages_per_host": SITE.pages, "first_pages_per_host": None},
        "politeness": {"delay_seconds": 0.0},
        "network": {"allow": ["127.0.0.0/8"]},
        "engine": {"concurrency": CONCURRENCY},
        **more,
    }
