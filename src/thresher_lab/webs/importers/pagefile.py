"""The page file, ``<name>.pages.jsonl.zst``: a whole web in one file that any tool can read.

One JSON object per line:

    url       the page's address, unique in the file
    title     text of its title
    lang      ``en``, ``zh`` or another code
    topics    its true labels; levels of a hierarchy are joined by ``/``
    html      its own markup, decoded
    links     [{url, anchor[, href]}] in document order; ``href`` is the address as written, where ``url`` is another
              spelling of it that is a page of the file
    text_len  characters of visible text

Further fields, or an object called ``extra``, describe the origin of the page. One of them is understood
everywhere: ``charset``, in which the page's bytes were written.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thresher.compression import zstd
from thresher.errors import StoreError
from thresher.parsing.html import parse
from thresher.records import Json, ParsedPage
from thresher.urls.canonical import canonicalize, fingerprint

SUFFIX = ".pages.jsonl.zst"

_LEVEL = 9  # written once, read often
_NAMED = frozenset({"url", "title", "lang", "topics", "html", "links", "text_len", "extra"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """A page to import.

    Args:
        url: Its address, in any spelling.
        html: Its markup, decoded.
        title: Its title; may be empty.
        language: ``en``, ``zh`` or another code; may be empty.
        topics: Its true labels.
        charset: In which its bytes were written.
        aliases: Other addresses under which its links name pages of the web, and the addresses of those pages.
        extra: What else is known about it.
    """

    url: str
    html: str
    title: str = ""
    language: str = ""
    topics: tuple[str, ...] = ()
    charset: str = "utf-8"
    aliases: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)


def read_pages(path: Path) -> Iterator[SourcePage]:
    """Yield the pages of a page file, one at a time.

    Raises:
        StoreError: A line is not a page, or the file is damaged.
    """
    read = 0
    with zstd.ZstdFile(path) as file:
        try:
            for line in io.TextIOWrapper(file, encoding="utf-8"):
                yield _read_page(json.loads(line))
                read += 1
        except (zstd.ZstdError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{path} is no page file: line {read + 1} cannot be read: {error!r}") from error


def _read_page(fields: dict[str, Any]) -> SourcePage:
    more = {name: value for name, value in fields.items() if name not in _NAMED}
    extra = {**more, **fields.get("extra", {})}
    return SourcePage(
        url=fields["url"],
        html=fields["html"],
        title=fields.get("title") or "",
        language=fields.get("lang") or "",
        topics=tuple(fields.get("topics") or ()),
        charset=str(extra.get("charset") or "utf-8").lower(),
        aliases={link["href"]: link["url"] for link in fields.get("links", ()) if "href" in link},
        extra=extra,
    )


def write_web(path: Path, pages: Iterable[SourcePage]) -> int:
    """Write a page file, and return the number of its pages; the file appears under its name when it is whole.

    Addresses are written canonically. Of several pages with one address the first is kept; a page whose address no
    crawler could fetch is left out. A missing title or language is read from the markup.
    """
    seen: set[int] = set()
    unfinished = path.with_name(path.name + ".part")
    with zstd.ZstdFile(unfinished, "wb", level=_LEVEL) as packed:
        for page in pages:
            url = canonicalize(page.url)
            if url is None or fingerprint(url) in seen:
                continue
            seen.add(fingerprint(url))
            line = json.dumps(_written(url, page), ensure_ascii=False) + "\n"
            packed.write(line.encode("utf-8", "replace"))
    unfinished.replace(path)
    return len(seen)


def _written(url: str, page: SourcePage) -> dict[str, Any]:
    parsed = parse(url, page.html.encode("utf-8", "replace"), "text/html; charset=utf-8")
    return {
        "url": url,
        "title": page.title or parsed.title,
        "lang": page.language or parsed.language,
        "topics": list(page.topics),
        "html": page.html,
        "links": _written_links(parsed, page.aliases),
        "text_len": len(parsed.text),
        "extra": {**page.extra, "charset": page.charset},
    }


def _written_links(parsed: ParsedPage, aliases: Mapping[str, str]) -> list[dict[str, str]]:
    return [
        {"url": aliases[link.url], "anchor": link.anchor, "href": link.url}
        if link.url in aliases
        else {"url": link.url, "anchor": link.anchor}
        for link in parsed.links
    ]
