"""AI opt-outs: the uses of a page that its site reserves.

`HEADER_STATEMENTS` and `ROBOTS_STATEMENTS` are the statements in the headers of a response and in the lines of
robots.txt, each with the function that parses its value:

- ``Content-Signal`` (draft-romm-aipref-contentsignals-00, October 2025): ``search``, ``ai-input`` and ``ai-train`` with
  yes or no.
- ``Content-Usage`` (drafts of the IETF group AIPREF, August 2026): ``search`` and ``train-ai`` with y or n.
- ``tdm-reservation: 1`` (TDM Reservation Protocol, W3C Community Group report of 2 February 2024); also a meta element.
- A licence of Really Simple Licensing (RSL 1.0, November 2025): ``License`` in robots.txt, a link of the type
  ``application/rsl+xml`` in a header or in markup. Its terms are in a file of its own, which is not read, so it is
  recorded and denies nothing.

Directives for robots, in X-Robots-Tag headers and meta elements, can have ``noai`` and ``noimageai``. A yes, or
nothing, reserves nothing; one no is enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import FetchedPage

SEARCH, AI_INPUT, AI_TRAIN = "search", "ai-input", "ai-train"
NOAI, NOIMAGEAI, TDM, RSL = "noai", "noimageai", "tdm", "rsl"

AI_OPT_OUTS = frozenset({AI_INPUT, AI_TRAIN, NOAI, TDM})
"""The opt-outs from AI uses of a page's text; `search`, `noimageai` and `rsl` are recorded and have no effect."""
TDM_RESERVATION = "tdm-reservation"
RSL_TYPE = "application/rsl+xml"
MAX_CHARACTERS = 4_096
_SIGNALS = frozenset({SEARCH, AI_INPUT, AI_TRAIN})
_SIGNAL = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*+no\b")
_USAGE_LABELS = {"search": SEARCH, "train-ai": AI_TRAIN}
_IS_LICENSE = re.compile(r";\s*+rel\s*+=[\s\"]*+(?:[^;\"]*\s)?license\b").search


def signal_opt_outs(text: str) -> frozenset[str]:
    """Return the uses that a Content-Signal denies, such as ``search=yes, ai-train=no``; unknown uses are ignored."""
    return _SIGNALS.intersection(_SIGNAL.findall(text[:MAX_CHARACTERS].lower()))


def usage_opt_outs(text: str) -> frozenset[str]:
    """Return the uses that a Content-Usage denies, such as ``search=y, train-ai=n``; the last of a name counts."""
    members = (member.partition("=") for member in text[:MAX_CHARACTERS].lower().replace("\n", ",").split(","))
    stated = {name.strip(): value.partition(";")[0].strip() for name, _, value in members}
    return frozenset(use for label, use in _USAGE_LABELS.items() if stated.get(label) == "n")


def reserves(value: str) -> frozenset[str]:
    """Return the opt-out of a ``tdm-reservation``; only 1 reserves."""
    return frozenset({TDM}) if value.strip() == "1" else frozenset()


def license_opt_outs(address: str) -> frozenset[str]:
    """Return the opt-out of a ``License`` line."""
    return frozenset({RSL}) if address.lower().startswith(("http://", "https://")) else frozenset()


def link_opt_outs(text: str) -> frozenset[str]:
    """Return the opt-out of a Link header."""
    links = text[:MAX_CHARACTERS].lower().split("<")
    return frozenset({RSL}) if any(RSL_TYPE in link and _IS_LICENSE(link) for link in links) else frozenset()


HEADER_STATEMENTS: Mapping[str, Callable[[str], frozenset[str]]] = {
    "content-signal": signal_opt_outs,
    "content-usage": usage_opt_outs,
    TDM_RESERVATION: reserves,
    "link": link_opt_outs,
}
ROBOTS_STATEMENTS: Mapping[str, Callable[[str], frozenset[str]]] = {
    "content-signal": signal_opt_outs,
    "content-usage": usage_opt_outs,
    "license": license_opt_outs,
}


def word_opt_outs(words: Collection[str]) -> frozenset[str]:
    """Return the opt-outs among the words of robots directives."""
    return frozenset({NOAI, NOIMAGEAI}.intersection(words))


def response_opt_outs(fetched: FetchedPage) -> frozenset[str]:
    """Return the opt-outs of a response by its headers, without X-Robots-Tag, and the robots.txt of its host."""
    headers = fetched.headers
    found = (parse(headers[name]) for name, parse in HEADER_STATEMENTS.items() if name in headers)
    return fetched.robots_opt_outs.union(*found)


def opted_out_reason(opt_outs: Collection[str]) -> Reason:
    """Return the reason why a page is left out where opt-outs are obeyed; none when it is not."""
    denied = sorted(AI_OPT_OUTS.intersection(opt_outs))
    return Reason.of(ReasonKind.OPTED_OUT, ", ".join(denied)) if denied else NO_REASON
