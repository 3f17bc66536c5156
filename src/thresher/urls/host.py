"""Whose server a URL asks, and whose domain that is."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tldextract

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_IP_ADDRESS = re.compile(r"\[.*\]|\d{1,3}(?:\.\d{1,3}){3}").fullmatch
_AUTHORITY_END = re.compile(r"[/?#]").search


def host_key(url: str) -> str:
    """Give the name that politeness is counted under: ``name`` or ``name:port``, in lower case.

    http and https of one name share one key, and so one budget. Sliced, not parsed: `url` is canonical.
    """
    end = url.find("/", len("https://"))
    return _key_of_root(url[:end] if end > 0 else url)


@lru_cache(maxsize=65_536)
def _key_of_root(root: str) -> str:
    """Do so for what precedes the path, which is the same for all pages of a site."""
    scheme, _, rest = root.partition("://")
    authority, slash, _ = rest.partition("/")
    if not slash and (end := _AUTHORITY_END(rest)):
        authority = rest[: end.start()]
    if ":" in authority:
        authority = authority.removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return authority.lower()


@lru_cache(maxsize=65_536)
def registered_domain(host: str) -> str:
    """Give the domain that somebody registered: ``example.co.uk`` for ``www.example.co.uk``.

    A port is ignored. IP addresses and names outside the public suffix list stand for themselves.
    """
    name = re.sub(r":\d+$", "", host.lower()).rstrip(".")
    if _IP_ADDRESS(name):
        return name
    parts = _extractor()(name)
    return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else name


@cache
def _extractor() -> tldextract.TLDExtract:
    import tldextract  # with it comes all of requests, which most commands do not need

    # The bundled list only: no request and no file behind the user's back.
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=False)
