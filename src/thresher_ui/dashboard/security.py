"""ASGI middleware around all routes: authentication, body limits, security headers, and errors as JSON."""

from __future__ import annotations

import json
import logging
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.errors import ThresherError
from thresher.locale.translation import _
from thresher.text.terminal import printable
from thresher_ui.dashboard.errors import status_of
from thresher_ui.dashboard.guard import Guard, Refusal, Request
from thresher_ui.dashboard.login import STYLE_SOURCE, refusal_page
from thresher_ui.dashboard.translations import COOKIE, Texts, choose, texts_in

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


class BodyTooLarge(Exception):
    """The body is larger than `MAX_BODY_BYTES`."""


class SecurityMiddleware:
    """Passes on requests that the guard accepts, and answers the others itself."""

    def __init__(self, app: ASGIApp, *, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # WebSockets are never accepted
        answer = _SecuredSend(send, texts=_texts(scope), is_static=scope["path"].startswith(STATIC))
        refusal = self._guard.refuses(request_of(scope)) or _too_long(scope)
        if refusal is not None:
            await _refuse(answer, refusal, page=_wants_page(scope) and refusal.status == 401)
            return
        try:
            await self._app(scope, _BoundedReceive(receive), answer)
        except BodyTooLarge:
            await _refuse(answer, Refusal(413, _("the body has more than {number} bytes", number=MAX_BODY_BYTES)))
        except ThresherError as error:
            await _refuse(answer, Refusal(status_of(error), printable(str(error))))
        except Exception:  # details go into the log only
            logger.exception("the dashboard could not answer %s", printable(str(scope["path"])))
            await _refuse(answer, Refusal(500, _("internal error; see the output of the dashboard")))


def request_of(scope: Scope) -> Request:
    """Return the parts of a request that the guard checks; a header that is sent twice matches nothing."""
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
        return Refusal(413, _("the body has more than {number} bytes", number=MAX_BODY_BYTES))
    return None


def _wants_page(scope: Scope) -> bool:
    return scope["method"] == "GET" and _is_browser(scope)


def _is_browser(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


def _texts(scope: Scope) -> Texts:
    """Return the texts of a browser's user; programs get English."""
    if not _is_browser(scope):
        return texts_in("en")
    connection = HTTPConnection(scope)
    return choose(connection.cookies.get(COOKIE, ""), connection.headers.get("accept-language", ""))


async def _refuse(answer: _SecuredSend, refusal: Refusal, *, page: bool = False) -> None:
    if answer.has_begun:
        return
    kind = "text/html; charset=utf-8" if page else "application/json"
    texts = answer.texts
    message = json.dumps({"error": texts.translated(refusal.message)})
    body = refusal_page(refusal.message, texts) if page else message.encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await answer({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await answer({"type": "http.response.body", "body": body})


class _SecuredSend:
    """Sends a response with the security headers; a refusal is in the language of `texts`."""

    def __init__(self, send: Send, *, texts: Texts, is_static: bool) -> None:
        self.texts = texts
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


class _BoundedReceive:
    """Limits the size of a body."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._bytes += len(message.get("body", b""))
        if self._bytes > MAX_BODY_BYTES:
            raise BodyTooLarge
        return message
