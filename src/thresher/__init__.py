"""Thresher, a focused web crawler.

    import thresher

    topic = thresher.Topic("perovskite solar cells; 钙钛矿太阳能电池")
    crawl = thresher.Crawl("solar", topic=topic, seeds=["https://…"], contact="me@example.org")
    for page in crawl.run(pages=500):
        print(f"{page.relevance:.2f} {page.title} {page.url}")

The names below are what programs may rely on. Each is imported when it is first asked for, so that `import thresher`
costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.api.crawl import Crawl
    from thresher.api.page import Page
    from thresher.api.pages import Pages
    from thresher.api.run import Run
    from thresher.api.search_results import FoundPage
    from thresher.api.topic import Topic
    from thresher.api.why import Step, Why
    from thresher.errors import ThresherError
    from thresher.status import CrawlStatus as Status

__version__ = "0.3.0"

__all__ = [
    "Crawl",
    "FoundPage",
    "Page",
    "Pages",
    "Run",
    "Status",
    "Step",
    "ThresherError",
    "Topic",
    "Why",
    "__version__",
]

_PLACES = {
    "Crawl": "thresher.api.crawl.Crawl",
    "FoundPage": "thresher.api.search_results.FoundPage",
    "Page": "thresher.api.page.Page",
    "Pages": "thresher.api.pages.Pages",
    "Run": "thresher.api.run.Run",
    "Status": "thresher.status.CrawlStatus",
    "Step": "thresher.api.why.Step",
    "ThresherError": "thresher.errors.ThresherError",
    "Topic": "thresher.api.topic.Topic",
    "Why": "thresher.api.why.Why",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module 'thresher' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].rpartition(".")
    found = globals()[name] = getattr(import_module(module), attribute)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
