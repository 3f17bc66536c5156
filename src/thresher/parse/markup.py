"""The markup of a page as a parser may read it: decoded, and tamed."""

from __future__ import annotations

from functools import lru_cache

from thresher.parse.bounds import tame
from thresher.parse.charset import decode


@lru_cache(maxsize=1)
def markup(body: bytes, content_type: str) -> str:
    """Give the markup of a page; that of the last one is remembered, since its text is taken out by a second parser.

    Args:
        body: The page as it came, after content decoding.
        content_type: The header of that name; may be empty.
    """
    return tame(decode(body, content_type))
