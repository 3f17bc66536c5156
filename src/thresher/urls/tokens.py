"""Words of a URL, after FCMRPS: blocks between slashes, tokens between dots, without those that name no topic."""

from __future__ import annotations

import re
from urllib.parse import unquote

_EVERYWHERE = """
    www www2 web com org
    html htm shtml xhtml php asp aspx jsp jspx do cgi cfm index default
"""
STOP_TOKENS = frozenset(re.findall(r"\w+", _EVERYWHERE))
"""Tokens that stand in URLs of every topic, besides the purely numeric ones."""

HOST_ENDINGS = frozenset(
    ["com", "net", "org", "edu", "gov", "mil", "info", "biz", "name", "ac", "co", "ne", "or", "go"]
)
"""Tokens that say nothing at the end of a host name; elsewhere, as in ``edu.example.com.cn``, they name a topic."""

_BLOCK_ENDS = re.compile(r"[/?&=]").split
_TOKEN_ENDS = re.compile(r"[.:]").split
_ESCAPES_AND_JOINTS = re.compile(r"%[0-9a-f]{2}|[_+-]")


def url_blocks(url: str) -> list[list[str]]:
    """Cut a URL into blocks of tokens in lower case; stop tokens, and blocks left empty by them, are gone."""
    host, path = split_host(url)
    blocks = [host_block(host), *path_blocks(path)]
    return [block for block in blocks if block]


def url_tokens(url: str) -> list[str]:
    """Give all tokens of a URL in order, each as it reads and, where that differs, without joints and escapes.

    ``tai_gang_ao`` also counts as ``taigangao``, and ``%E7%AF%AE%E7%90%83`` reads 篮球.
    """
    return spellings(url_blocks(url))


def split_host(url: str) -> tuple[str, str]:
    """Part a URL into its host and what follows, in lower case and without the scheme."""
    host, *path = _BLOCK_ENDS(url.partition("://")[2].lower(), 1)
    return host, path[0] if path else ""


def host_block(host: str) -> list[str]:
    """Give the tokens of a host; its ending is no token."""
    return [token for token in _without_ending(_named(host)) if token not in STOP_TOKENS]


def path_blocks(path: str) -> list[list[str]]:
    """Give the tokens of each block of what follows the host; blocks may be empty."""
    return [[token for token in _named(block) if token not in STOP_TOKENS] for block in _BLOCK_ENDS(path)]


def spellings(blocks: list[list[str]]) -> list[str]:
    """Give the tokens of all blocks in the ways in which they can be read."""
    return [spelling for block in blocks for token in block for spelling in _spellings(token)]


def _named(block: str) -> list[str]:
    return [token for token in _TOKEN_ENDS(block) if token and not token.isdecimal()]


def _without_ending(tokens: list[str]) -> list[str]:
    """Take off ``com``, ``cn`` or ``com.cn``; endings of other kinds, such as ``travel``, are words like others."""
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
