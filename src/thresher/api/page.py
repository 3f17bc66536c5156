"""A page of a crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from thresher.charts.html import html_table
from thresher.parsing.main_content import PageContent
from thresher.parsing.metadata import PageMetadata
from thresher.records import ScoreBreakdown, UsageSignal
from thresher.storage.page_store import PageRecord, StoredContent
from thresher.storage.reader import PageStoreReader
from thresher.text.terminal import printable
from thresher.urls.canonical import host_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page that was fetched and judged.

    Args:
        relevance: The probability that it is about the topic.
        relevant: The verdict.
        language: ``en``, ``zh`` or another code; empty when it has too little text.
        depth: Links from a seed.
        score: Its score when it was leased.
        parts: What the relevance was computed from.
        duplicate: Whether an earlier page had the same text.
        topics: The relevance for each topic of a crawl of several.
        opt_outs: The uses that its site opts out of: ``ai-train``, ``ai-input``, ``noai``, ``tdm``, ….
        signals: The usage signals of its site, with where each was read.
        stored: What is stored of its content; `text`, `markdown` and `metadata` are extracted from it when read.
    """

    url: str
    title: str
    relevance: float
    relevant: bool
    language: str
    depth: int
    fetched_at: datetime
    score: float
    status: int
    parts: ScoreBreakdown = field(repr=False)
    duplicate: bool
    topics: Mapping[str, float] = field(default_factory=dict, repr=False)
    opt_outs: Sequence[str] = ()
    signals: Sequence[UsageSignal] = field(default=(), repr=False)
    stored: StoredContent = field(repr=False)

    @property
    def text(self) -> str:
        """The main text with its paragraphs; empty for an irrelevant page, unless ``keep_irrelevant`` is set."""
        return _content(self.stored).text

    @property
    def markdown(self) -> str:
        """The main content as Markdown; empty like the text."""
        return _content(self.stored).markdown

    @property
    def metadata(self) -> PageMetadata:
        """Author, date of publication and licence, as far as the page states them."""
        return _content(self.stored).metadata

    @property
    def host(self) -> str:
        return host_key(self.url)

    def __str__(self) -> str:
        verdict = "relevant" if self.relevant else "not relevant"
        return printable(f"{self.relevance:.2f} {verdict}: {self.title or '(no title)'} {self.url}")

    def _repr_html_(self) -> str:
        names = ("url", "title", "relevance", "relevant", "language", "depth", "fetched_at")
        return html_table(["", ""], [(name, getattr(self, name)) for name in names])


def page_of(record: PageRecord, collection: PageStoreReader) -> Page:
    """Return a stored record as a page."""
    return Page(
        url=record.url,
        title=record.title,
        relevance=record.relevance,
        relevant=record.relevant,
        language=record.language,
        depth=record.depth,
        fetched_at=datetime.fromtimestamp(record.fetched_at, UTC),
        score=record.score,
        status=record.status,
        parts=record.parts,
        duplicate=bool(record.duplicate_of),
        topics={name: judgement.relevance for name, judgement in record.topics.items()},
        opt_outs=tuple(record.opt_outs),
        signals=tuple(record.signals),
        stored=collection.stored_content(record.fingerprint),
    )


@lru_cache(maxsize=16)
def _content(stored: StoredContent) -> PageContent:
    return stored.content()
