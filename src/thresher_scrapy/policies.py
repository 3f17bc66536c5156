"""Retry and redirect policy from Scrapy's settings and request meta; and the output of callbacks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from scrapy import Request, Spider


@dataclass(frozen=True, kw_only=True)
class RequestPolicy:
    """Redirect and retry settings of Scrapy.

    Args:
        follows_redirects: Whether redirects are followed, as separate frontier entries.
        retries: Whether a URL is retried after a transient failure.
    """

    follows_redirects: bool = True
    retries: bool = True

    def may_redirect(self, request: Request) -> bool:
        return self.follows_redirects and not request.meta.get("dont_redirect")

    def may_retry(self, request: Request) -> bool:
        return self.retries and not request.meta.get("dont_retry")


def handles(request: Request, spider: Spider, status: int) -> bool:
    """Return whether a spider handles responses of this status (`handle_httpstatus_list`)."""
    listed = request.meta.get("handle_httpstatus_list", getattr(spider, "handle_httpstatus_list", ()))
    return bool(request.meta.get("handle_httpstatus_all")) or status in listed


async def output_of(result: Any) -> AsyncIterator[Any]:
    """Yield the output of a callback, whatever its type."""
    if hasattr(result, "__await__"):
        result = await result
    if hasattr(result, "__aiter__"):
        async for output in result:
            yield output
    elif isinstance(result, dict | Request) or not hasattr(result, "__iter__"):
        if result is not None:
            yield result
    else:
        for output in result:
            yield output
