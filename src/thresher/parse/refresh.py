"""Meta refresh: a page that sends its reader on at once is a redirect by other means."""

from __future__ import annotations

import re

from thresher.urls.canonical import canonicalize

MAX_CHARACTERS = 4_096

_AT_ONCE = re.compile(r"\s*+0*+(?:\.\d*+)?+\s*+[;,]\s*+(?:url\s*+=\s*+)?+(.*+)", re.IGNORECASE | re.DOTALL).match


def refresh_target(content: str, base: str, url: str) -> str:
    """Return where a refresh leads; empty when it waits, leads nowhere or only loads the page again.

    Args:
        content: As written: seconds, then an address, such as ``0; url=/new``.
        base: The address that relative ones start from.
        url: The page's own.
    """
    found = _AT_ONCE(content[:MAX_CHARACTERS])
    if not found or not (address := _unquoted(found[1])):
        return ""
    target = canonicalize(address, base)
    return target if target and target != url else ""


def _unquoted(address: str) -> str:
    address = address.strip()
    quote = address[:1]
    return address[1:].partition(quote)[0].strip() if quote in ("'", '"') and quote else address
