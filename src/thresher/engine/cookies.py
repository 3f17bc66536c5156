"""Cookies of one lease: sites that set a cookie and send the reader back to the page that was requested.

Such a redirect is followed within its lease, since its target is the leased URL itself, which the frontier gives out
once. All other redirects are frontier entries of their own, and are requested without cookies. The jar lives as long
as the lease, in memory; what is kept of a request has `REDACTED` in its place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from thresher.config.secrets import Secret
from thresher.parsing.response import redirect_target
from thresher.records import FetchedPage, Lease
from thresher.urls.canonical import fingerprint

MAX_HOPS = 10
"""Requests of one lease after its first one."""
MAX_COOKIES = 20
MAX_COOKIE_BYTES = 4096

_IS_REMOVED = re.compile(r"max-age\s*=\s*(?:0|-)|expires\s*=[^;]*\b1970\b", re.IGNORECASE).search


class CookieChain:
    """The requests of one lease, and the cookies that their responses set.

    The jar is for one origin: scheme, host and port. So Domain, Path and Secure, which extend or restrict where a
    cookie is sent, are ignored.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._first: FetchedPage | None = None
        self._jar: dict[str, str] = {}
        self._hops = 0

    def next_target(self, page: FetchedPage) -> str:
        """Add the cookies of a response; return where it leads within this lease, or an empty string."""
        self._first = self._first or replace(page, body=b"")
        target = redirect_target(page)
        if not target or _origin(target) != _origin(self._lease.url):
            return ""
        has_new = self._take_cookies(page)
        if not self._jar or self._hops >= MAX_HOPS or not (self._hops or self._leads_back(target)):
            return ""
        if target == page.url and not has_new:
            return ""
        self._hops += 1
        return target

    def cookies(self) -> Secret:
        """Return the Cookie header of the next request."""
        return Secret("; ".join(f"{name}={value}" for name, value in self._jar.items()))

    def result(self, page: FetchedPage) -> FetchedPage:
        """Return the last response as that of the lease.

        A page at another URL of the host is requested in its turn, as after any redirect, unless it is the page that
        redirected here, or the leased one with more in its query.
        """
        if not self._hops or page.url == self._lease.url or self._is_parent(page.url):
            return page
        if target := redirect_target(page):
            return _redirect_to(target, replace(page, url=self._lease.url))
        if self._is_extended(page.url):
            return replace(page, url=self._lease.url)
        return _redirect_to(page.url, self._first or page)

    def _leads_back(self, target: str) -> bool:
        """Return whether a target is the leased URL, the one that redirected to it, or names its path in its query."""
        path = urlsplit(self._lease.url).path
        names_path = len(path) > 1 and path in unquote(urlsplit(target).query)
        return self._is_parent(target) or self._is_extended(target) or names_path

    def _is_extended(self, url: str) -> bool:
        """Return whether a URL is the leased one, perhaps with more in its query; less would be another page."""
        wanted, found = urlsplit(self._lease.url), urlsplit(url)
        is_more = set(wanted.query.split("&")) - {""} <= set(found.query.split("&"))
        return is_more and _without_query(url) == _without_query(self._lease.url)

    def _is_parent(self, url: str) -> bool:
        return self._lease.redirects > 0 and fingerprint(url) == self._lease.parent

    def _take_cookies(self, page: FetchedPage) -> bool:
        before = dict(self._jar)
        for name, line in page.header_lines:
            if name.lower() == "set-cookie":
                self._set(line)
        return self._jar != before

    def _set(self, line: str) -> None:
        pair, _, attributes = line.partition(";")
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (equals and name and pair.isascii() and pair.isprintable()) or len(pair) > MAX_COOKIE_BYTES:
            return
        if _IS_REMOVED(attributes):
            self._jar.pop(name, None)
        elif name in self._jar or len(self._jar) < MAX_COOKIES:
            self._jar[name] = value


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _without_query(url: str) -> str:
    return url.partition("?")[0]


def _redirect_to(target: str, page: FetchedPage) -> FetchedPage:
    """Return a redirect with another target; its header lines, which are archived, stay as they were."""
    return replace(page, headers={**page.headers, "location": target})
