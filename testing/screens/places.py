"""Where the screens of a crawl are."""

from __future__ import annotations

from urllib.parse import quote

from testing.screens.world import Dashboard

NAMES = ["crawls", "overview", "pages", "page", "frontier", "hosts", "label", "search", "workers"]


def screens_of(dashboard: Dashboard, crawl: str, query: str = "music") -> dict[str, str]:
    """Return the address of every screen; that of a page is of the best one that is no seed, in English if possible."""
    ranked = f"/api/crawls/{quote(crawl)}/pages?order=relevance&limit=50"
    listed = dashboard.ask(f"{ranked}&language=en")["pages"] or dashboard.ask(ranked)["pages"]
    best = next((each for each in listed if each["depth"] > 1), listed[0])
    base = f"/{quote(crawl)}"
    return {
        "crawls": "/",
        "overview": f"{base}/",
        "pages": f"{base}/pages",
        "page": f"{base}/page?url={quote(best['url'], safe='')}",
        "frontier": f"{base}/frontier",
        "hosts": f"{base}/hosts",
        "label": f"{base}/label",
        "search": f"{base}/search?q={quote(query)}",
        "workers": f"{base}/workers",
    }
