"""Reasons as versions up to 0.2.0 stored them, as English text: the one place that reads such text.

The stores of later versions keep the kind of a reason and its details; a file of an earlier version is converted once.
"""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache

from thresher.reasons.reason import BLOCK_PAGES, NO_REASON, Reason, ReasonKind

_UNIT_SECONDS = {"minutes": 60, "hours": 3600, "days": 86_400}
_REPEATED = re.compile(r"(.*), (\d+) times in a row", re.DOTALL)
_AROUND = {
    ReasonKind.NO_PAGE: re.compile(r"no page in (?P<number>\d+) tries: (?P<inner>.*)", re.DOTALL),
    ReasonKind.RETRY_AFTER: re.compile(r"(?P<inner>http \d+), asks for (?P<number>\d+) (?P<unit>\w+) of rest"),
    ReasonKind.REPEATED: re.compile(r"(?P<inner>.*), (?P<number>\d+) times in a row", re.DOTALL),
}
_ROBOTS_UNREADABLE = "robots.txt cannot be read: "
_WHOLE = {
    "timeout": ReasonKind.TIMEOUT,
    "slower than others": ReasonKind.SLOW,
    "connection refused": ReasonKind.CONNECTION_REFUSED,
    "connection failed": ReasonKind.CONNECTION,
    "no TLS version or cipher in common: its own are too old": ReasonKind.TLS,
    "no such host": ReasonKind.DNS,
    "no such host, or none of the proxy": ReasonKind.DNS_OR_PROXY,
    "the proxy cannot be reached": ReasonKind.PROXY,
    "sends a header line without a colon": ReasonKind.HEADER_LINE,
    "redirects to two addresses": ReasonKind.TWO_ADDRESSES,
    "not http": ReasonKind.UNSUPPORTED_URL,
    "not a valid URL": ReasonKind.INVALID_URL,
    "does not speak HTTP": ReasonKind.NOT_HTTP,
    "too many headers": ReasonKind.HEAD_TOO_LONG,
    "cannot be decompressed": ReasonKind.COMPRESSION,
    "truncated before its first byte": ReasonKind.NO_BODY,
    "there is not enough time left": ReasonKind.NO_TIME,
    "the worker was stopped during the fetch": ReasonKind.WORKER_STOPPED,
    "the worker stopped": ReasonKind.WORKER_STOPPED,
    "truncated": ReasonKind.TRUNCATED,
    "through a browser": ReasonKind.RENDERED,
    "the browser died": ReasonKind.BROWSER,
    "unchanged": ReasonKind.UNCHANGED,
    "redirects to itself": ReasonKind.REDIRECT_TO_ITSELF,
    "its redirects with cookies take longer than a lease": ReasonKind.SLOW_REDIRECTS,
    "soft 404: the page says that there is none": ReasonKind.SOFT_404,
    "robots.txt": ReasonKind.ROBOTS,
    "the answer broke off": ReasonKind.ROBOTS_CUT,
    "no answer": ReasonKind.NO_ANSWER,
    "broke the line": ReasonKind.PROCESSING,
    "blocked by hand": ReasonKind.BLOCKED_BY_USER,
    "asked a moment ago": ReasonKind.POLITENESS,
    "pages that are not there are refused": ReasonKind.PROBE,
    "pages that are not there have a page": ReasonKind.PROBE_ANSWERED,
}
_PATTERNS = [
    (re.compile(pattern, re.DOTALL), kind)
    for pattern, kind in (
        (r"http (\d+)", ReasonKind.HTTP),
        (r"http (\d+) without a usable address", ReasonKind.BAD_REDIRECT),
        (r"its certificate (.*)", ReasonKind.CERTIFICATE),
        (r"truncated, its certificate (.*)", ReasonKind.TRUNCATED),
        (r"through a browser, its certificate (.*)", ReasonKind.RENDERED),
        (r"the proxy answered http (\d+)", ReasonKind.PROXY_STATUS),
        (r"redirected to (\S+)", ReasonKind.REDIRECT),
        (r"redirected to (\S+): (.*)", ReasonKind.REDIRECT),
        (r"refreshes to (\S+)", ReasonKind.REFRESH),
        (r"refreshes to (\S+): (.*)", ReasonKind.REFRESH),
        (r"more than (\d+) redirects", ReasonKind.TOO_MANY_REDIRECTS),
        (r"not a page: (.*)", ReasonKind.NOT_A_PAGE),
        (r"opted out: (.*)", ReasonKind.OPTED_OUT),
        (r"robots\.txt is on (\S+), which is asked in its turn", ReasonKind.ROBOTS_ELSEWHERE),
        (r"it leads to (\S+), outside the crawl", ReasonKind.ROBOTS_OUTSIDE),
        (r"asks for a delay of (\S+) s", ReasonKind.CRAWL_DELAY),
        (r"refused: (a private .*)", ReasonKind.PRIVATE_ADDRESS),
        (r"refused: (.*)", ReasonKind.REFUSED_ADDRESS),
        (r"a maze: pages like (.*) link only to URLs never seen before", ReasonKind.MAZE),
        (r"(\d+) of (\d+) pages like (.*) brought nothing new", ReasonKind.NOTHING_NEW),
        (r"(\d+) pages like (.*), (\d+) of them relevant", ReasonKind.VARIANTS),
        (r"facets: (\d+) pages like (.*) that combine the filters (.*)", ReasonKind.FACETS),
        (r"out of scope: (.*)", ReasonKind.SCOPE),
        (r"cannot be parsed: (.*)", ReasonKind.UNPARSABLE),
        (r"lost with its worker (\d+) times", ReasonKind.WORKER_LOST),
        (r"its lease expired (\d+) times before a request was reported", ReasonKind.LEASE_EXPIRED),
        (r"blocked by hand: (.*)", ReasonKind.BLOCKED_BY_USER),
        (r"gave (\d+) pages, its budget", ReasonKind.BUDGET),
        (r"gave (\d+) pages, (none|\d+) of them relevant", ReasonKind.LOW_HARVEST),
        (r"sitemap: (\d+) of (\d+) pages, (\d+) of (\d+) sitemaps", ReasonKind.SITEMAP),
        (r"sitemap: (\d+) of (\d+) pages, (\d+) of (\d+) sitemaps; (.*)", ReasonKind.SITEMAP),
        (r"feed: (\d+) of (\d+) entries", ReasonKind.FEED),
        (r"feed: (\d+) of (\d+) entries; (.*)", ReasonKind.FEED),
        (r"(lost with damaged files of the cold storage).*", ReasonKind.LOST_FILES),
        (r"((?:the callback raised|ignored: |was in memory when).*)", ReasonKind.SPIDER),
        (r"([A-Z][A-Za-z]*)", ReasonKind.EXCEPTION),
    )
]
_BLOCK_PAGE = re.compile(r"blocked: ([^(]*?)(?: \((.*)\))?", re.DOTALL)


def stored_reason(text: str) -> Reason:
    """Return the reason of a stored text: of this version, which encodes it, or of an earlier one."""
    found = Reason.decoded(text)
    return legacy_reason(text) if found is None else found


def stored_in(kind: str, detail: str) -> Reason:
    """Return the reason of two columns; of an unknown kind, which a damaged file may have, the detail alone."""
    known = Reason.decoded(kind)
    return Reason(ReasonKind.OTHER if known is None else known.kind, detail)


def shared(reason: Reason) -> dict[str, str]:
    """Return a reason as it is written for other machines and programs: also as a text, for earlier versions."""
    return {"reason": str(reason), "reason_kind": reason.kind.value, "reason_detail": reason.detail}


def read_shared(text: str, kind: str | None, detail: str | None) -> Reason:
    """Return the reason that a machine of any version wrote; of an earlier one there is the text alone."""
    known = Reason.decoded(kind) if kind else None
    return Reason(known.kind, detail or "") if known else legacy_reason(text)


@lru_cache(maxsize=4096)
def legacy_reason(text: str) -> Reason:
    """Return the reason of a text of versions up to 0.2.0; an unknown text is the detail of another reason."""
    if not text:
        return NO_REASON
    if kind := _WHOLE.get(text):
        return Reason(kind)
    if text.startswith(_ROBOTS_UNREADABLE):
        return _robots_unreadable(text.removeprefix(_ROBOTS_UNREADABLE))
    for kind, pattern in _AROUND.items():
        if found := pattern.fullmatch(text):
            number = int(found["number"]) * _UNIT_SECONDS.get(found.groupdict().get("unit") or "", 1)
            return Reason.around(kind, number, legacy_reason(found["inner"]))
    if found := _BLOCK_PAGE.fullmatch(text):
        codes = [code for code, (words, _) in BLOCK_PAGES.items() if words == found[1]]
        if codes:
            return Reason.of(ReasonKind.BLOCK_PAGE, codes[0], *filter(None, [found[2]]))
    for matching, kind in _PATTERNS:
        if found := matching.fullmatch(text):
            fields = ["0" if field == "none" else field for field in found.groups()]
            return Reason.of(kind, *([] if kind is ReasonKind.LOST_FILES else fields))
    return Reason.of(ReasonKind.OTHER, text)


def _robots_unreadable(why: str) -> Reason:
    found = _REPEATED.fullmatch(why)
    inner, times = (found[1], int(found[2])) if found else (why, 1)
    return Reason.around(ReasonKind.ROBOTS_UNREADABLE, times, legacy_reason(inner))


def add_functions(db: sqlite3.Connection) -> None:
    """Let a database convert the reasons of an earlier version, by `legacy_kind` and `legacy_detail`."""
    db.create_function("legacy_kind", 1, lambda text: legacy_reason(text or "").kind.value, deterministic=True)
    db.create_function("legacy_detail", 1, lambda text: legacy_reason(text or "").detail, deterministic=True)
