"""What a page states about itself: author, date of publication and licence.

Read from meta elements (OpenGraph, Dublin Core and common names), from JSON-LD and from links with ``rel=license``. The
first source that has a value counts. Nothing is guessed from the text: a field is empty when the page does not state
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Any

import orjson
from selectolax.lexbor import LexborHTMLParser

from thresher.text.terminal import printable
from thresher.urls.canonical import canonicalize

MAX_FIELD_CHARACTERS = 200
MAX_JSON_CHARACTERS = 1 << 17
MAX_JSON_OBJECTS = 200

_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "byl", "parsely-author")
_PUBLISHED = (
    "article:published_time", "datepublished", "date", "pubdate", "publishdate", "publish_date", "dc.date",
    "dcterms.date", "dc.date.issued", "dcterms.issued",
    "citation_publication_date", "citation_date", "og:published_time",
)  # fmt: skip
_LICENSE = ("dc.rights", "dcterms.rights", "dcterms.license", "license", "og:license")
_DATE = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})").match
_ADDRESS = re.compile(r"https?://", re.IGNORECASE).match


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMetadata:
    """What a page states about itself; fields that it does not state are empty.

    Args:
        author: Names, separated by commas.
        published: The date of publication, such as ``2026-11-17``.
        license: The URL of the licence, or its name.
    """

    author: str = ""
    published: str = ""
    license: str = ""


NO_METADATA = PageMetadata()


def read_metadata(tree: LexborHTMLParser, base: str) -> PageMetadata:
    """Read the metadata of a document; `base` is the base of relative URLs."""
    stated = _meta(tree)
    linked = _linked_data(tree)
    author = next((stated[name] for name in _AUTHOR if name in stated and not _ADDRESS(stated[name])), "")
    dates = (stated[name] for name in _PUBLISHED if name in stated)
    licenses = [_linked_license(tree, base), *(stated.get(name, "") for name in _LICENSE), linked.get("license", "")]
    return PageMetadata(
        author=author or linked.get("author", ""),
        published=next(filter(None, map(_iso_date, [*dates, linked.get("datePublished", "")])), ""),
        license=next(filter(None, licenses), ""),
    )


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    """Return the contents of meta elements by name, property or itemprop, in lower case; the first of each."""
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
        content = _folded(attributes.get("content") or "")
        if name and content:
            found.setdefault(name.lower(), content)
    return found


def _folded(text: str) -> str:
    return printable(" ".join(text[: 4 * MAX_FIELD_CHARACTERS].split())[:MAX_FIELD_CHARACTERS])


def _linked_license(tree: LexborHTMLParser, base: str) -> str:
    for node in tree.css("a[rel~=license i][href], link[rel~=license i][href]"):
        if url := canonicalize(node.attributes.get("href") or "", base):
            return url
    return ""


def _linked_data(tree: LexborHTMLParser) -> dict[str, str]:
    """Return author, license and datePublished of the first JSON-LD objects that have them."""
    found: dict[str, str] = {}
    for node in tree.css('script[type="application/ld+json" i]'):
        source = node.text()
        if len(source) > MAX_JSON_CHARACTERS:
            continue
        try:
            data = orjson.loads(source.encode("utf-8", "replace"))
        except orjson.JSONDecodeError:
            continue
        for each in _objects(data):
            for name in ("author", "license", "datePublished"):
                if value := _folded(_name_of(each.get(name))):
                    found.setdefault(name, value)
    return found


def _objects(data: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a document of linked data, its graph included, up to a limit."""
    waiting = data if isinstance(data, list) else [data]
    for number, each in enumerate(waiting):
        if number >= MAX_JSON_OBJECTS:
            return
        if isinstance(each, dict):
            yield each
            if isinstance(graph := each.get("@graph"), list):
                waiting.extend(graph)


def _name_of(value: Any) -> str:
    if isinstance(value, dict):
        return _name_of(value.get("name") or value.get("url") or value.get("@id"))
    if isinstance(value, list):
        names = (each.get("name") if isinstance(each, dict) else each for each in value[:10])
        return ", ".join(name for name in names if isinstance(name, str))
    return value if isinstance(value, str) else ""


def _iso_date(text: str) -> str:
    """Return a date as ISO 8601; empty when it is not valid."""
    if match := _DATE(text):
        try:
            return date(*map(int, match.groups())).isoformat()
        except ValueError:
            return ""
    try:
        return parsedate_to_datetime(text).date().isoformat() if text else ""
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
