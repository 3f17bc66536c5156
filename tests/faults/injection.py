"""What strangers put into headers and cookies is bounded, and stays with whom it belongs."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from unittest.mock import patch

from testing.recording_server import Answer, Hit, page, recorder
from tests.faults.guarded import listening
from tests.faults.live import Result, crawl
from tests.faults.smuggling import Tally
from tests.faults.table import Outcome
from thresher.crawl import CrawlSetup
from thresher.engine.fetcher import MAX_COOKIES

MIB = 1 << 20
MAX_HEAD_BYTES = 256 << 10
SECRETS = ("s3cret", "t0ken")
COOKIES_PER_PAGE = 200
PRIVATE_HEADERS = ("Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "Referer")


# S7 and H10: nothing that belongs to one host is sent to another, or at all.


def private_parts(*, cookies: int) -> Tally:
    """Crawl hosts that hand out cookies and passwords, with proxies and passwords in the environment."""
    bombs, tally = max(2, cookies // COOKIES_PER_PAGE), Tally()
    with listening([("127.0.0.1", 0)]) as proxy, tempfile.TemporaryDirectory() as home, recorder(_private(bombs)) as w:
        with patch.dict(os.environ, _environment(Path(home), proxy.places[0][1])):
            seeds = ["http://root:s3cret@login.test/", "http://bomb.test/0", "http://bounce.test/"]
            result = crawl(w, seeds, seconds=90)
        hits = w.hits()
        tally.expect(proxy.accepts == 0, f"the proxy of the environment was asked {proxy.accepts} times")
    for hit in hits:
        tally.expect(not _leaks(hit), f"{hit.host}{hit.path}: {_leaks(hit)}")
    sent_back = max((hit.header("Cookie") or "").count("=") for hit in hits if hit.host == "bounce.test")
    tally.expect(0 < sent_back <= MAX_COOKIES, f"{sent_back} cookies were sent back")
    paths = {(hit.host, hit.path) for hit in hits}
    for wanted in (("other.test", "/link"), ("other.test", "/redirected"), ("login.test", "/plain")):
        tally.expect(wanted in paths, f"{wanted} was not asked: {result.stderr[-300:]}")
    bombed = [_head_bytes(hit) for hit in hits if hit.host == "bomb.test" and hit.path != "/robots.txt"]
    tally.expect(len(bombed) >= bombs, f"{len(bombed)} of {bombs} pages with cookies were asked for")
    tally.figures = {
        "requests": len(hits),
        "leaks": sum(bool(_leaks(hit)) for hit in hits),
        "cookies": bombs * COOKIES_PER_PAGE,
        "sent_back": sent_back,
        "first_bytes": bombed[0],
        "most_bytes": max(bombed),
        "peak_rss_bytes": result.peak_rss_bytes,
    }
    tally.expect(max(bombed) - min(bombed) <= 8, f"requests grew from {min(bombed)} to {max(bombed)} bytes")
    return tally


def _private(bombs: int) -> dict[str, dict[str, Answer]]:
    """Return hosts that hand out secrets, and one with `bombs` pages that each set cookies."""
    cookie = [("Set-Cookie", "sid=t0ken; Domain=test; Path=/"), ("Set-Cookie", "a=t0ken; Domain=other.test")]
    links = [
        "http://root:s3cret@other.test/link",
        "//root:s3cret@third.test/link",
        "/redirect",
        "/401",
        "/407",
        "/cookie",
    ]
    return {
        "login.test": {
            "/": page("Login", "solar cells", links, headers=cookie),
            "/redirect": Answer(
                status=302, headers=[("Location", "http://root:s3cret@other.test/redirected"), *cookie]
            ),
            "/401": Answer(status=401, headers=[("WWW-Authenticate", 'Basic realm="s3cret"')]),
            "/407": Answer(status=407, headers=[("Proxy-Authenticate", "Basic")]),
            "/cookie": page("Cookie", "solar <meta http-equiv=set-cookie content='sid=t0ken'>", ["/after"]),
            "/after": page("After", "solar cells after", ["https://login.test/tls", "http://other.test/second"]),
            "/tls": page("TLS", "solar cells in private", ["http://login.test/plain"]),
            "/plain": page("Plain", "solar cells in public"),
        },
        "other.test": {path: page(path, f"solar {path}") for path in ("/link", "/redirected", "/second")},
        "third.test": {"/link": page("Third", "third solar")},
        "bounce.test": {"/": Answer(status=302, headers=[("Location", "/"), *_cookies(0, COOKIES_PER_PAGE)])},
        "bomb.test": {
            f"/{n}": page(f"Bomb {n}", f"solar {n}", [f"/{n + 1}"], headers=_cookies(n, COOKIES_PER_PAGE))
            for n in range(bombs)
        },
    }


def _cookies(number: int, count: int) -> list[tuple[str, str]]:
    return [("Set-Cookie", f"c{number}-{one}={'x' * 500}; Path=/; Max-Age=99999") for one in range(count)]


def _environment(home: Path, proxy_port: int) -> dict[str, str]:
    """Return an environment in which a careless client would use a proxy and a password."""
    (home / ".netrc").write_text("machine other.test login root password s3cret\n", encoding="utf-8")
    (home / ".netrc").chmod(0o600)
    proxy = f"http://root:s3cret@127.0.0.1:{proxy_port}"
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {**dict.fromkeys(names, proxy), "no_proxy": "", "NO_PROXY": "", "HOME": str(home)}


def _leaks(hit: Hit) -> list[str]:
    if hit.host == "bounce.test":  # its own cookies, sent back to it
        return []
    reported = [f"{name}: {value}" for name, value in hit.headers]
    private = [line for line in reported if line.partition(":")[0].title() in PRIVATE_HEADERS]
    return private + [line for line in [*reported, hit.path] if any(secret in line for secret in SECRETS)]


def _head_bytes(hit: Hit) -> int:
    return len(hit.path) + sum(len(name) + len(value) + 4 for name, value in hit.headers)


@cache
def _private_parts_in_full() -> Tally:
    return private_parts(cookies=10_000)


def s7() -> Outcome:
    """Fill row S7."""
    tally = _private_parts_in_full()
    return Outcome(
        held=not tally.broken,
        figure=f"leaks {tally.figures['leaks']:.0f} in {tally.figures['requests']:.0f} requests: userinfo in seeds, "
        "links and redirects, cookies, 401, 407, .netrc, proxies in the environment",
    )


def h10() -> Outcome:
    """Fill row H10."""
    figures = _private_parts_in_full().figures
    return Outcome(
        held=not _private_parts_in_full().broken,
        figure=f"{figures['cookies']:,.0f} cookies set by pages, 0 sent; of {COOKIES_PER_PAGE} set by a redirect to "
        f"itself {figures['sent_back']:.0f} sent back; requests of at most {figures['most_bytes']:.0f} bytes, "
        f"the first {figures['first_bytes']:.0f}",
    )


# S8: heads of answers.

_LONG = "x" * MIB
FLOODS: dict[str, Answer] = {
    "total.test": Answer(many_headers=(200_000, 1000), body="x"),
    "fields.test": Answer(many_headers=(100_000, 10), body="x"),
    "short.test": Answer(many_headers=(100_000, 1), body="x"),
    "line.test": Answer(headers=[("X-Long", _LONG)], body="x"),
    "name.test": Answer(headers=[(_LONG, "x")], body="x"),
    "status.test": Answer(raw_head="HTTP/1.1 200 " + _LONG + "\r\n\r\n", body="x"),
    "folded.test": Answer(raw_head="HTTP/1.1 200 OK\r\nX: a\r\n" + " folded\r\n" * 100_000 + "\r\n", body="x"),
    "again.test": Answer(raw_head="HTTP/1.1 100 Continue\r\n\r\n" * 100_000, body="x"),
    "blank.test": Answer(raw_head="\r\n" * 500_000, body="x"),
}
"""Heads that are cut off."""
NO_COLON = "sends a header line without a colon"
NOT_HEADS: dict[str, Answer] = {
    "colon.test": page("Colon", "colon solar", ["/next"], headers=[("X-A", "a\r\nno colon here")]),
}
"""Heads that are refused, as libcurl does: what follows a line that is no header may not be what it seems."""
ODD: dict[str, Answer] = {
    "policy.test": page("Policy", "policy solar", ["/next"], headers=[("Referrer-Policy", "os.system")]),
    "builtin.test": page("Builtin", "builtin solar", ["/next"], headers=[("Referrer-Policy", "builtins.exec")]),
    "crlf.test": page("CRLF", "crlf solar", ["/next"], headers=[("X-A", "a\r\nLocation: http://evil.test/\r\nX-B: b")]),
    "bytes.test": page("Bytes", "bytes solar", ["/next"], headers=[("X-Odd", "\x80\x7f\xff")]),
}
"""Heads that are strange, and no reason to give a page up."""


def heads() -> Tally:
    """Crawl hosts whose heads have no end or make no sense; measure what the crawl's largest process held."""
    odd = {host: {"/": answer, "/next": page("Next", f"next of {host}")} for host, answer in ODD.items()}
    floods = {host: {"/": answer} for host, answer in {**FLOODS, **NOT_HEADS}.items()}
    lost = {
        f"robots-{host}": {"/robots.txt": answer, "/": page("Robots", f"solar {host}")}
        for host, answer in FLOODS.items()
    }
    seeds = [f"http://{host}/" for host in (*odd, *floods, *lost)]
    tally = Tally()
    with recorder({**odd, **floods, **lost}) as w:
        result = crawl(w, seeds, {"engine": {"timeout_seconds": 10.0, "lease_seconds": 20.0}}, seconds=60)
        hits = w.hits()
    reasons = _reasons_of(result, [f"http://{host}/" for host in floods])
    for url, reason in reasons.items():
        tally.expect(reason in ("too many headers", "does not speak HTTP", NO_COLON), f"{url}: {reason}")
    for host in NOT_HEADS:
        tally.expect(reasons[f"http://{host}/"] == NO_COLON, f"{host}: {reasons[f'http://{host}/']}")
    for host in odd:
        asked = {hit.path: hit for hit in hits if hit.host == host}
        tally.expect("/next" in asked and not asked["/next"].header("Referer"), f"{host}: asked for {sorted(asked)}")
    tally.expect(not any(hit.host == "evil.test" for hit in hits), "a header within a header was followed")
    sent = max(hit.sent_bytes for hit in hits)
    tally.figures = {
        "peak_rss_bytes": result.peak_rss_bytes,
        "sent_bytes": sent,
        "cut": sum(reason == "too many headers" for reason in reasons.values()),
        "seconds": result.seconds,
    }
    return tally


def _reasons_of(result: Result, urls: Sequence[str]) -> Mapping[str, str]:
    async def look() -> dict[str, str]:
        frontier = CrawlSetup.open(result.folder).backend.frontier()
        try:
            entries = {url: await frontier.find(url) for url in urls}
        finally:
            await frontier.close()
        return {url: str(entry.reason) if entry else "unknown" for url, entry in entries.items()}

    return asyncio.run(look())


def s8() -> Outcome:
    """Fill row S8."""
    calm, tally = _private_parts_in_full(), heads()
    grown = (tally.figures["peak_rss_bytes"] - calm.figures["peak_rss_bytes"]) / MIB
    return Outcome(
        held=not tally.broken and grown <= 64,
        figure=f"{tally.figures['cut']:.0f} of {len(FLOODS)} heads of up to 200 MB cut off at 256 KiB or 2,000 lines; "
        f"peak memory {grown:+.1f} MiB against a calm crawl; no header ran, and none sent us anywhere",
    )
