"""HTML parsing: from the bytes of a page to title, headings, text, language and links.

A refresh without delay, by a meta element or a header, is treated as a redirect; the target of another one is a link.
Weak links have no words around them: further pages and translations that the head names, links for browsers without
scripts, ``data-href`` of other elements than links, and a delayed refresh. They come after all others, and only if no
other link has their URL. Robots directives of single pages come from X-Robots-Tag headers
and meta elements. ``noindex``: do not keep the page. ``nofollow``: do not follow its links. ``none``: both. ``noai``
and ``noimageai`` are usage signals. All other directives are for search engines. Directives for all crawlers and for
Thresher are combined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from thresher.native import compiled
from thresher.parsing.documents.plain_text import is_text, text_markup
from thresher.parsing.dom import MAX_LINKS, MAX_PATH_ELEMENTS, Blocks, LinkElement, Walk, read_blocks, walk
from thresher.parsing.markup import UTF_8, markup_with_charset
from thresher.parsing.opt_outs import (
    HEADER,
    LINK,
    MARKUP,
    MAX_SIGNALS,
    ROBOTS_META,
    ROBOTS_TAG,
    RSL_TYPE,
    SCRIPT,
    TDM_POLICY,
    TDM_RESERVATION,
    WORDS,
    denied_uses,
    response_signals,
    usage_signal,
)
from thresher.parsing.response import FEED_TYPES
from thresher.records import FetchedPage, Link, ParsedPage, UsageSignal
from thresher.text.languages import language
from thresher.text.tokens import CJK
from thresher.urls.canonical import canonicalize, encode_query

CONTEXT_TOKENS = 10
"""Words, or Chinese bigrams, on each side of a link that are its context."""

MAX_ANCHOR_CHARACTERS = 200

_CONTEXT_CHARACTERS = 200  # contains ten tokens of ordinary length
_CONTEXT_PIECES = 30  # half of them are blanks between elements
_NOT_CLICKABLE = frozenset({"a", "area", "link", "style", "script", "img", "source", "iframe"})
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# Up to ten words or unspaced characters, and the character that completes the last bigram. No backtracking.
_LEADING_TOKENS = re.compile(
    rf"(?:[\W_]*+(?:[{CJK}]|[^\W_{CJK}]++)){{1,{CONTEXT_TOKENS}}}+(?:(?<=[{CJK}])[{CJK}])?"
).match


@dataclass(frozen=True, slots=True)
class UrlResolver:
    """Makes canonical URLs of the addresses in a page.

    Args:
        base: The base of relative URLs.
        charset: The charset of the page, in which the query of an address is encoded.
    """

    base: str
    charset: str = UTF_8

    def __call__(self, address: str) -> str | None:
        if self.charset != UTF_8 and not address.isascii():
            address = encode_query(address, self.charset)
        return canonicalize(address, self.base)


def read_links(found: Walk, blocks: Blocks, headings: Sequence[str], resolve: UrlResolver) -> list[Link]:
    """Turn the links that a walk found into records; links without a crawlable URL are left out.

    Args:
        found: The walk.
        blocks: Its content blocks.
        headings: The text of each heading of the walk.
        resolve: Makes URLs of addresses.
    """
    links: list[Link] = []
    addresses: dict[str, str | None] = {}
    paths: dict[int, str] = {}
    above = _last_with_text(headings)
    for element in found.links:
        target = element.target
        if target not in addresses:
            addresses[target] = resolve(target)
        if url := addresses[target]:
            heading = element.heading
            links.append(
                Link(
                    url=url,
                    anchor=_anchor(found, element),
                    context=_context(element),
                    heading=above[element.headings_above],
                    tag_path=element.path or _tag_path(element.node, paths),
                    position=len(links),
                    nofollow=_is_unfollowed(element),
                    block=blocks.numbers[heading.next_block if heading else element.block_number],
                )
            )
    return links


def add_weak_links(
    links: list[Link], weak: Sequence[tuple[str, str, str]], resolve: UrlResolver, *, page_url: str, block: int
) -> None:
    """Add links that are outside the text of a page, unless it links to the same URL anyway.

    Args:
        links: The links of the page, to which they are added.
        weak: Address, anchor and ``rel`` of each.
        resolve: Makes URLs of addresses.
        page_url: The URL of the page.
        block: The number of their block; that of no block.
    """
    known = {page_url, *[link.url for link in links]}
    for address, anchor, rel in weak[: max(0, MAX_LINKS - len(links))]:
        url = resolve(address)
        if url and url not in known:
            known.add(url)
            nofollow = not _UNFOLLOWED.isdisjoint(rel.lower().split())
            links.append(Link(url, anchor[:MAX_ANCHOR_CHARACTERS], position=len(links), nofollow=nofollow, block=block))


def _weak_links(tree: LexborHTMLParser, source: str, found: Walk, head: _Head) -> list[tuple[str, str, str]]:
    """Collect address, anchor and ``rel`` of all weak links but a refresh."""
    weak = [(node, "href") for node in found.hidden_links]
    if "data-href" in source:
        weak += [(node, "data-href") for node in tree.css("[data-href]") if _is_clickable(node)]
    texts = [(_value(node, name), " ".join(node.text().split()), _value(node, "rel")) for node, name in weak]
    return [*texts, *[(address, "", "") for address in head.links]]


def _is_clickable(node: LexborNode) -> bool:
    """Return whether `data-href` of an element is likely a link: not of one that loads something, or a share button."""
    return node.tag not in _NOT_CLICKABLE and "fb-" not in _value(node, "class")


def _value(node: LexborNode, name: str) -> str:
    return node.attributes.get(name) or ""


def _last_with_text(headings: Sequence[str]) -> list[str]:
    """Return, for each number of preceding headings, the last one that is not empty."""
    above = [""]
    for heading in headings:
        above.append(heading or above[-1])
    return above


def _anchor(found: Walk, element: LinkElement) -> str:
    anchor = found.text(element)
    if not anchor:
        attributes = element.attributes
        anchor = " ".join((element.picture or attributes.get("alt") or attributes.get("title") or "").split())
    return anchor[:MAX_ANCHOR_CHARACTERS]


def _is_unfollowed(element: LinkElement) -> bool:
    rel = element.attributes.get("rel")
    return bool(rel) and not _UNFOLLOWED.isdisjoint(str(rel).lower().split())


def _context(element: LinkElement) -> str:
    """Return the tokens around a link inside its block; a line break counts as a blank."""
    block, start, end = element.block, element.block_start, element.block_end
    if compiled:
        limits = _CONTEXT_PIECES, _CONTEXT_CHARACTERS, CONTEXT_TOKENS
        if (context := compiled.ascii_context(block, start, end, *limits)) is not None:
            return context
    before = "".join(block[max(0, start - _CONTEXT_PIECES) : start])[-_CONTEXT_CHARACTERS:]
    after = "".join(block[end : end + _CONTEXT_PIECES])[:_CONTEXT_CHARACTERS]
    return " ".join([*_last_tokens(before), *_first_tokens(after)])


def _last_tokens(text: str) -> list[str]:
    if text.isascii():
        return text.rsplit(maxsplit=CONTEXT_TOKENS)[-CONTEXT_TOKENS:]
    return _first_characters(text[::-1])[::-1].split()  # reversed, since the pattern matches at the start


def _first_tokens(text: str) -> list[str]:
    if text.isascii():
        return text.split(maxsplit=CONTEXT_TOKENS)[:CONTEXT_TOKENS]
    return _first_characters(text).split()


@lru_cache(maxsize=1 << 13)
def _first_characters(text: str) -> str:
    """Return the first tokens of a text, with what is between them; menus have the same ones on page after page."""
    match = _LEADING_TOKENS(text)
    return match[0] if match else ""


def _tag_path(node: LexborNode, paths: dict[int, str]) -> str:
    """Return the path of elements from the root to a node; of very deep ones only the outermost.

    Args:
        node: The element.
        paths: Cache of paths by element.
    """
    up = node.parent
    if up is not None and (path := paths.get(up.mem_id)) is not None:
        return path + (node.tag or "")
    climbed: list[LexborNode] = []
    while up is not None and up.mem_id not in paths:
        climbed.append(up)
        up = up.parent
    path = paths[up.mem_id] if up else ""
    for element in reversed(climbed):
        if element.parent and path.count("/") < MAX_PATH_ELEMENTS - 1:  # the document itself is not an element
            path += f"{element.tag}/"
        paths[element.mem_id] = path
    return f"{path}{node.tag}"


PRODUCT = "thresher"
"""Our product token, as in robots.txt."""

_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"([^\s,:]+)\s*:\s*(.*)", re.DOTALL).match
_BETWEEN_WORDS = re.compile(r"[\s,;]+").split


@dataclass(frozen=True, slots=True)
class Directives:
    """The directives of a page."""

    noindex: bool = False
    nofollow: bool = False
    opt_outs: frozenset[str] = frozenset()

    def signals(self, source: str, statement: str) -> list[UsageSignal]:
        """Return its opt-outs as the signal of a source."""
        return [usage_signal(source, statement, ", ".join(sorted(self.opt_outs)))] if self.opt_outs else []


def read_words(text: str) -> Directives:
    """Parse directives that apply to us, in any case, separated by commas or blanks."""
    words = frozenset(_BETWEEN_WORDS(text.lower()))
    none = "none" in words
    return Directives(none or "noindex" in words, none or "nofollow" in words, WORDS & words)


def read_header(lines: str) -> Directives:
    """Parse X-Robots-Tag headers, one per line; a user agent before a colon applies to the rest of its line."""
    return read_words(",".join(word for line in lines.split("\n") for word in _for_us(line)))


def _for_us(line: str) -> list[str]:
    words, ours = [], True
    for part in line.split(","):
        piece = part.strip()
        if (agent := _AGENT(piece)) and agent[1].lower() not in _WITH_VALUE:
            ours, piece = agent[1].lower() in (PRODUCT, "*", "robots"), agent[2]
        elif agent:
            continue  # a directive with a value, such as a date
        if ours:
            words.append(piece)
    return words


def with_header(page: ParsedPage, lines: str) -> ParsedPage:
    """Add the directives of the headers to those of the page."""
    robots = read_header(lines)
    page = with_signals(page, robots.signals(HEADER, ROBOTS_TAG))
    return replace(page, noindex=page.noindex or robots.noindex, nofollow=page.nofollow or robots.nofollow)


def with_signals(page: ParsedPage, signals: Sequence[UsageSignal]) -> ParsedPage:
    """Add usage signals to those of the page, and the uses that they deny."""
    if not signals:
        return page
    opt_outs = denied_uses(signals).union(page.opt_outs)
    return replace(page, signals=(*signals, *page.signals)[:MAX_SIGNALS], opt_outs=tuple(sorted(opt_outs)))


def with_headers(page: ParsedPage, fetched: FetchedPage) -> ParsedPage:
    """Add what the headers of a response say about its page: directives, a refresh, and usage signals."""
    if directives := fetched.headers.get("x-robots-tag"):
        page = with_header(page, directives)
    if refresh := fetched.headers.get("refresh"):
        page = with_refresh_header(page, refresh)
    return with_signals(page, response_signals(fetched))


MAX_CHARACTERS = 4_096

_REFRESH = re.compile(r"\s*+(\d*+)(?:\.\d*+)?+\s*+[;,]\s*+(?:url\s*+=\s*+)?+(.*+)", re.IGNORECASE | re.DOTALL).match


def refresh_target(content: str, resolve: UrlResolver, url: str) -> tuple[str, bool]:
    """Return the target of a refresh, and whether it has no delay; empty without a usable URL, or for a reload.

    Args:
        content: The attribute or header: seconds, then a URL, such as ``0; url=/new``.
        resolve: Makes URLs of addresses.
        url: The page's own URL.
    """
    found = _REFRESH(content[:MAX_CHARACTERS])
    if not found or not (address := _unquoted(found[2])):
        return "", False
    target = resolve(address)
    return (target, not found[1].strip("0")) if target and target != url else ("", False)


def with_refresh_header(page: ParsedPage, content: str) -> ParsedPage:
    """Add the target of a Refresh header, as that of a meta element would be."""
    resolve = UrlResolver(page.url)
    target, at_once = refresh_target(content, resolve, page.url)
    if at_once:
        return replace(page, refresh=target)
    links = list(page.links)
    add_weak_links(links, [(target, "", "")], resolve, page_url=page.url, block=len(page.blocks))
    return replace(page, links=tuple(links))


def _unquoted(address: str) -> str:
    address = address.strip()
    quote = address[:1]
    return address[1:].partition(quote)[0].strip() if quote in ("'", '"') and quote else address


MAX_TEXT_CHARACTERS = 1 << 20
"""Text beyond this is cut off; no judge needs more."""

MAX_FIELD_CHARACTERS = 2_000
"""The same for title, keywords, description and each heading."""

MAX_FEEDS = 10
MAX_HEAD_LINKS = 50
_HEAD = (
    "title, base[href], meta[content], link[rel=canonical i][href], link[rel=alternate i][type][href], "
    f'link[rel=alternate i][hreflang][href], link[rel=next i][href], link[rel~=license i][type="{RSL_TYPE}" i]'
)


@dataclass(slots=True)
class _Head:
    """Metadata of a page."""

    title: str = ""
    base: str = ""
    keywords: str = ""
    description: str = ""
    robots: str = ""
    refresh: str = ""
    canonical: str = ""
    signals: tuple[UsageSignal, ...] = ()
    feeds: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def parse(url: str, body: bytes, content_type: str = "") -> ParsedPage:
    """Parse a page; never fails, whatever the markup.

    Args:
        url: The page's canonical URL.
        body: Its bytes after content decoding.
        content_type: The Content-Type header; may be empty.
    """
    if is_text(content_type):
        return parse_markup(url, text_markup(url, body, content_type))
    return parse_markup(url, *markup_with_charset(body, content_type))


def parse_markup(url: str, source: str, charset: str = UTF_8) -> ParsedPage:
    """Parse the decoded and limited markup of a page that was in a charset."""
    tree = LexborHTMLParser(source)
    head = _read_head(tree)
    found = walk(tree, source)
    blocks = read_blocks(found)
    headings = [found.text(heading)[:MAX_FIELD_CHARACTERS] for heading in found.headings]
    text = f"{head.title} {found.text()}".strip()[:MAX_TEXT_CHARACTERS]
    resolve = UrlResolver((canonicalize(head.base, url) if head.base else None) or url, charset)
    robots = read_words(head.robots)
    refresh, at_once = refresh_target(head.refresh, resolve, url) if head.refresh else ("", False)
    links = read_links(found, blocks, headings, resolve)
    if weak := [*_weak_links(tree, source, found, head), *([(refresh, "", "")] if refresh and not at_once else [])]:
        add_weak_links(links, weak, resolve, page_url=url, block=len(blocks.texts))
    signals = (*robots.signals(MARKUP, ROBOTS_META), *head.signals, *_licence_scripts(tree, source))
    return ParsedPage(
        url=url,
        title=head.title,
        headings=tuple(filter(None, headings)),
        keywords=head.keywords,
        description=head.description,
        text=text,
        language=language(text) or _declared_language(tree),
        links=tuple(links),
        noindex=robots.noindex,
        nofollow=robots.nofollow,
        refresh=refresh if at_once else "",
        blocks=blocks.texts if len(text) < MAX_TEXT_CHARACTERS else _cut(blocks.texts),
        canonical=_plausible_canonical(head.canonical, url, resolve),
        signals=signals,
        opt_outs=tuple(sorted(denied_uses(signals))) if signals else (),
        feeds=tuple(dict.fromkeys(filter(None, map(resolve, head.feeds)))),
    )


def _read_head(tree: LexborHTMLParser) -> _Head:
    """Read title, base, meta and canonical link; the first of each counts, but all robots directives apply."""
    head = _Head()
    for node in tree.css(_HEAD):
        if node.tag == "title":
            head.title = head.title or _fold(node.text(), MAX_FIELD_CHARACTERS)
        elif node.tag == "base":
            head.base = head.base or node.attributes.get("href") or ""
        elif node.tag == "link":
            _read_link(head, node)
        else:
            _read_meta(head, node)
    return head


def _read_meta(head: _Head, node: LexborNode) -> None:
    attributes = node.attributes
    name, content = (attributes.get("name") or "").lower(), attributes.get("content") or ""
    if name == "keywords":
        head.keywords = head.keywords or _fold(content, MAX_FIELD_CHARACTERS)
    elif name == "description":
        head.description = head.description or _fold(content, MAX_FIELD_CHARACTERS)
    elif name in ("robots", PRODUCT):
        head.robots += "," + content[:MAX_FIELD_CHARACTERS]
    elif name in (TDM_RESERVATION, TDM_POLICY):
        _add_signal(head, name, content)
    elif (attributes.get("http-equiv") or "").lower() == "refresh" and not _is_in_noscript(node):
        head.refresh = head.refresh or content


def _read_link(head: _Head, node: LexborNode) -> None:
    attributes = node.attributes
    relation, address = (attributes.get("rel") or "").strip().lower(), (attributes.get("href") or "").strip()
    if relation == "canonical":
        head.canonical = head.canonical or address
    elif "license" in relation.split():
        _add_signal(head, LINK, address)
    elif relation == "alternate" and (attributes.get("type") or "").strip().lower() in FEED_TYPES:
        head.feeds = (*head.feeds, address)[:MAX_FEEDS]
    elif relation == "next" or attributes.get("hreflang"):
        head.links = (*head.links, address)[:MAX_HEAD_LINKS]


def _add_signal(head: _Head, statement: str, value: str) -> None:
    if len(head.signals) < MAX_SIGNALS:
        head.signals = (*head.signals, usage_signal(MARKUP, statement, value))


def _licence_scripts(tree: LexborHTMLParser, source: str) -> list[UsageSignal]:
    """Return the signal of a licence that is written into the page, if there is one."""
    is_inside = RSL_TYPE in source and tree.css_first(f'script[type="{RSL_TYPE}" i]') is not None
    return [usage_signal(MARKUP, SCRIPT, RSL_TYPE)] if is_inside else []


def _is_in_noscript(node: LexborNode) -> bool:
    return node.parent is not None and node.parent.tag == "noscript"


def _plausible_canonical(canonical: str, url: str, resolve: UrlResolver) -> str:
    """Return the URL of a canonical link; one to the root of a site is ignored, since it is usually an error."""
    named = resolve(canonical) if canonical else None
    if named is None or (named != url and named.count("/") == 3 and named.endswith("/")):
        return ""
    return named


def _declared_language(tree: LexborHTMLParser) -> str:
    declared = (tree.root.attributes.get("lang") or "") if tree.root else ""
    code = declared.lower().replace("_", "-").partition("-")[0].strip()
    return code if code.isalpha() and code.isascii() and 2 <= len(code) <= 3 else ""


def _cut(blocks: Sequence[str]) -> tuple[str, ...]:
    """Truncate the text of blocks where that of the page is truncated; they keep their numbers."""
    left, cut = MAX_TEXT_CHARACTERS, []
    for block in blocks:
        cut.append(block[:left])
        left = max(0, left - len(block))
    return tuple(cut)


def _fold(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]
