"""A crawl service that returns fixed responses of the documented form, without a crawl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.errors import ConfigError

URL = "http://sun.example/cells/perovskite?a=1&b=2"
OTHER = "http://moon.example/tandem"


FAILURE = {
    "reason": "DNS lookup failed",
    "cause": "unreachable",
    "urls": 12,
    "failed": 0,
    "waiting": 12,
    "hosts": 3,
    "examples": ["a.example", "b.example", "c.example"],
    "retry_seconds": 600.0,
    "words": "12 URLs on 3 hosts: DNS lookup failed (a.example, b.example, c.example), next try in 10 min",
}


COLLECTION = {
    "url": "s3://bucket/solar",
    "segments": 3,
    "rows": 250,
    "waiting_segments": 1,
    "waiting_rows": 12,
    "not_uploaded": None,
    "error": "",
}


TOPICS = [
    {"name": "solar", "relevant": 40, "wanted": 40, "complete": True, "forecast": None},
    {"name": "茶", "relevant": 7, "wanted": None, "complete": False, "forecast": {"pages": 240, "least": 2, "most": 9}},
]


def page_row(**more: Any) -> dict[str, Any]:
    row = {
        "url": URL,
        "title": "Perovskite cells",
        "language": "en",
        "relevance": 0.91,
        "relevant": True,
        "depth": 2,
        "fetched_at": 1_790_000_000.0,
        "host": "sun.example",
    }
    return {**row, **more}


def queued(url: str, score: float) -> dict[str, Any]:
    return {"url": url, "host": "sun.example", "state": "waiting", "score": score, "hops": 2, "tries": 0, "reason": ""}


def hop(**more: Any) -> dict[str, Any]:
    link = {"anchor": "cells", "score": 0.7, "score_parts": {"anchor": 1.5, "host": -0.4}}
    settled = {"status": 200, "reason": "", "outcome": "done", "relevance_parts": {"similarity": 0.8}}
    settled["signals"] = [{"source": "header", "statement": "content-signal", "value": "ai-train=no<b>"}]
    return {**page_row(), **settled, **link, **more}


def details(url: str) -> dict[str, Any]:
    return {
        "trouble": "",
        "parked": "",
        "tries": 0,
        "last_try": 1_790_000_000.0,
        "next_try_seconds": None,
        "frontier": queued(url, 0.5),
        "found_on": OTHER,
        "link": {"url": url, "anchor": "cells", "score": 0.7, "parts": {"anchor": 1.5, "host": -0.4}},
        "words": [{"written": "perovskite", "weight": 1.2, "share": 0.8}],
        "path": [hop(url=OTHER), hop()],
        "history": [hop()],
    }


@dataclass
class SampleService:
    """Returns fixed responses, and records the labels that it is given."""

    state: str = "running"
    title: dict[str, str] = field(default_factory=lambda: {"en": "Solar cells", "zh": "太阳能电池"})
    text: str = "Perovskite cells are layered."
    label_status: str = "fetched"
    applied: bool = True
    given: list[dict[str, bool | None]] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)

    def names(self) -> list[str]:
        return ["solar", "wind & sea"]

    async def view(self, name: str, view: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
        response: dict[str, Any] = await getattr(self, view.__name__)(name, **arguments)
        return response

    async def status(self, name: str) -> dict[str, Any]:
        if name not in self.names():
            raise ConfigError(f"no crawl is called {name!r}")
        counts = dict.fromkeys(("waiting", "leased", "done", "failed", "dropped", "hosts", "ready", "parked"), 12_345)
        budgets = {
            "pages": {"limit": 500, "used": 240},
            "relevant": {"limit": None, "used": 120},
            "minutes": {"limit": 10.0, "used": 2.25},
            "harvest_below": {"limit": 0.05, "used": None},
        }
        return {
            "name": name,
            "title": self.title,
            "strategy": "thresher",
            "judge": "adaptive",
            "shared": False,
            "state": self.state,
            "counts": {**counts, "pages": 240, "relevant": 120, "delayed": 1},
            "harvest_rate": 0.5,
            "provisional": False,
            "pages_per_second": 7.25,
            "limit": {"code": "delay", "number": 1},
            "budgets": budgets,
            "forecast": {"pages": 240, "least": 12, "most": 812},
            "topics": TOPICS,
            "labels": {"yes": 3, "no": 2},
            "ended": {"code": "pages", "words": "the page limit is reached", "exit_code": 0, "fetched": 240, "at": 1.0},
            "blocked": {"challenge": 3},
            "failures": [FAILURE],
            "collection": COLLECTION,
            "can": ["start"] if self.state == "stopped" else ["pause", "stop", "budgets"],
        }

    async def harvest(self, name: str, *, points: int = 200) -> dict[str, Any]:
        curve = [{"pages": 10 * n, "relevant": 5 * n, "rate": 0.5} for n in range(1, min(points, 24) + 1)]
        return {"points": curve, "pages": 240, "relevant": 120}

    async def pages(self, name: str, **_: Any) -> dict[str, Any]:
        return {"pages": [page_row(), page_row(url=OTHER, title="", relevant=False)], "more": True}

    async def page(self, name: str, *, url: str) -> dict[str, Any]:
        return {
            "url": url,
            "title": "Perovskite cells",
            "state": "done",
            "summary": "Relevant: 0.91, above the cut of 0.50; rank 3 of 240.",
            "reason": "",
            "relevance": 0.91,
            "relevant": True,
            "threshold": 0.5,
            "rank": 3,
            "pages": 240,
            "words_for": [{"word": "perovskite", "share": 0.8}],
            "words_against": [{"word": "football", "share": 0.2}],
            "nearest": {"url": OTHER, "title": "Moon", "similarity": 0.4, "kind": "seed"},
            "score": 0.7,
            "queue_rank": None,
            "anchor": "cells",
            "path": [{"url": OTHER, "title": "Moon", "anchor": ""}, {"url": url, "title": "Cells", "anchor": "cells"}],
            "details": {**details(url), **self.known.get("details", {})},
            "text": self.text,
            "links": [{"url": OTHER, "anchor": "tandem", "score": 0.4, "parts": {"anchor": 0.2}}],
            "label": None,
            **{name: value for name, value in self.known.items() if name != "details"},
        }

    async def frontier(self, name: str, *, limit: int = 50) -> dict[str, Any]:
        why = {"anchor": "cells", "parts": {"anchor": 1.0}, "parent": OTHER, "parent_title": "Moon"}
        bins = [{"low": n / 10, "high": (n + 1) / 10, "count": 7 * n} for n in range(10)]
        return {"histogram": bins, "waiting": 12_345, "sampled": True, "next": [{**queued(URL, 0.9), **why}]}

    async def hosts(self, name: str, **_: Any) -> dict[str, Any]:
        host = {
            "host": "sun.example",
            "waiting": 4,
            "leased": 1,
            "pages": 9,
            "relevant": 3,
            "failed": 0,
            "harvest_rate": 1 / 3,
            "delay_seconds": 2.0,
            "next_seconds": 0.5,
            "best": 0.9,
            "parked": "",
            "left_alone": {},
            "blocked": {},
            "robots": {"state": "read", "status": 200, "reason": "", "tries": 0, "target": ""},
            "signals": [{"source": "tdmrep.json", "statement": "tdm-reservation", "value": "1", "path": "/papers/"}],
        }
        parked = {
            "host": "moon.example",
            "parked": "answers 503",
            "best": None,
            "left_alone": {"/cal": "a calendar"},
            "blocked": {"login": 2},
        }
        return {"hosts": [host, {**host, **parked}]}

    async def questions(self, name: str, *, limit: int = 10, without: Sequence[str] = ()) -> dict[str, Any]:
        asked = [{**page_row(url=url), "rank": 51, "pages": 1_300, "excerpt": self.text} for url in (URL, OTHER)]
        left = [question for question in asked if question["url"] not in without]
        return {"questions": left[:limit], "label_counts": {"yes": 3, "no": 2}}

    async def add_labels(self, name: str, *, labels: dict[str, bool | None]) -> dict[str, Any]:
        self.given.append(dict(labels))
        before = {"relevant": 49, "labelled": 5, "queue": [queued("http://a/", 0.9), queued("http://b/", 0.8)]}
        after = {"relevant": 1_288, "labelled": 6, "queue": [queued("http://b/", 0.95), queued("http://c/", 0.9)]}
        urls = [
            {"url": url, "relevant": word, "status": self.label_status, "reason": ""} for url, word in labels.items()
        ]
        return {
            "labels": 1,
            "applied": self.applied,
            "before": before,
            "after": after,
            "now_relevant": [{"url": "http://a/", "title": "Moon"}, {"url": "http://b/", "title": ""}],
            "no_longer": [{"url": "http://c/", "title": "Tea"}],
            "urls": urls,
        }

    async def search(self, name: str, *, q: str, **_: Any) -> dict[str, Any]:
        return {"hits": [{**page_row(), "snippet": f"about «{q}»"}], "total": 1, "indexed": 9, "growing": False}

    async def workers(self, name: str) -> dict[str, Any]:
        worker = {"name": "w1", "machine": "here", "process": 12, "pages": 9, "since": 1_790_000_000.0}
        return {"workers": [{**worker, "state": "working", "silent_seconds": 0.4}]}
