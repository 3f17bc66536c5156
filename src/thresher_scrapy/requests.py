"""Requests of a spider in the frontier: stored as JSON beside the URL, and turned back into a request when leased.

No pickle and no import path is stored: a callback is the name of a method of the spider. Requests that cannot be stored
like this wait in memory; a ticket represents them in the frontier, so that the host's delay and its limit of one open
request apply to them too. A ticket whose request is missing shows that the request was lost.
"""

from __future__ import annotations

import inspect
import json
import uuid
from collections.abc import Mapping
from typing import Any

from scrapy import Request, Spider

from thresher.frontier.base import entry_url
from thresher.records import Candidate, Json, Lease, RequestKind
from thresher.urls.canonical import canonicalize

KEY = "request"
"""Key of the request in the strategy data of a URL."""
MAX_BYTES = 16_384
_ENGINE_META = frozenset(
    {
        "thresher",
        "thresher_lease",
        "is_start_request",
        "start_by",
        "download_latency",
        "download_slot",
        "download_timeout",
        "retry_times",
        "max_retry_times",
        "redirect_times",
        "redirect_ttl",
        "redirect_urls",
        "redirect_reasons",
        "_auth_proxy",
    }
)
"""Meta keys that middlewares write while a request is processed; spiders that copy meta copy them too."""

Form = Mapping[str, Json]


def why_not_durable(request: Request, spider: Spider, *, is_start: bool = False) -> str:
    """Return why a request cannot be stored on disk; empty when it can be."""
    if type(request) is not Request:
        return f"a {type(request).__name__}"
    if request.method != "GET" or request.body:
        return f"a {request.method} request" if request.method != "GET" else "a body"
    if request.dont_filter and not is_start:
        return "dont_filter"
    if not (_is_method(request.callback, spider) and _is_method(request.errback, spider)):
        return "a callback that is no method of the spider"
    return _why_not_json(_form(request))


def durable_form(request: Request) -> Form:
    """Return what is stored of a request beside its URL; empty for most requests."""
    return {name: value for name, value in _form(request).items() if value}


def request_from(lease: Lease, spider: Spider) -> Request:
    """Return a leased URL as the request of its spider.

    Raises:
        LookupError: The spider no longer has the stored callback or errback.
    """
    form: Mapping[str, Any] = lease.strategy_data.get(KEY) or {}  # type: ignore[assignment]
    return Request(
        lease.url,
        callback=_method(form.get("callback"), spider),
        errback=_method(form.get("errback"), spider),
        headers=form.get("headers"),
        cookies=form.get("cookies"),
        meta=dict(form.get("meta") or {}),
        cb_kwargs=dict(form.get("cb_kwargs") or {}),
        flags=form.get("flags"),
        dont_filter=True,  # the frontier filters duplicates
    )


class InMemoryRequests:
    """Requests that wait in memory."""

    def __init__(self) -> None:
        self._waiting: dict[str, Request] = {}

    def issue(self, request: Request) -> Candidate:
        """Store a request for an http or https URL; return its ticket, a frontier entry."""
        url = canonicalize(request.url) or request.url
        ticket = entry_url(url, f"request-{uuid.uuid4().hex}")
        self._waiting[ticket] = request.replace(meta=own_meta(request))
        return Candidate(url=ticket, score=0.0, strategy_data={KEY: {}}, kind=RequestKind.TICKET)

    def request(self, lease: Lease) -> Request | None:
        """Return the request of a ticket; None when it was lost."""
        waiting = self._waiting.get(lease.url)
        return waiting.replace(dont_filter=True) if waiting else None

    def done(self, lease: Lease) -> None:
        """Remove a request that is not retried."""
        self._waiting.pop(lease.url, None)

    def __len__(self) -> int:
        return len(self._waiting)


def moved_request(request: Request, target: str, status: int) -> Request:
    """Return the request to the target of a redirect; the method and body are kept only for 307 and 308."""
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return request.replace(url=target)
    return request.replace(url=target, method="GET", body=b"", cls=Request)


def own_meta(request: Request) -> dict[str, Any]:
    """Return the meta of a request without the keys of middlewares."""
    return {name: value for name, value in request.meta.items() if name not in _ENGINE_META}


def _form(request: Request) -> dict[str, Any]:
    headers = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in request.headers.items()
    }
    return {
        "callback": getattr(request.callback, "__name__", ""),
        "errback": getattr(request.errback, "__name__", ""),
        "headers": headers,
        "cookies": request.cookies,
        "meta": own_meta(request),
        "cb_kwargs": dict(request.cb_kwargs),
        "flags": list(request.flags),
    }


def _why_not_json(form: dict[str, Any]) -> str:
    try:
        written = json.dumps(form)
        same = json.loads(written) == form  # a tuple would come back as a list
    except (TypeError, ValueError, RecursionError):
        same, written = False, ""
    if not same:
        return "meta, cb_kwargs or cookies that are no plain JSON"
    return f"more than {MAX_BYTES} bytes of meta and cb_kwargs" if len(written) > MAX_BYTES else ""


def _is_method(callback: Any, spider: Spider) -> bool:
    if callback is None:
        return True
    return inspect.ismethod(callback) and getattr(spider, callback.__name__, None) == callback


def _method(name: Any, spider: Spider) -> Any:
    if not name:
        return None
    method = getattr(spider, str(name), None)
    if not inspect.ismethod(method):
        raise LookupError(f"{type(spider).__name__} has no method {name!r}")
    return method
