"""The scope of a crawl: which URLs may be fetched.

`template` is the invariant part of URLs with numbers, hashes or dates.

Numbers become ``#``, hexadecimal names ``@``, dates ``date``; of a query only the keys count. URLs that differ in
nothing else are variants of one template, and most traps are templates with endless variants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache

from thresher.urls.address_policy import private_network
from thresher.urls.canonical import host_key

DATE = "date"
_VARYING = ("#", "@", DATE, "?")

_YEAR = r"(?:19|20|21)\d\d"
_DATE = re.compile(rf"(?<!\d){_YEAR}(?:[-/_.]?[01]?\d[-/_.]?[0-3]\d|[-/_.][01]?\d)(?!\d)")
# Words of hexadecimal digits, joined by dashes; without backtracking, so that the time is bounded.
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]++(?![0-9A-Za-z])(?:-++[0-9a-fA-F]++(?![0-9A-Za-z]))*+")
_MIN_HEX = 8
_NUMBER = re.compile(r"\d+")


@lru_cache(maxsize=4096)
def template(url: str) -> str:
    """Return the template of a canonical URL, without its host; empty when the URL has no variable part."""
    path, _, query = url.partition("?")
    pattern = _fold(path[path.index("/", len("https://")) :])
    if query:
        pattern = f"{pattern}?{'&'.join(sorted(set(map(_fold_pair, query.split('&')))))}"
    return pattern if any(mark in pattern for mark in _VARYING) else ""


def is_dated(pattern: str) -> bool:
    """Return whether a template contains a date, as in a calendar."""
    return DATE in pattern


def _fold(text: str) -> str:
    text = _HEX.sub(_fold_hex, _DATE.sub(DATE, text))
    return _NUMBER.sub("#", text)


def _fold_hex(match: re.Match[str]) -> str:
    """Replace a hash, but no number and no word such as ``cafe-bade``: a hash has digits and letters."""
    word, digits = match[0], match[0].replace("-", "")
    return "@" if len(word) >= _MIN_HEX and not digits.isdecimal() and not digits.isalpha() else word


def _fold_pair(piece: str) -> str:
    key, _, value = piece.partition("=")
    return f"{_NUMBER.sub('#', key)}={DATE}" if _DATE.fullmatch(value) else _NUMBER.sub("#", key)


_NOT_PAGES = """
    jpg jpeg jpe png gif bmp ico svg webp avif tif tiff psd eps ai
    mp3 mp4 m4a m4v avi mov mkv mpg mpeg wmv wma wav ogg ogv webm flv
    zip gz tgz bz2 xz zst rar 7z tar iso dmg exe msi apk deb rpm jar
    pdf doc docx xls xlsx ppt pptx odt ods odp rtf ps djvu epub mobi
    css js mjs json xml rss atom csv swf woff woff2 ttf otf eot map wasm
    bin dat class torrent ics vcf kml kmz sql db bak log
"""
SKIPPED_EXTENSIONS = frozenset(re.findall(r"\w+", _NOT_PAGES))
"""File name extensions that are not HTML pages."""

_MAX_CACHED_HOSTS = 100_000


@dataclass(frozen=True, kw_only=True)
class UrlScope:
    """The scope of a crawl.

    Args:
        allow_hosts: Patterns such as ``*.example.org``, which match ``example.org`` itself too; none allows every host.
        deny_hosts: Patterns of hosts that are never contacted; a host in both is denied.
        max_depth: Maximum number of links between a seed and a page; None for no limit.
        own_hosts_only: Whether hosts outside the user's own network are denied: there is no contact address for them.
        stand_in: Whether the default ports of every host lead to a server of the user; then they are own hosts.
        skipped_extensions: File name extensions, without the dot, that are not pages.
    """

    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    max_depth: int | None = None
    own_hosts_only: bool = False
    stand_in: bool = False
    skipped_extensions: frozenset[str] = SKIPPED_EXTENSIONS
    _verdicts: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def allows(self, candidate_url: str, hops: int) -> str:
        """Return why a canonical URL is out of scope; empty when it is in scope.

        Args:
            candidate_url: The URL.
            hops: Number of links between a seed and the URL.
        """
        if self.max_depth is not None and hops > self.max_depth:
            return "too deep"
        if not candidate_url.startswith(("http://", "https://")):
            return "not http"
        host = host_key(candidate_url)
        verdict = self._verdicts.get(host)
        if verdict is None:
            verdict = self._judge_host(host)
        return verdict or self._judge_name(candidate_url)

    def _judge_host(self, host: str) -> str:
        name = host if host.startswith("[") else host.partition(":")[0]
        if _matches(name, self.deny_hosts):
            verdict = "host denied"
        elif self.own_hosts_only and not self._is_own(host):
            verdict = "politeness.contact is empty"
        else:
            verdict = "host not allowed" if self.allow_hosts and not _matches(name, self.allow_hosts) else ""
        if len(self._verdicts) >= _MAX_CACHED_HOSTS:
            self._verdicts.clear()
        self._verdicts[host] = verdict
        return verdict

    def _is_own(self, host: str) -> bool:
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        return bool(private_network(name)) or (self.stand_in and host in (name, f"[{name}]"))

    def _judge_name(self, url: str) -> str:
        extension = url.partition("?")[0].rpartition(".")[2]
        return "not a page" if extension.lower() in self.skipped_extensions else ""


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name == pattern.removeprefix("*.") or re.match(translate(pattern), name)
        for pattern in (pattern.lower() for pattern in patterns)
    )
