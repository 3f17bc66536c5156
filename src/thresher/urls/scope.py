"""The scope of a crawl: which URLs may be fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import translate

from thresher.urls.address_policy import private_network
from thresher.urls.canonical import host_key

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
