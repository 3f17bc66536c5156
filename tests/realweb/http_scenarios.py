"""What servers on the open web do with HTTP: one host per scenario, on one port of loopback.

The host name selects the scenario. Each answers byte for byte, and has the outcome that a crawl should end with:

- ``page``: the page of the first URL is in the collection, with its own title; ``page at /b``: the page that it led to;
- ``page, truncated``: as much of it as came;
- ``failed: …`` or ``waiting: …`` with the reason;
- ``no page``: done, without one.

`crawl_scenarios` crawls all of them at once with the real command; `rows` gives scenario, expected and actual outcome,
and ``python -m tests.realweb.http_scenarios`` prints them.
"""

from __future__ import annotations

import asyncio
import email.utils
import gzip
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import brotli
import zstandard

from tests.faults.live import Result, crawl
from thresher.crawl import CrawlSetup
from thresher.frontier.base import Frontier, UrlEntry, UrlState
from thresher.reasons.reason import MOVED, ReasonKind

SENTENCES = (
    "A layer of perovskite turns sunlight into current, and a second layer of silicon below it takes what is left. "
    "Solar cells of this kind are made at low heat; moisture ends them early, so their films are sealed with care. "
)
SETTINGS: dict[str, Any] = {
    "engine": {"concurrency": 64, "timeout_seconds": 6.0, "lease_seconds": 30.0, "max_bytes": 1 << 20},
    "scope": {"traps": "leave"},
}
CRAWL_SECONDS = 40.0


@dataclass(frozen=True)
class Got:
    """A request: its path with the query, its headers by lower-case names, and how often the path was asked for."""

    path: str
    headers: dict[str, str]
    number: int

    @property
    def cookies(self) -> str:
        return self.headers.get("cookie", "")


Pieces = bytes | list[bytes | float] | None
"""What is sent: bytes; bytes and pauses in seconds; or a reset. After a list, its last piece is repeated for ever."""
Answer = Callable[[Got], Pieces]


@dataclass(frozen=True)
class Scenario:
    answer: Answer
    expected: str = "page"
    path: str = "/"
    robots: Answer | None = None


def page(title: str, more: str = "", times: int = 3) -> bytes:
    """Return a page about the topic; every page has a text of its own."""
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title></head><body><h1>{title}</h1>"
        f"{more}<p>{title}. {SENTENCES * times}</p></body></html>"
    ).encode()


def head(*lines: str, status: str = "200 OK", version: str = "HTTP/1.1") -> bytes:
    """Return a head; characters up to U+00FF are sent as one byte each."""
    return "\r\n".join([f"{version} {status}", *lines, "Connection: close", "", ""]).encode("latin-1")


def html(name: str, *lines: str, status: str = "200 OK", kind: str | None = "text/html; charset=utf-8") -> Answer:
    """Answer with the page of a scenario."""
    body = page(name)
    own = [*([f"Content-Type: {kind}"] if kind is not None else []), f"Content-Length: {len(body)}", *lines]
    return lambda got: head(*own, status=status) + body


def sent(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    return head(f"Content-Length: {len(body)}", "Content-Type: text/html", *lines, status=status) + body


def packed(body: bytes, coding: str) -> Answer:
    return lambda got: sent(body, f"Content-Encoding: {coding}")


def chunks(body: bytes, *, extension: bytes = b"", end: bytes = b"0\r\n\r\n") -> bytes:
    parts = [body[start : start + 256] for start in range(0, len(body), 256)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts) + end


def chunked(body: bytes, *lines: str, coding: str = "chunked") -> Answer:
    return lambda got: head("Content-Type: text/html", f"Transfer-Encoding: {coding}", *lines) + body


def moved(name: str, location: str, *lines: str, arrives: str = "", status: str = "302 Found") -> Answer:
    """Answer the first path with a redirect, and others, or the one that is given, with the page."""

    def answer(got: Got) -> bytes:
        if got.path == "/":
            return sent(b"", f"Location: {location}", *lines, status=status)
        if arrives and got.path != arrives:
            return sent(b"no such page", status="404 Not Found")
        return sent(page(name))

    return answer


def stepwise(name: str, count: int) -> Answer:
    """Redirect from number to number, and end at a page."""

    def answer(got: Got) -> bytes:
        number = int(got.path[1:] or 0)
        return sent(page(name)) if number >= count else sent(b"", f"Location: /{number + 1}", status="302 Found")

    return answer


def busy_once(name: str, *lines: str, status: str) -> Answer:
    return lambda got: sent(page(name)) if got.number > 1 else sent(b"busy", *lines, status=status)


def _deflated(body: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


CODINGS = {
    "gzip": Scenario(packed(gzip.compress(page("gzip")), "gzip")),
    "brotli": Scenario(packed(brotli.compress(page("brotli")), "br")),
    "zstd": Scenario(packed(zstandard.compress(page("zstd")), "zstd")),
    "deflate-raw": Scenario(packed(_deflated(page("deflate-raw")), "deflate")),
    "deflate-zlib": Scenario(packed(zlib.compress(page("deflate-zlib")), "deflate")),
    "gzip-twice": Scenario(packed(gzip.compress(gzip.compress(page("gzip-twice"))), "gzip, gzip")),
    "gzip-trailing": Scenario(packed(gzip.compress(page("gzip-trailing")) + b"and more", "gzip")),
    "gzip-cut": Scenario(packed(gzip.compress(page("gzip-cut", times=60), 1)[:-12], "gzip")),
    "gzip-not": Scenario(packed(page("gzip-not"), "gzip"), "failed: cannot be decompressed"),
    "coding-unknown": Scenario(packed(page("coding-unknown"), "utf-8")),
    "coding-identity": Scenario(packed(page("coding-identity"), "identity")),
}

_PLAIN = page("length-none")
FRAMING = {
    "trailers": Scenario(chunked(chunks(page("trailers"), end=b"0\r\nX-A: 1\r\nX-B: 2\r\n\r\n"), "Trailer: X-A")),
    "chunks-extended": Scenario(chunked(chunks(page("chunks-extended"), extension=b";a=b"))),
    "chunks-endless": Scenario(chunked(chunks(page("chunks-endless"), end=b"")), "page, truncated"),
    "chunks-gzip": Scenario(chunked(chunks(gzip.compress(page("chunks-gzip"))), coding="gzip, chunked"), "page"),
    "chunks-length": Scenario(chunked(chunks(page("chunks-length")), "Content-Length: 50")),
    "length-long": Scenario(
        lambda got: head("Content-Type: text/html", "Content-Length: 99999") + page("length-long"), "page, truncated"
    ),
    "length-short": Scenario(
        lambda got: head("Content-Type: text/html", "Content-Length: 300") + page("length-short"), "page"
    ),
    "length-none": Scenario(lambda got: head("Content-Type: text/html") + _PLAIN),
    "length-twice": Scenario(html("length-twice", f"Content-Length: {len(page('length-twice'))}")),
    "length-differs": Scenario(html("length-differs", "Content-Length: 100"), "failed: does not speak HTTP"),
    "lf-only": Scenario(lambda got: sent(page("lf-only")).replace(b"\r\n", b"\n")),
    "http-1.0": Scenario(lambda got: head("Content-Type: text/html", version="HTTP/1.0") + page("http-1.0")),
    "no-phrase": Scenario(html("no-phrase", status="200")),
    "early-hints": Scenario(
        lambda got: b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" + sent(page("early-hints"))
    ),
}

HEADS = {
    "line-60k": Scenario(html("line-60k", "X-Long: " + "a" * 60_000)),
    "lines-120k": Scenario(html("lines-120k", "X-Long: " + "a" * 90_000, "X-More: " + "b" * 30_000)),
    "lines-300k": Scenario(html("lines-300k", *["X-Long: " + "a" * 30_000] * 10), "failed: too many headers"),
    "lines-1000": Scenario(html("lines-1000", *[f"X-H{number}: {'v' * 40}" for number in range(1000)])),
    "policy-14k": Scenario(html("policy-14k", "Content-Security-Policy: " + "https://a.example " * 800)),
    "no-colon": Scenario(html("no-colon", "This line has no colon"), "failed: sends a header line without a colon"),
    "blank-in-name": Scenario(html("blank-in-name", "X Y: blank in a name", "X-Z : blank behind a name")),
    "latin-1-value": Scenario(html("latin-1-value", "X-L: \xe9\xe8")),
    "folded": Scenario(html("folded", "X-Fold: a\r\n b\r\n\tc")),
    "not-http": Scenario(lambda got: b"220 mail.example ESMTP\r\n", "failed: does not speak HTTP"),
}

TYPES = {
    "type-none": Scenario(html("type-none", kind=None)),
    "type-empty": Scenario(html("type-empty", kind="")),
    "type-octets": Scenario(
        html("type-octets", kind="application/octet-stream"), "failed: not a page: application/octet-stream"
    ),
    "type-plain": Scenario(html("type-plain", kind="text/plain")),
    "type-xml": Scenario(html("type-xml", kind="application/xml"), "failed: not a page: application/xml"),
    "type-xhtml": Scenario(html("type-xhtml", kind="application/xhtml+xml")),
    "type-twice": Scenario(html("type-twice", kind="text/html, text/html; charset=utf-8")),
    "type-short": Scenario(html("type-short", kind="html")),
    "type-unknown": Scenario(html("type-unknown", kind="unknown/unknown")),
    "type-quoted": Scenario(html("type-quoted", kind='"text/html"')),
    "type-wap": Scenario(html("type-wap", kind="application/vnd.wap.xhtml+xml")),
    "type-json": Scenario(
        lambda got: sent(b'{"a": 1}').replace(b"text/html", b"text/json"), "failed: not a page: text/json"
    ),
    "type-image": Scenario(html("type-image", kind="image/png"), "failed: not a page: image/png"),
    "type-short-binary": Scenario(
        lambda got: sent(b"\x00\x01\x02" * 400).replace(b"text/html", b"html"), "failed: not a page: html"
    ),
    "charset-odd": Scenario(html("charset-odd", kind="text/html; charset=utf8mb4")),
    "attachment": Scenario(html("attachment", "Content-Disposition: attachment; filename=a.html")),
}

STATUSES = {
    "status-203": Scenario(html("status-203", status="203 Non-Authoritative Information")),
    "status-206": Scenario(html("status-206", "Content-Range: bytes 0-9/10", status="206 Partial Content")),
    "status-204": Scenario(lambda got: head(status="204 No Content"), "page"),
    "status-300": Scenario(html("status-300", "Location: /b", status="300 Multiple Choices"), "failed: http 300"),
    "status-401": Scenario(
        html("status-401", 'WWW-Authenticate: Basic realm="x"', status="401 Unauthorized"), "failed: http 401"
    ),
    "status-404": Scenario(html("status-404", status="404 Not Found"), "failed: http 404"),
    "status-410": Scenario(html("status-410", status="410 Gone"), "failed: http 410"),
    "status-451": Scenario(html("status-451", status="451 Unavailable For Legal Reasons"), "failed: http 451"),
    "status-520": Scenario(html("status-520", status="520 Unknown Error"), "waiting: http 520"),
    "status-999": Scenario(html("status-999", status="999 Request denied"), "failed: http 999"),
    "always-429": Scenario(lambda got: sent(b"busy", status="429 Too Many Requests"), "waiting: http 429"),
    "retry-seconds": Scenario(busy_once("retry-seconds", "Retry-After: 6", status="429 Too Many Requests")),
    "retry-odd": Scenario(busy_once("retry-odd", "Retry-After: soon", status="429 Too Many Requests")),
    "retry-date": Scenario(
        lambda got: busy_once(
            "retry-date",
            f"Retry-After: {email.utils.formatdate(time.time() + 8, usegmt=True)}",
            status="503 Service Unavailable",
        )(got)
    ),
    "reset-once": Scenario(lambda got: sent(page("reset-once")) if got.number > 1 else None),
    "waf-202": Scenario(
        lambda got: sent(
            b"<html><body><script src=https://a.token.awswaf.com/c.js></script></body></html>",
            "x-amzn-waf-action: challenge",
            status="202 Accepted",
        ),
        "failed: blocked: challenge page",
    ),
    "waf-403": Scenario(
        lambda got: sent(
            b"<html><head><title>Just a moment...</title></head><body><noscript>Enable JavaScript and cookies to "
            b"continue</noscript><script src=/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1></script></body>",
            "cf-mitigated: challenge",
            "Server: cloudflare",
            status="403 Forbidden",
        ),
        "failed: blocked: challenge page",
    ),
}

REDIRECTS = {
    "to-relative": Scenario(moved("to-relative", "b?x=1"), "page at /b?x=1"),
    "to-utf-8": Scenario(moved("to-utf-8", "/caf\xc3\xa9", arrives="/caf%C3%A9"), "page at /caf%C3%A9"),
    "to-latin-1": Scenario(moved("to-latin-1", "/caf\xe9", arrives="/caf%E9"), "page at /caf%E9"),
    "to-utf-8-query": Scenario(
        moved("to-utf-8-query", "/b?q=caf\xc3\xa9", arrives="/b?q=caf%C3%A9"), "page at /b?q=caf%C3%A9"
    ),
    "to-blanks": Scenario(moved("to-blanks", "/a b c"), "page at /a%20b%20c"),
    "to-fragment": Scenario(moved("to-fragment", "/b#top"), "page at /b"),
    "to-own-fragment": Scenario(moved("to-own-fragment", "/#/home"), "failed: redirects to itself"),
    "to-two": Scenario(moved("to-two", "/b", "Location: /c"), "failed: redirects to two addresses"),
    "to-nowhere": Scenario(html("to-nowhere", status="302 Found"), "failed: http 302 without a usable address"),
    "to-8": Scenario(stepwise("to-8", 8), "page at /8"),
    "to-10": Scenario(stepwise("to-10", 10), "page at /10"),
    "to-25": Scenario(stepwise("to-25", 25), "failed: more than 10 redirects"),
    "to-itself": Scenario(moved("to-itself", "/"), "failed: redirects to itself"),
    "refresh-now": Scenario(
        lambda got: sent(page("refresh-now") if got.path == "/b" else b'<meta http-equiv=refresh content="0;url=/b">'),
        "page at /b",
    ),
    "link-canonical": Scenario(html("link-canonical", 'Link: </c>; rel="canonical"')),
}


def _cookie_self(got: Got) -> bytes:
    if "seen=1" in got.cookies:
        return sent(page("cookie-self"))
    return sent(b"", "Location: /", "Set-Cookie: seen=1; Path=/; HttpOnly", status="302 Found")


def _cookie_consent(got: Got) -> bytes:
    if got.path.startswith("/consent"):
        return sent(b"", "Location: /article", "Set-Cookie: agreed=1; Path=/", status="302 Found")
    if "agreed=1" in got.cookies:
        return sent(page("cookie-consent", '<a href="/next">next</a>'))
    return sent(b"", "Location: /consent?back=/article", status="302 Found")


def _cookie_check(got: Got) -> bytes:
    """A site that sets a cookie, looks whether it comes back, and says so when it does not."""
    if got.path == "/article?cookieset=1":
        target = "/article" if "id=7" in got.cookies else "/without-cookies"
        return sent(b"", f"Location: {target}", "Set-Cookie: checked=yes", status="302 Found")
    if got.path == "/without-cookies":
        return sent(page("Please allow cookies"))
    if "checked=yes" in got.cookies and "id=7" in got.cookies:
        return sent(page("cookie-check"))
    return sent(b"", "Location: /article?cookieset=1", "Set-Cookie: id=7; Domain=test; Path=/", status="302 Found")


def _cookie_query(got: Got) -> bytes:
    if got.path == "/article?id=1&cookieset=1":
        return sent(page("cookie-query" if "id=7" in got.cookies else "Please allow cookies"))
    return sent(b"", "Location: /article?id=1&cookieset=1", "Set-Cookie: id=7", status="302 Found")


def _cookie_chain(got: Got) -> bytes:
    """Every answer but the last one sets another cookie and sends back to the same page."""
    number = sum(f"c{one}=1" in got.cookies for one in range(4))
    if number == 4:
        return sent(page("cookie-chain"))
    return sent(b"", "Location: /", f"Set-Cookie: c{number}=1", status="302 Found")


def _cookie_session(got: Got) -> bytes:
    """A site with a session cookie in every answer, which asks for none."""
    if got.path == "/new":
        return sent(page("cookie-session"), "Set-Cookie: session=abc")
    return sent(b"", "Location: /new", "Set-Cookie: session=abc", status="301 Moved Permanently")


def _cookie_loop(got: Got) -> bytes:
    return sent(b"", "Location: /", f"Set-Cookie: n={got.number}", status="302 Found")


def _identity(got: Got) -> bytes:
    if "error=no-cookies" in got.path:
        return sent(page("cookie-across"))
    return sent(b"", "Location: http://identity.test/authorize?r=x", "Set-Cookie: idp=1", status="303 See Other")


COOKIES = {
    "cookie-self": Scenario(_cookie_self),
    "cookie-consent": Scenario(_cookie_consent, path="/article"),
    "cookie-check": Scenario(_cookie_check, path="/article"),
    "cookie-query": Scenario(_cookie_query, path="/article?id=1"),
    "cookie-chain": Scenario(_cookie_chain),
    "cookie-session": Scenario(_cookie_session, "page at /new"),
    "cookie-loop": Scenario(_cookie_loop, "failed: redirects to itself"),
    "cookie-across": Scenario(_identity, "page at /?error=no-cookies"),
}
OTHER_HOSTS: dict[str, Answer] = {
    "identity": lambda got: sent(
        b"cookies" if got.cookies else b"", "Location: http://cookie-across.test/?error=no-cookies", status="302 Found"
    ),
}
"""Hosts that a scenario needs beside its own."""


def _robots(name: str, answer: Answer, expected: str = "page") -> Scenario:
    return Scenario(html(name), expected, robots=answer)


_DENIED = b"User-agent: *\nDisallow: /\n"
ROBOTS = {
    "robots-403": _robots("robots-403", lambda got: sent(b"", status="403 Forbidden")),
    "robots-401": _robots("robots-401", lambda got: sent(b"", status="401 Unauthorized")),
    "robots-503": _robots(
        "robots-503", lambda got: sent(b"", status="503 Busy"), "waiting: robots.txt cannot be read: http 503"
    ),
    "robots-html": _robots(
        "robots-html", lambda got: sent(b"<!doctype html><title>App</title>User-agent: *<br>Disallow: /")
    ),
    "robots-deny": _robots("robots-deny", lambda got: sent(_DENIED), "failed: robots.txt"),
    "robots-moved": _robots(
        "robots-moved",
        lambda got: sent(b"", "Location: http://robots-deny.test/robots.txt", status="301 Moved"),
        "failed: robots.txt",
    ),
    "robots-loop": _robots("robots-loop", lambda got: sent(b"", "Location: /robots.txt", status="302 Found")),
    "robots-reset": _robots("robots-reset", lambda got: None, "waiting: robots.txt cannot be read: connection failed"),
    "robots-delay": _robots(
        "robots-delay", lambda got: sent(b"User-agent: *\nCrawl-delay: 120\n"), "waiting: asks for a delay of 120 s"
    ),
    "robots-login": _robots("robots-login", lambda got: sent(b"", "Location: /login", status="302 Found")),
}

SLOW = {
    "slow-head": Scenario(lambda got: [2.5, sent(page("slow-head")), b""]),
    "silent": Scenario(lambda got: [60.0, b""], "waiting: timeout"),
    "drip": Scenario(
        lambda got: (
            [piece for start in range(0, 800, 40) for piece in (sent(page("drip"))[start : start + 40], 0.1)]
            + [sent(page("drip"))[800:], b""]
        )
    ),
    "endless": Scenario(
        lambda got: [head("Content-Type: text/html") + page("endless"), b"<p>solar cells and more</p>" * 2000],
        "page, truncated",
    ),
}

SCENARIOS: dict[str, Scenario] = {
    **CODINGS, **FRAMING, **HEADS, **TYPES, **STATUSES, **REDIRECTS, **COOKIES, **ROBOTS, **SLOW
}  # fmt: skip


@dataclass
class ScenarioServer:
    """The server of all scenarios, in a thread of its own; `requests` are host, path and cookies of each request."""

    port: int = 0
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    _numbers: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def connect_to(self) -> dict[str, str]:
        return {"*:80": f"127.0.0.1:{self.port}", "*:443": "127.0.0.1:1"}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._send(writer, self._pieces(await reader.readuntil(b"\r\n\r\n")))
        writer.close()

    def _pieces(self, request: bytes) -> Pieces:
        first, *lines = request.decode("latin-1").split("\r\n")
        path = first.split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        name = headers["host"].removesuffix(".test")
        self.requests.append((name, path, headers.get("cookie", "")))
        self._numbers[name, path] += 1
        got = Got(path, headers, self._numbers[name, path])
        scenario = SCENARIOS.get(name)
        if path == "/robots.txt":
            return scenario.robots(got) if scenario and scenario.robots else sent(b"", status="404 Not Found")
        if path.startswith(("/sitemap", "/no-such", "/login")):
            return sent(b"", status="404 Not Found")
        return scenario.answer(got) if scenario else OTHER_HOSTS[name](got)

    async def _send(self, writer: asyncio.StreamWriter, pieces: Pieces) -> None:
        if pieces is None:
            writer.transport.abort()
            return
        listed = [pieces, b""] if isinstance(pieces, bytes) else pieces
        for piece in listed:
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            else:
                writer.write(piece)
                await writer.drain()
        while listed[-1] and isinstance(listed[-1], bytes):
            writer.write(listed[-1])
            await writer.drain()


@contextmanager
def serving() -> Iterator[ScenarioServer]:
    """Serve all scenarios on a free port, for as long as the block lasts."""
    server, loop = ScenarioServer(), asyncio.new_event_loop()
    listening = loop.run_until_complete(asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 20, backlog=256))
    server.port = listening.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.01))
        listening.close()
        loop.close()


def start_of(name: str) -> str:
    return f"http://{name}.test{SCENARIOS[name].path}"


def crawl_scenarios(server: ScenarioServer) -> Result:
    """Crawl all scenarios with one command."""
    return crawl(server, [start_of(name) for name in SCENARIOS], SETTINGS, seconds=CRAWL_SECONDS)  # type: ignore[arg-type]


def rows(result: Result) -> list[tuple[str, str, str]]:
    """Return name, expected outcome and actual outcome of every scenario."""
    titles = {page["url"]: page["title"] for page in result.pages}
    parked = {name: host["parked"] for name, host in result.hosts.items()}
    return asyncio.run(_rows(result, titles, parked))


async def _rows(result: Result, titles: dict[str, str], parked: dict[str, str]) -> list[tuple[str, str, str]]:
    frontier = CrawlSetup.open(result.folder).backend.frontier()
    try:
        return [(name, one.expected, await _outcome(name, frontier, titles, parked)) for name, one in SCENARIOS.items()]
    finally:
        await frontier.close()


async def _outcome(name: str, frontier: Frontier, titles: dict[str, str], parked: dict[str, str]) -> str:
    start = url = start_of(name)
    passed: list[str] = []
    entry: UrlEntry | None = await frontier.find(url)
    while entry and url not in titles and url not in passed and entry.reason.kind in MOVED:
        passed.append(url)
        url = entry.reason.fields[0]
        entry = await frontier.find(url)
    if url in titles:
        parts = urlsplit(url)
        path = url.removeprefix(f"{parts.scheme}://{parts.netloc}")
        words = "page" if url == start else f"page at {path}"
        truncated = ", truncated" if entry and entry.reason.kind is ReasonKind.TRUNCATED else ""
        return words + truncated + ("" if name in titles[url] or not titles[url] else f" ({titles[url]!r})")
    if entry is None or entry.state is UrlState.DONE:
        return "no page"
    return f"{entry.state.value}: {entry.reason or parked.get(f'{name}.test', '')}"


if __name__ == "__main__":
    with serving() as running:
        for row in rows(crawl_scenarios(running)):
            print(*row, sep="\t")
