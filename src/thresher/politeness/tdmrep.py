"""tdmrep.json: the reservations of a host in one file, by the TDM Reservation Protocol.

W3C Community Group report of 2 February 2024: an array of rules, each with a ``location``, a pattern of paths as in
robots.txt, a ``tdm-reservation`` and perhaps a ``tdm-policy``. The first rule that is about a URL counts. A response
header or a meta element replaces the file there; here one reservation is enough, since a URL that the file reserves may
not be requested at all. The file is cached as a robots.txt is, redirects of it are not followed, and whatever is not
valid in it reserves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from thresher.parsing.opt_outs import TDM_POLICY, TDM_RESERVATION, TDMREP, usage_signal
from thresher.politeness.robots import MAX_STATEMENTS, Statement
from thresher.records import UsageSignal

TDMREP_PATH = "/.well-known/tdmrep.json"
MAX_CHARACTERS = 1 << 16
"""A longer file is ignored."""

_LOCATION = re.compile(r"[/*]\S*").fullmatch


@lru_cache(maxsize=256)
def reservations_in(text: str) -> Sequence[Sequence[Statement]]:
    """Return the rules of a file: of each the reservation, and the policy if it names one."""
    try:
        rules = json.loads(text) if len(text) <= MAX_CHARACTERS else []
    except (ValueError, RecursionError):
        return ()
    known = filter(None, map(_statements, rules if isinstance(rules, list) else []))
    return tuple(islice(known, MAX_STATEMENTS))


def _statements(rule: object) -> list[Statement]:
    if not isinstance(rule, dict) or TDM_RESERVATION not in rule:
        return []
    location = _text(rule.get("location")).replace("#", "%23")  # in robots.txt a comment begins there
    named = [(name, _text(rule[name])) for name in (TDM_RESERVATION, TDM_POLICY) if name in rule]
    return [Statement(location, usage_signal(TDMREP, *each)) for each in named] if _LOCATION(location) else []


def _text(value: object) -> str:
    """Return a value as text that can be encoded: JSON can hold half of a pair of surrogates."""
    return str(value).encode("utf-8", "replace").decode()


def reservation_signals(text: str, url: str) -> list[UsageSignal]:
    """Return the usage signals of a file for a URL."""
    rule = next((rule for rule in reservations_in(text) if rule[0].is_about(url)), ())
    return [statement.signal for statement in rule]
