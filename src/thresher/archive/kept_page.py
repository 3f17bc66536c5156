"""A page as the page store kept it, for whoever must read it again: its words, and the links it gave to the frontier.

What stood around a link is looked for in the text, around its anchor; elements and headings were not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.archive.collection import Collection
from thresher.archive.pages import FoundLink, PageRecord
from thresher.records import Judgement, Link, ParsedPage

AROUND_CHARACTERS = 80
"""To each side of an anchor."""


def kept_page(collection: Collection, fingerprint: int) -> tuple[ParsedPage, PageRecord] | None:
    """Return a page with its record; None when the URL brought none here."""
    record = collection.find(fingerprint)
    if record is None or not record.page:
        return None
    text = collection.text(fingerprint)
    page = ParsedPage(
        url=record.url,
        title=record.title,
        text=text or record.title,
        language=record.language,
        links=tuple(_links(collection.links(fingerprint), text)),
    )
    return page, record


def kept_judgement(record: PageRecord) -> Judgement:
    """Return what is thought of a page."""
    return Judgement(relevance=record.relevance, relevant=record.relevant, reward=record.reward, parts=record.parts)


def _links(found: Sequence[FoundLink], text: str) -> Iterator[Link]:
    """Give links in their order; each anchor is looked for behind the one before it."""
    end = 0
    for position, link in enumerate(found):
        start = text.find(link.anchor, end) if link.anchor else -1
        context = ""
        if start >= 0:
            end = start + len(link.anchor)
            before, after = text[max(0, start - AROUND_CHARACTERS) : start], text[end : end + AROUND_CHARACTERS]
            context = f"{before} {after}"
        yield Link(url=link.url, anchor=link.anchor, context=context, position=position)
