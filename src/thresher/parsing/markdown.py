"""The syntax of Markdown: escaped text, code spans and link targets.

Text is escaped where it would be read as markup, raw HTML included, so that nothing in a page becomes an element of the
document in which it is rendered.
"""

from __future__ import annotations

import re

BREAK = "\0"
"""A line break in collected text; no parser lets this character through."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_SPECIAL = re.compile(
    r"[\\`*]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)|(?<=\])[(:]|~(?=~)|(?<=~)~|(?<=!)\["
)
_LINE_START = re.compile(r"(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|>|=+$|~~~|[|:-][|:\s-]*$)|(\d{1,9})(?=[.)](?:\s|$))")
BACKTICKS = re.compile(r"`+")


def escape(text: str) -> str:
    """Escape what would be read as markup inside a line."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escape_line(line: str) -> str:
    """Escape what would begin a heading, quote, list or rule at the start of a line."""
    match = _LINE_START.match(line)
    return f"{match[1] or ''}\\{line[match.end() :]}" if match else line


def code_span(text: str) -> str:
    """Return an inline code span; the fence is longer than any inside."""
    fence = "`" * (1 + max(map(len, BACKTICKS.findall(text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def folded(text: str) -> str:
    """Collapse white space inside each line, and leave out empty lines."""
    if BREAK not in text:
        return " ".join(CONTROL.sub("", text).split())
    lines = (" ".join(CONTROL.sub("", line).split()) for line in text.split(BREAK))
    return "\n".join(filter(None, lines))


def link_target(url: str) -> str:
    """Return a URL without brackets that could end a link."""
    return url.translate(_BRACKETS) if url.count("(") != url.count(")") or "<" in url else url


_BRACKETS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})
