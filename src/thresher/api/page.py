"""A page of a crawl, as a program sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from thresher.api.markup import table
from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord
from thresher.records import Parts
from thresher.text.printable import printable
from thresher.urls.host import host_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that was fetched and judged.

    Args:
        relevance: How well it fits the topic, from 0 to 1.
        relevant: The verdict.
        language: ``en``, ``zh`` or another code; empty when it has too little text to tell.
        text: All visible text; empty for an irrelevant page, unless topic.yaml says ``keep_irrelevant``.
        depth: Links from a seed.
        score: The score by which its turn came.
        parts: What the relevance was made of.
        duplicate: Whether another page brought the same text before.
    """

    url: str
    title: str
    relevance: float
    relevant: bool
    language: str
    text: str = field(repr=False)
    depth: int
    fetched_at: datetime
    score: float
    status: int
    parts: Parts = field(repr=False)
    duplicate: bool

    @property
    def host(self) -> str:
        """The host that it came from."""
        return host_key(self.url)

    def __str__(self) -> str:
        verdict = "relevant" if self.relevant else "not relevant"
        return printable(f"{self.relevance:.2f} {verdict}: {self.title or '(no title)'} {self.url}")

    def _repr_html_(self) -> str:
        names = ("url", "title", "relevance", "relevant", "language", "depth", "fetched_at")
        return table(["", ""], [(name, getattr(self, name)) for name in names])


def page_of(record: PageRecord, collection: Collection) -> Page:
    """Return what was kept of a fetch as a page."""
    return Page(
        url=record.url,
        title=record.title,
        relevance=record.relevance,
        relevant=record.relevant,
        language=record.language,
        text=collection.text(record.fingerprint),
        depth=record.depth,
        fetched_at=datetime.fromtimestamp(record.fetched_at, UTC),
        score=record.score,
        status=record.status,
        parts=record.parts,
        duplicate=bool(record.duplicate_of),
    )
