"""Which lines of a robots.txt speak to us, after RFC 9309; Protego then reads what they say.

A group is one or more user-agent lines and the rules after them. Only a rule, allow or disallow, ends the
user-agent lines of a group; what the standard does not know (a delay, a sitemap, a misprint) never does. All groups
that name our product token are ours together; only when there is none, those for `*` are.
"""

from __future__ import annotations

import re
from urllib.parse import quote

MAX_LINE_CHARACTERS = 16_384
"""The rest of a longer line is ignored; no URL that is crawled is as long."""

_LINE_END = re.compile(r"\r\n|\r|\n")
# A colon, or a blank where it was forgotten. The misprints are those that Protego understands.
_AGENT = re.compile(r"\s*user[- ]?agent\s*(?::|\s)\s*(.*)", re.IGNORECASE).match
_RULE = re.compile(r"\s*(?:allow|diss?all?ow|diasllow|disallaw)\s*(?::|\s|$)", re.IGNORECASE).match
_PACE = re.compile(r"\s*(?:crawl|request)[- ](?:delay|rate)\s*(?::|\s)", re.IGNORECASE).match
_TOKEN = re.compile(r"[A-Za-z_-]*").match
_HIDDEN_LINE_END = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # Python's idea of a line, not the standard's


def rules_for(text: str, token: str) -> str:
    """Return the rules that hold for a product token, as one group for everybody; empty when there are none."""
    named: list[str] = []
    general: list[str] = []
    is_named = for_us = for_all = after_rule = False
    for whole in _LINE_END.split(text):
        line = whole[:MAX_LINE_CHARACTERS].partition("#")[0]
        if agent := _AGENT(line):
            if after_rule:
                for_us = for_all = after_rule = False
            for_us = for_us or _names(agent[1], token)
            for_all = for_all or agent[1].split(maxsplit=1)[:1] == ["*"]
            is_named = is_named or for_us
        elif (rule := _RULE(line)) or _PACE(line):
            after_rule = after_rule or bool(rule)
            if for_us:
                named.append(line)
            if for_all:
                general.append(line)
    lines = named if is_named else general
    return "\n".join(["User-agent: *", *map(_one_line, lines)]) if lines else ""


def _names(agent: str, token: str) -> bool:
    """Tell whether a user-agent line means our token: ``Thresher/2.0`` does, ``Thresherbot`` does not."""
    found = _TOKEN(agent)
    return found is not None and found[0].lower() == token.lower()


def _one_line(line: str) -> str:
    return _HIDDEN_LINE_END.sub(lambda end: quote(end[0]), line)
