"""Login: a browser gets the token by the printed address, which works once, or by typing it into a form."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from thresher.locale.translation import Translatable, _, joined
from thresher_ui.dashboard.guard import LOGIN, Guard
from thresher_ui.dashboard.guard import Request as GuardRequest
from thresher_ui.dashboard.translations import COOKIE, Texts, choose

_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>Thresher</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>{style}</style></head>
<body><header class="top"><div class="line"><a class="mark" href="/">Thresher</a></div></header>
<main><h1>{log_in}</h1><p>{message}</p>
<form class="row" method="post" action="/login">
<label>{token} <input name="token" type="password" autocomplete="off" required></label>
<button class="main">{log_in}</button></form></main></body></html>
"""
_STYLE = files("thresher_ui.dashboard").joinpath("static", "thresher.css").read_text(encoding="utf-8")
STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
"""Allows the inline style of the login page, because style sheets need the token."""
_HOW = _("Open the address that thresher ui printed, or type the token that it printed beside it.")
_FORM = "application/x-www-form-urlencoded"


def refusal_page(message: str, texts: Texts) -> bytes:
    """Return a page with a message and a form for the token."""
    values = {"message": message, "log_in": _("Log in"), "token": _("Token")}
    escaped = {name: html.escape(texts.translated(text)) for name, text in values.items()}
    return _PAGE.format(**escaped, language=texts.html_language, style=_STYLE).encode()


def login_route(guard: Guard) -> Route:
    """Return the login route, the only one that needs no token."""

    async def login(request: Request) -> Response:
        if request.method == "POST":
            typed = await _typed(request)
            return _logged_in(guard) if guard.is_token(typed) else _form(request, _("This is not the token."), 401)
        known = guard.knows(GuardRequest(method="GET", path=LOGIN, host="", cookie=request.headers.get("cookie", "")))
        key = request.query_params.get("key", "")
        if known or (key and request.method == "GET" and guard.take_key(key)):
            return _logged_in(guard)
        used = joined(" ", [_("This address was used before."), _HOW])
        return _form(request, used if key else _HOW, 401 if key else 200)

    return Route(LOGIN, login, methods=["GET", "POST"])


async def _typed(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return ""
    body = (await request.body()).decode("utf-8", "replace")
    return parse_qs(body).get("token", [""])[0].strip()


def _form(request: Request, message: Translatable, status: int) -> Response:
    texts = choose(request.cookies.get(COOKIE, ""), request.headers.get("accept-language", ""))
    return Response(refusal_page(message, texts), status, media_type="text/html")


def _logged_in(guard: Guard) -> Response:
    """Set the cookie, and redirect away from the URL that contains the key."""
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(guard.cookie, guard.token, path="/", httponly=True, samesite="strict", secure=guard.secure)
    return response
