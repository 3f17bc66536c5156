"""What a page asks of crawlers beside robots.txt: in X-Robots-Tag headers and in meta elements.

``noindex``: do not keep it. ``nofollow``: do not follow its links. ``none``: both. Everything else is for search
engines, who show pages. What is said to everybody and what is said to us hold together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from thresher.records import ParsedPage

PRODUCT = "thresher"
"""The name by which pages speak to us, as in robots.txt."""

_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"([^\s,:]+)\s*:\s*(.*)", re.DOTALL).match
_BETWEEN_WORDS = re.compile(r"[\s,;]+").split


@dataclass(frozen=True, slots=True)
class Directives:
    """What is asked."""

    noindex: bool = False
    nofollow: bool = False


def read_words(text: str) -> Directives:
    """Read directives that are meant for us, in any case, parted by commas or blanks."""
    words = frozenset(_BETWEEN_WORDS(text.lower()))
    return Directives("noindex" in words or "none" in words, "nofollow" in words or "none" in words)


def read_header(lines: str) -> Directives:
    """Read X-Robots-Tag headers, one per line; a name before a colon says whom the rest of its line is for."""
    return read_words(",".join(word for line in lines.split("\n") for word in _for_us(line)))


def _for_us(line: str) -> list[str]:
    words, ours = [], True
    for part in line.split(","):
        piece = part.strip()
        if (agent := _AGENT(piece)) and agent[1].lower() not in _WITH_VALUE:
            ours, piece = agent[1].lower() in (PRODUCT, "*", "robots"), agent[2]
        elif agent:
            continue  # such as a date, which we do not ask about
        if ours:
            words.append(piece)
    return words


def with_header(page: ParsedPage, lines: str) -> ParsedPage:
    """Add what the headers ask to what the page itself does."""
    asked = read_header(lines)
    return replace(page, noindex=page.noindex or asked.noindex, nofollow=page.nofollow or asked.nofollow)
