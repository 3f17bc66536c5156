"""Around all routes: the guard before them, bounds on what is sent, and headers that keep browsers from mischief."""

from __future__ import annotations

import json
import logging
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.dashboard.errors import status_of
from thresher.dashboard.guard import Guard, Refusal, Request
from thresher.dashboard.login import STYLE_SOURCE, refusal_page
from thresher.errors import ThresherError
from thresher.text.printable import printable

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 64 << 10
STATIC = "/static/"
HEADERS = {
    "content-security-policy": (
        f"default-src 'none'; script-src 'self'; style-src 'self' {STYLE_SOURCE}; img-src 'self' data:; "
        "connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class TooMuch(Exception):
    """The body is larger than any that is meant for us."""


class Posture:
    """Lets through what the guard allows, and answers the rest itself."""

    def __init__(self, app: ASGIApp, *, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a socket that is never accepted
        answer = _Answer(send, is_static=scope["path"].startswith(STATIC))
        asked = asked_by(scope)
        refusal = self._guard.refuses(asked) or _too_long(scope)
        if refusal is not None:
            await _refuse(answer, refusal, page=_wants_page(scope) and refusal.status == 401)
            return
        try:
            await self._app(scope, _Bounded(receive), answer)
        except TooMuch:
            await _refuse(answer, Refusal(413, f"the body has more than {MAX_BODY_BYTES} bytes"))
        except ThresherError as error:
            await _refuse(answer, Refusal(status_of(error), printable(str(error))))
        except Exception:  # whoever asks learns nothing of it; the log does
            logger.exception("the dashboard could not answer %s", printable(str(scope["path"])))
            await _refuse(answer, Refusal(500, "something went wrong; the dashboard's own output says more"))


def asked_by(scope: Scope) -> Request:
    """Return what the guard looks at; of a header that comes twice nothing is believed."""
    headers = Headers(scope=scope)

    def only(name: str) -> str:
        values = headers.getlist(name)
        return values[0] if len(values) == 1 else "\0" if values else ""

    return Request(
        method=scope["method"],
        path=scope["path"],
        host=only("host"),
        origin=only("origin"),
        site=only("sec-fetch-site"),
        cookie="; ".join(headers.getlist("cookie")),
        authorization=only("authorization"),
    )


def _too_long(scope: Scope) -> Refusal | None:
    length = Headers(scope=scope).get("content-length", "0")
    if not (length.isascii() and length.isdecimal()) or int(length[:20]) > MAX_BODY_BYTES:
        return Refusal(413, f"the body has more than {MAX_BODY_BYTES} bytes")
    return None


def _wants_page(scope: Scope) -> bool:
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")


async def _refuse(answer: _Answer, refusal: Refusal, *, page: bool = False) -> None:
    if answer.has_begun:
        return
    kind = "text/html; charset=utf-8" if page else "application/json"
    body = refusal_page(refusal.words) if page else json.dumps({"error": refusal.words}).encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await answer({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await answer({"type": "http.response.body", "body": body})


class _Answer:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send, *, is_static: bool) -> None:
        self._send = send
        self._is_static = is_static
        self.has_begun = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            headers.update(HEADERS)
            if not (self._is_static and message["status"] in (200, 304)):
                headers["cache-control"] = "no-store"
            message = {**message, "headers": headers.raw}
        await self._send(message)


class _Bounded:
    """Receives no more than a body may have."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes > MAX_BODY_BYTES:
            raise TooMuch
        return message
