"""Words of a URL, after FCMRPS: blocks between slashes, tokens between dots, without those that name no topic."""

from __future__ import annotations

import re
from urllib.parse import unquote

_EVERYWHERE = """
    www www2 web com net org edu gov info biz co ac cn uk us tw hk
    html htm shtml xhtml php asp aspx jsp jspx do cgi cfm index default
"""
STOP_TOKENS = frozenset(re.findall(r"\w+", _EVERYWHERE))
"""Tokens that stand in URLs of every topic, besides the purely numeric ones."""

_BLOCK_ENDS = re.compile(r"[/?&=]").split
_TOKEN_ENDS = re.compile(r"[.:]").split
_ESCAPES_AND_JOINTS = re.compile(r"%[0-9a-f]{2}|[_+-]")


def url_blocks(url: str) -> list[list[str]]:
    """Cut a URL into blocks of tokens in lower case; stop tokens, and blocks left empty by them, are gone."""
    blocks = _BLOCK_ENDS(url.partition("://")[2].lower())
    kept = ([token for token in _TOKEN_ENDS(block) if _is_telling(token)] for block in blocks)
    return [tokens for tokens in kept if tokens]


def url_tokens(url: str) -> list[str]:
    """Give all tokens of a URL in order, each as it reads and, where that differs, without joints and escapes.

    ``tai_gang_ao`` also counts as ``taigangao``, and ``%E7%AF%AE%E7%90%83`` reads 篮球.
    """
    return [spelling for block in url_blocks(url) for token in block for spelling in _spellings(token)]


def _is_telling(token: str) -> bool:
    return bool(token) and token not in STOP_TOKENS and not token.isdecimal()


def _spellings(token: str) -> list[str]:
    if token.isalnum():
        return [token]
    read = unquote(token)
    joined = _ESCAPES_AND_JOINTS.sub("", token)
    return [read, joined] if joined and joined != read else [read]
