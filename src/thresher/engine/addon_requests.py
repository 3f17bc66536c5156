"""Requests of a spider as the frontier keeps them: plain JSON beside the URL, and a request again when it is leased.

No pickle and no import path is stored: a callback is the name of a method of the spider. What cannot be written so
waits in memory; a ticket stands for it in the frontier, so that its host's delay and its one open request hold for it
too. A ticket whose request is gone says that something was lost.
"""

from __future__ import annotations

import inspect
import json
import uuid
from collections.abc import Mapping
from typing import Any

from scrapy import Request, Spider

from thresher.records import Candidate, Json, Lease
from thresher.urls.canonical import canonicalize

KEY = "request"
"""Where the carry of a URL holds its request."""
MOST_BYTES = 16_384
_TICKET = "#request-"
_OF_THE_ENGINE = frozenset(
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
"""What middlewares write into meta while a request is under way; spiders that hand meta on hand it on too."""

Form = Mapping[str, Json]


def why_not_durable(request: Request, spider: Spider, *, is_start: bool = False) -> str:
    """Say why a request cannot be kept on disk; empty when it can be."""
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
    """Return what is kept of a request beside its URL; of most requests that is nothing."""
    return {name: value for name, value in _form(request).items() if value}


def request_from(lease: Lease, spider: Spider) -> Request:
    """Return a leased URL as its spider asked for it.

    Raises:
        LookupError: The spider no longer has the method that was named.
    """
    form: Mapping[str, Any] = lease.carry.get(KEY) or {}  # type: ignore[assignment]
    return Request(
        lease.url,
        callback=_method(form.get("callback"), spider),
        errback=_method(form.get("errback"), spider),
        headers=form.get("headers"),
        cookies=form.get("cookies"),
        meta=dict(form.get("meta") or {}),
        cb_kwargs=dict(form.get("cb_kwargs") or {}),
        flags=form.get("flags"),
        dont_filter=True,  # the frontier has seen to it that it comes once
    )


class Tickets:
    """The requests that wait in memory."""

    def __init__(self) -> None:
        self._waiting: dict[str, Request] = {}

    def issue(self, request: Request) -> Candidate:
        """Take in a request for an http or https URL; return what stands for it in the frontier."""
        url = canonicalize(request.url) or request.url
        ticket = f"{url}{_TICKET}{uuid.uuid4().hex}"
        self._waiting[ticket] = request.replace(meta=own_meta(request))
        return Candidate(url=ticket, score=0.0, carry={KEY: {}})

    def request(self, lease: Lease) -> Request | None:
        """Return the request that a ticket stands for; None when it is gone."""
        waiting = self._waiting.get(lease.url)
        return waiting.replace(dont_filter=True) if waiting else None

    def done(self, lease: Lease) -> None:
        """Forget a request that needs no further try."""
        self._waiting.pop(lease.url, None)

    def __len__(self) -> int:
        return len(self._waiting)


def moved_request(request: Request, target: str, status: int) -> Request:
    """Return a request as it goes on where a redirect leads; a form is sent there only by 307 and 308."""
    if status in (307, 308) or request.method in ("GET", "HEAD"):
        return request.replace(url=target)
    return request.replace(url=target, method="GET", body=b"", cls=Request)


def is_ticket(url: str) -> bool:
    """Tell whether a URL of the frontier is a ticket: canonical URLs have no fragment."""
    return _TICKET in url


def plain_url(url: str) -> str:
    """Return the URL that is asked for, without what tells a ticket."""
    return url.partition(_TICKET)[0]


def own_meta(request: Request) -> dict[str, Any]:
    """Return the meta of a request without what middlewares wrote there."""
    return {name: value for name, value in request.meta.items() if name not in _OF_THE_ENGINE}


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
    return f"more than {MOST_BYTES} bytes of meta and cb_kwargs" if len(written) > MOST_BYTES else ""


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
