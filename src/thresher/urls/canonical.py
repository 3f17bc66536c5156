"""The one spelling of a URL, after the WHATWG standard, and its fingerprint.

Two spellings that lead to the same page should become the same string, because everything behind this module
(the frontier, the page store, the politeness budgets) compares URLs by their canonical spelling alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

import xxhash
from ada_url import join_url, normalize_url

MAX_URL_CHARACTERS = 2083
"""Longer URLs are not crawled: browsers and servers disagree about them, and traps love them."""

_MAX_INPUT_CHARACTERS = 4 * MAX_URL_CHARACTERS  # cleaning shortens a spelling, but a data: URL needs no parsing
_MAX_ROUNDS = 8  # cleaning can uncover something new to clean; two rounds do for all but hostile input

# What these accept is canonical already and need not be parsed. They accept less than the standard does: no segment
# that starts with a dot, no escapes, no short ports, no international hosts, nothing that may hold a session id.
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
# `sid` also names stories and sections on many sites: only a value that looks drawn at random is a session.
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
    """Spell a URL in its one canonical way.

    Args:
        url: Any text, such as the value of an ``href``; relative to `base` when that is given.
        base: The address of the page (or its ``<base href>``).

    Returns:
        An absolute http or https URL without fragment, userinfo, default port, session ids and tracking
        parameters; None when the text leads to no page that could be crawled. Canonical URLs stay as they are.
    """
    url, _, _ = url.partition("#")
    if len(url) > _MAX_INPUT_CHARACTERS:
        return None
    if _PLAIN_URL(url):
        return _within_bounds(url)
    if base is None:
        return _settle(url, None)
    return _canonicalize_on(url, base)


@lru_cache(maxsize=1 << 14)
def fingerprint(url: str) -> int:
    """Give the signed 64-bit number that stands for a canonical URL; several parts ask for those of a page's links."""
    digest = xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
    return digest - (1 << 64) if digest >> 63 else digest


def _within_bounds(plain_url: str) -> str | None:
    if "?" in plain_url and _MAYBE_VOLATILE(plain_url):
        return _settle(plain_url, None)
    return plain_url if len(plain_url) <= MAX_URL_CHARACTERS else None


def _canonicalize_on(url: str, base: str) -> str | None:
    """Join by hand what is plain; `base` decides for the rest."""
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
    """Give what precedes an absolute path, and a file name so many folders up; empty strings when it is no base."""
    address = _canonical_base(base)
    if address is None:
        return "", ""
    path, _, _ = address.partition("?")
    root = path[: path.index("/", len("https://"))]
    folders = path[len(root) : path.rindex("/")].split("/")
    return root, "/".join([root, *folders[1 : max(1, len(folders) - ups)], ""])


def _settle(url: str, base: str | None) -> str | None:
    """Parse and clean in turns until nothing changes any more, so that canonical URLs are fixed points."""
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
    """Drop from a parsed URL what does not choose the page; nothing is left of one whose host is all dots."""
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
    """Write escapes in upper case, unreserved characters plainly, and a lone percent sign as an escape."""
    return _ESCAPE_OR_PERCENT.sub(_normal_escape, text) if "%" in text and _NEEDLESS_ESCAPE(text) else text


def _normal_escape(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return "%25"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"
