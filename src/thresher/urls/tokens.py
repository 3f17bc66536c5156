"""Tokens of a URL, after FCMRPS: blocks between slashes, tokens between dots, without stop tokens."""

from __future__ import annotations

import re
from urllib.parse import unquote

_EVERYWHERE = """
    www www2 web com org
    html htm shtml xhtml php asp aspx jsp jspx do cgi cfm index default
"""
STOP_TOKENS = frozenset(re.findall(r"\w+", _EVERYWHERE))
"""Tokens that occur in URLs of every topic, besides the purely numeric ones."""

HOST_ENDINGS = frozenset(
    ["com", "net", "org", "edu", "gov", "mil", "info", "biz", "name", "ac", "co", "ne", "or", "go"]
)
"""Stop tokens at the end of a host name; elsewhere, as in ``edu.example.com.cn``, they are informative."""

_BLOCK_ENDS = re.compile(r"[/?&=]").split
_TOKEN_ENDS = re.compile(r"[.:]").split
_ESCAPES_AND_JOINTS = re.compile(r"%[0-9a-f]{2}|[_+-]")


def url_blocks(url: str) -> list[list[str]]:
    """Split a URL into blocks of tokens in lower case, without stop tokens and empty blocks."""
    host, path = split_host(url)
    blocks = [host_block(host), *path_blocks(path)]
    return [block for block in blocks if block]


def url_tokens(url: str) -> list[str]:
    """Return all tokens of a URL in order, unescaped and, where that differs, without separators and escapes.

    ``tai_gang_ao`` also counts as ``taigangao``, and ``%E7%AF%AE%E7%90%83`` as 篮球.
    """
    return spellings(url_blocks(url))


def split_host(url: str) -> tuple[str, str]:
    """Split a URL into its host and the rest, in lower case and without the scheme."""
    host, *path = _BLOCK_ENDS(url.partition("://")[2].lower(), 1)
    return host, path[0] if path else ""


def host_block(host: str) -> list[str]:
    """Return the tokens of a host, without its ending."""
    return [token for token in _without_ending(_named(host)) if token not in STOP_TOKENS]


def path_blocks(path: str) -> list[list[str]]:
    """Return the tokens of each block after the host; blocks may be empty."""
    return [[token for token in _named(block) if token not in STOP_TOKENS] for block in _BLOCK_ENDS(path)]


def spellings(blocks: list[list[str]]) -> list[str]:
    """Return the tokens of all blocks in all their spellings."""
    return [spelling for block in blocks for token in block for spelling in _spellings(token)]


def _named(block: str) -> list[str]:
    return [token for token in _TOKEN_ENDS(block) if token and not token.isdecimal()]


def _without_ending(tokens: list[str]) -> list[str]:
    """Remove ``com``, ``cn`` or ``com.cn``; other endings, such as ``travel``, are ordinary tokens."""
    *rest, last = tokens or [""]
    if len(last) == 2 and last.isalpha():
        return rest[:-1] if rest and rest[-1] in HOST_ENDINGS else rest
    return rest if last in HOST_ENDINGS else tokens


def _spellings(token: str) -> list[str]:
    if token.isalnum():
        return [token]
    read = unquote(token).lower()
    joined = _ESCAPES_AND_JOINTS.sub("", token)
    return [read, joined] if joined and joined != read else [read]
