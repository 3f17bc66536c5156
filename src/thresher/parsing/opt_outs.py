"""AI opt-outs: the uses of a page that its site reserves.

They come from four places. ``Content-Signal`` lines of robots.txt and headers of that name
(draft-romm-aipref-contentsignals-00, October 2025): ``search``, ``ai-input`` and ``ai-train`` with yes or no. ``noai``
and ``noimageai`` in X-Robots-Tag headers and robots meta elements. ``tdm-reservation: 1`` as a header or meta element
(TDM Reservation Protocol, W3C Community Group report of 2 February 2024). A yes, or nothing, reserves nothing; one no
is enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from thresher.records import OPTED_OUT, FetchedPage

SEARCH, AI_INPUT, AI_TRAIN = "search", "ai-input", "ai-train"
NOAI, NOIMAGEAI, TDM = "noai", "noimageai", "tdm"

AI_OPT_OUTS = frozenset({AI_INPUT, AI_TRAIN, NOAI, TDM})
"""The opt-outs from AI uses of a page's text; `search` and `noimageai` are recorded and have no effect."""
TDM_RESERVATION = "tdm-reservation"
_SIGNALS = frozenset({SEARCH, AI_INPUT, AI_TRAIN})
_SIGNAL = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*+no\b")
MAX_CHARACTERS = 4_096


def signal_opt_outs(text: str) -> frozenset[str]:
    """Return the uses that a Content-Signal denies, such as ``search=yes, ai-train=no``; unknown uses are ignored."""
    return _SIGNALS.intersection(_SIGNAL.findall(text[:MAX_CHARACTERS].lower()))


def word_opt_outs(words: Collection[str]) -> frozenset[str]:
    """Return the opt-outs among the words of robots directives."""
    return frozenset({NOAI, NOIMAGEAI}.intersection(words))


def reserves(value: str) -> frozenset[str]:
    """Return the opt-out of a ``tdm-reservation``; only 1 reserves."""
    return frozenset({TDM}) if value.strip() == "1" else frozenset()


def header_opt_outs(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the opt-outs of a response's headers, without X-Robots-Tag."""
    signals, reservation = headers.get("content-signal", ""), headers.get(TDM_RESERVATION, "")
    if not signals and not reservation:
        return frozenset()
    return signal_opt_outs(signals) | reserves(reservation)


def response_opt_outs(fetched: FetchedPage) -> frozenset[str]:
    """Return the opt-outs of a response by its headers and the robots.txt of its host."""
    found = header_opt_outs(fetched.headers)
    return found | signal_opt_outs(fetched.content_signals) if fetched.content_signals else found


def opted_out_reason(opt_outs: Collection[str]) -> str:
    """Return the reason why a page is left out where opt-outs are obeyed; empty when it is not."""
    denied = sorted(AI_OPT_OUTS.intersection(opt_outs))
    return f"{OPTED_OUT}{', '.join(denied)}" if denied else ""
