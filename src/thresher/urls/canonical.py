"""The canonical form of a URL, after the WHATWG standard, its fingerprint, its host and its registered domain.

Two spellings of the same page should become the same string, because everything behind this module (the frontier, the
page store, the politeness budgets) compares URLs by their canonical form alone.
"""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tldextract
import xxhash
from ada_url import join_url, normalize_url

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_IP_ADDRESS = re.compile(r"\[.*\]|\d{1,3}(?:\.\d{1,3}){3}").fullmatch
_AUTHORITY_END = re.compile(r"[/?#]").search


def host_key(url: str) -> str:
    """Return the key of the host queue: ``name`` or ``name:port``, in lower case.

    http and https of one name share one key, and so one budget. The URL must be canonical: it is not parsed.
    """
    end = url.find("/", len("https://"))
    return _key_of_root(url[:end] if end > 0 else url)


@lru_cache(maxsize=65_536)
def _key_of_root(root: str) -> str:
    """Return the key for the part before the path; cached, since it is the same for all pages of a site."""
    scheme, _, rest = root.partition("://")
    authority, slash, _ = rest.partition("/")
    if not slash and (end := _AUTHORITY_END(rest)):
        authority = rest[: end.start()]
    if ":" in authority:
        authority = authority.removesuffix(_DEFAULT_PORTS.get(scheme, ""))
    return authority.lower()


@lru_cache(maxsize=65_536)
def registered_domain(host: str) -> str:
    """Return the registered domain: ``example.co.uk`` for ``www.example.co.uk``.

    A port is ignored. IP addresses and names outside the public suffix list are returned as they are.
    """
    return suffix_and_domain(host)[1] or _without_port(host)


@lru_cache(maxsize=65_536)
def suffix_and_domain(host: str, *, private: bool = False) -> tuple[str, str]:
    """Return the public suffix of a host name, and the domain registered below it; either is empty where there is none.

    IP addresses and names outside the public suffix list have none.

    Args:
        host: The host name; a port is ignored.
        private: Whether the suffixes of companies count too, such as ``github.io``.
    """
    name = _without_port(host)
    if is_address(name):
        return "", ""
    parts = _extractor()(name, include_psl_private_domains=private)
    return parts.suffix, f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else ""


def is_address(name: str) -> bool:
    """Return whether a host is an IP address."""
    return _IP_ADDRESS(name) is not None


def _without_port(host: str) -> str:
    return re.sub(r":\d+$", "", host.lower()).rstrip(".")


@cache
def _extractor() -> tldextract.TLDExtract:
    import tldextract  # imported lazily: it imports requests, which most commands do not need

    # The bundled list only: no download and no cache file.
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=False)


MAX_URL_CHARACTERS = 2083
"""Longer URLs are not crawled: browsers and servers disagree about them, and traps produce them."""

_MAX_INPUT_CHARACTERS = 4 * MAX_URL_CHARACTERS  # cleaning shortens URLs, but a data: URL need not be parsed
_MAX_ROUNDS = 8  # cleaning can uncover something new to clean; two rounds are enough for all but hostile input

# Fast path: URLs that match are canonical already and need not be parsed. They are a subset of the standard: no segment
# that starts with a dot, no escapes, no short ports, no international hosts, nothing that may contain a session id.
_SEGMENTS = r"(?:[A-Za-z0-9_~,+!@*-][A-Za-z0-9_~,+!@*:.-]*/)*(?:[A-Za-z0-9_~,+!@*-][A-Za-z0-9_~,+!@*:.-]*)?"
_QUERY = r"(?:\?[A-Za-z0-9_~,+!@*:./=&-]+)?"
_HOST_NAME = r"(?:(?!xn--)[a-z0-9-]+\.)+[a-z]{2,}"
_IPV4 = r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PORT = r"(?::(?:[1-9]\d{3}|[1-5]\d{4}))?"
_PLAIN_URL = re.compile(rf"https?://(?:{_HOST_NAME}|{_IPV4}){_PORT}/{_SEGMENTS}{_QUERY}").fullmatch
_PLAIN_PATH = re.compile(rf"/{_SEGMENTS}{_QUERY}").fullmatch
_PLAIN_NAME = re.compile(rf"(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*/)*[A-Za-z0-9_~-][A-Za-z0-9_~.-]*{_QUERY}").fullmatch

_SESSION_NAME = r"(?:jsessionid|phpsessid|aspsessionid\w*|sessionid|session_id|sessid|oscsid|zenid|cfid|cftoken)"
_TRACKING_NAME = r"(?:utm_\w+|gclid|dclid|fbclid|msclkid|yclid|igshid|mc_cid|mc_eid)"
# `sid` is also the id of stories and sections on many sites: only a value that looks random is a session.
_SESSION_SID = r"sid=(?:(?=[\w-]*[0-9])(?=[\w-]*[a-z])[\w-]{6,}|[\w-]{16,})"
_VOLATILE_PIECE = re.compile(rf"(?:{_SESSION_NAME}|{_TRACKING_NAME})(?:=.*)?|{_SESSION_SID}", re.IGNORECASE).fullmatch
_MAYBE_VOLATILE = re.compile(rf"[?&](?:{_SESSION_NAME}|{_TRACKING_NAME}|sid=)", re.IGNORECASE).search
_SESSION_IN_PATH = re.compile(
    rf";(?:{_SESSION_NAME}=[^/;]*|{_SESSION_SID}(?=[/;]|$))|/\((?:[a-z]\([\w-]{{16,}}\))+\)(?=/)", re.IGNORECASE
)

_ESCAPE_OR_PERCENT = re.compile(r"%(?:([0-9A-Fa-f]{2})|)")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NEEDLESS_ESCAPE = re.compile(r"%(?![0-9A-F]{2})|%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)").search
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def canonicalize(url: str, base: str | None = None) -> str | None:
    """Return the canonical form of a URL.

    Args:
        url: Any text, such as the value of an ``href``; relative to `base` when that is given.
        base: The URL of the page (or its ``<base href>``).

    Returns:
        An absolute http or https URL without fragment, userinfo, default port, session ids and tracking
        parameters; None when the text is not a crawlable URL. Canonical URLs are unchanged.
    """
    url, mark, _ = url.partition("#")
    if mark and url[-1:] == " " and (kept := url.rstrip(" ")):  # only blanks at the end of the whole text are cut off
        url = kept + "%20" * (len(url) - len(kept))
    if len(url) > _MAX_INPUT_CHARACTERS:
        return None
    if _PLAIN_URL(url):
        return _within_bounds(url)
    if base is None:
        return _settle(url, None)
    return _canonicalize_on(url, base)


def encode_query(url: str, charset: str) -> str:
    """Encode the query of an address in the charset of its page, as the standard says; all else stays UTF-8.

    A character that the charset lacks becomes the escaped form of its decimal reference.
    """
    address, _, _ = url.strip().partition("#")
    path, mark, query = address.partition("?")
    if query.isascii() or charset.startswith("utf"):
        return url
    written = _TAB_OR_NEWLINE.sub("", query).encode(charset, _AS_REFERENCE)
    return f"{path}{mark}{_NOT_IN_QUERY.sub(lambda match: b'%%%02X' % match[0][0], written).decode('ascii')}"


def _as_reference(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(f"%26%23{ord(character)}%3B" for character in error.object[error.start : error.end]), error.end


_TAB_OR_NEWLINE = re.compile(r"[\t\n\r]")
_NOT_IN_QUERY = re.compile(rb"""[\x00-\x20"#'<>\x7f-\xff]""")
_AS_REFERENCE = "thresher.reference"
codecs.register_error(_AS_REFERENCE, _as_reference)


@lru_cache(maxsize=1 << 14)
def fingerprint(url: str) -> int:
    """Return the signed 64-bit hash of a canonical URL; cached, since several parts need those of a page's links."""
    digest = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return digest - (1 << 64) if digest >> 63 else digest


def _within_bounds(plain_url: str) -> str | None:
    if "?" in plain_url and _MAYBE_VOLATILE(plain_url):
        return _settle(plain_url, None)
    return plain_url if len(plain_url) <= MAX_URL_CHARACTERS else None


def _canonicalize_on(url: str, base: str) -> str | None:
    """Join plain relative URLs by string operations, and all others by the parser."""
    ups = 0
    name = url
    while name.startswith("../"):
        name, ups = name[3:], ups + 1
    root, folder = _places(base, ups)
    if folder and _PLAIN_NAME(name):
        url = folder + name
    elif root and _PLAIN_PATH(url):
        url = root + url
    else:
        return _settle(url, _canonical_base(base))
    return _within_bounds(url)


@lru_cache(maxsize=1024)
def _canonical_base(base: str) -> str | None:
    return canonicalize(base)


@lru_cache(maxsize=4096)
def _places(base: str, ups: int) -> tuple[str, str]:
    """Return the prefixes of an absolute path and of a file name `ups` folders up; both empty for an invalid base."""
    address = _canonical_base(base)
    if address is None:
        return "", ""
    path, _, _ = address.partition("?")
    root = path[: path.index("/", len("https://"))]
    folders = path[len(root) : path.rindex("/")].split("/")
    return root, "/".join([root, *folders[1 : max(1, len(folders) - ups)], ""])


def _settle(url: str, base: str | None) -> str | None:
    """Parse and clean repeatedly until nothing changes, so that canonical URLs are fixed points."""
    spelling = _parse(url, base)
    for _ in range(_MAX_ROUNDS):
        if spelling is None or not spelling.startswith(("http://", "https://")):
            return None
        cleaned = _clean(spelling)
        if cleaned == spelling:
            return cleaned if len(cleaned) <= MAX_URL_CHARACTERS else None
        spelling = _parse(cleaned, None)
    return None


def _parse(url: str, base: str | None) -> str | None:
    try:
        return join_url(base, url) if base else normalize_url(url)
    except ValueError:
        encodable = _LONE_SURROGATE.sub("\ufffd", url)  # as the standard does
        return _parse(encodable, base) if encodable != url else None


def _clean(url: str) -> str:
    """Remove from a parsed URL what does not identify the page; return nothing when the host is all dots."""
    start = url.index("/") + 2
    end = url.index("/", start)
    authority = url[start:end]
    if "@" in authority:
        authority = authority.rpartition("@")[2]
    host, colon, port = authority.partition(":") if authority[0] != "[" else (authority, "", "")
    host = host.rstrip(".")
    if not host:
        return ""
    path, _, query = _normalize_escapes(url[end:]).partition("?")
    if ";" in path or "(" in path:
        path = _SESSION_IN_PATH.sub("", path)
    if query and _MAYBE_VOLATILE("?" + query):
        query = "&".join(piece for piece in query.split("&") if not _VOLATILE_PIECE(piece))
    return f"{url[:start]}{host}{colon}{port}{path}{'?' if query else ''}{query}"


def _normalize_escapes(text: str) -> str:
    """Write escapes in upper case, unreserved characters unescaped, and a lone percent sign as an escape."""
    return _ESCAPE_OR_PERCENT.sub(_normal_escape, text) if "%" in text and _NEEDLESS_ESCAPE(text) else text


def _normal_escape(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return "%25"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"
