"""What a spider may ask of the desk, by Scrapy's settings and by its requests; and what its callbacks give back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from scrapy import Request, Spider


@dataclass(frozen=True, kw_only=True)
class Customs:
    """What of Scrapy's settings the desk goes by.

    Args:
        follows_redirects: Whether redirects are followed, as frontier entries of their own.
        retries: Whether a URL that failed for now is tried again.
    """

    follows_redirects: bool = True
    retries: bool = True

    def may_redirect(self, request: Request) -> bool:
        """Tell whether a redirect of this request is followed."""
        return self.follows_redirects and not request.meta.get("dont_redirect")

    def may_retry(self, request: Request) -> bool:
        """Tell whether this request is tried again when it failed for now."""
        return self.retries and not request.meta.get("dont_retry")


def handles(request: Request, spider: Spider, status: int) -> bool:
    """Tell whether a spider asked to see answers of this status."""
    listed = request.meta.get("handle_httpstatus_list", getattr(spider, "handle_httpstatus_list", ()))
    return bool(request.meta.get("handle_httpstatus_all")) or status in listed


async def output_of(result: Any) -> AsyncIterator[Any]:
    """Yield what a callback gave back, whatever its kind."""
    if hasattr(result, "__await__"):
        result = await result
    if hasattr(result, "__aiter__"):
        async for thing in result:
            yield thing
    elif isinstance(result, dict | Request) or not hasattr(result, "__iter__"):
        if result is not None:
            yield result
    else:
        for thing in result:
            yield thing
