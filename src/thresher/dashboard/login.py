"""How a browser comes by the token: by the address that was printed, which works once, or by typing the token."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from thresher.dashboard.guard import LOGIN, Guard
from thresher.dashboard.guard import Request as Asked

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Thresher</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>{style}</style></head>
<body><header class="top"><div class="line"><a class="mark" href="/">Thresher</a></div></header>
<main><h1>Log in</h1><p>{words}</p>
<form class="row" method="post" action="/login">
<label>Token <input name="token" type="password" autocomplete="off" required></label>
<button class="main">Log in</button></form></main></body></html>
"""
_STYLE = files("thresher.dashboard").joinpath("static", "thresher.css").read_text(encoding="utf-8")
STYLE_SOURCE = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
"""Allows a browser to use the style inside the login page: no other route is open to one without a token."""
_HOW = "Open the address that thresher ui printed, or type the token that it printed beside it."
_FORM = "application/x-www-form-urlencoded"


def refusal_page(words: str) -> bytes:
    """Return a page that says why nothing is shown, and asks for the token."""
    return _PAGE.format(words=html.escape(words), style=_STYLE).encode()


def login_route(guard: Guard) -> Route:
    """Return the one route that asks for no token."""

    async def login(request: Request) -> Response:
        if request.method == "POST":
            typed = await _typed(request)
            return _welcome(guard) if guard.is_token(typed) else _ask("This is not the token.", 401)
        known = guard.knows(Asked(method="GET", path=LOGIN, host="", cookie=request.headers.get("cookie", "")))
        key = request.query_params.get("key", "")
        if known or (key and request.method == "GET" and guard.take_key(key)):
            return _welcome(guard)
        return _ask("This address was used before. " + _HOW if key else _HOW, 401 if key else 200)

    return Route(LOGIN, login, methods=["GET", "POST"])


async def _typed(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        return ""
    body = (await request.body()).decode("utf-8", "replace")
    return parse_qs(body).get("token", [""])[0].strip()


def _ask(words: str, status: int) -> Response:
    return Response(refusal_page(words), status, media_type="text/html")


def _welcome(guard: Guard) -> Response:
    """Set the cookie, and lead away from the address that holds the key."""
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(guard.cookie, guard.token, path="/", httponly=True, samesite="strict")
    return response
