"""AI opt-outs: the uses of a page that its site reserves, and the usage signals that say so.

A signal is a statement with the place where it was read. `STATEMENTS` has the function that parses each statement:

- ``Content-Signal`` (draft-romm-aipref-contentsignals-00, October 2025): ``search``, ``ai-input`` and ``ai-train`` with
  yes or no; a header, and a line of robots.txt.
- ``Content-Usage`` (drafts of the IETF group AIPREF, August 2026): ``search`` and ``train-ai`` with y or n; likewise.
- ``tdm-reservation: 1`` (TDM Reservation Protocol, W3C Community Group report of 2 February 2024); a header, a meta
  element, and a rule of `politeness.tdmrep`. ``tdm-policy`` names the terms of a reservation.
- A licence of Really Simple Licensing (RSL 1.0, November 2025): ``License`` in robots.txt, a link of the type
  ``application/rsl+xml`` in a header or in markup, a script of that type, and the scheme ``License`` of
  ``WWW-Authenticate``. Its terms are in a document that is not read, so it is recorded and denies nothing.
- ``noai`` and ``noimageai`` among the directives for robots, in X-Robots-Tag headers and meta elements.

A yes, or nothing, reserves nothing; one no is enough, whatever other signals say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import FetchedPage, UsageSignal

SEARCH, AI_INPUT, AI_TRAIN = "search", "ai-input", "ai-train"
NOAI, NOIMAGEAI, TDM, RSL = "noai", "noimageai", "tdm", "rsl"

AI_OPT_OUTS = frozenset({AI_INPUT, AI_TRAIN, NOAI, TDM})
"""The opt-outs from AI uses of a page's text; `search`, `noimageai` and `rsl` are recorded and have no effect."""
ROBOTS_TXT, TDMREP, HEADER, MARKUP = "robots.txt", "tdmrep.json", "header", "markup"
CONTENT_SIGNAL, CONTENT_USAGE, LICENSE = "content-signal", "content-usage", "license"
TDM_RESERVATION, TDM_POLICY = "tdm-reservation", "tdm-policy"
LINK, SCRIPT, AUTHENTICATE = "link", "script", "www-authenticate"
ROBOTS_META, ROBOTS_TAG = "robots", "x-robots-tag"
RSL_TYPE = "application/rsl+xml"
MAX_CHARACTERS = 4_096
MAX_SIGNALS = 20
"""Signals that are kept of one page; what further ones deny still counts."""
WORDS = frozenset({NOAI, NOIMAGEAI})
"""Opt-outs among the directives for robots."""
_SIGNALS = frozenset({SEARCH, AI_INPUT, AI_TRAIN})
_SIGNAL = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*+no\b")
_USAGE_LABELS = {"search": SEARCH, "train-ai": AI_TRAIN}
_IS_LICENSE = re.compile(r";\s*+rel\s*+=[\s\"]*+(?:[^;\"]*\s)?license\b", re.IGNORECASE).search
_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE).match
_IS_LICENSE_SCHEME = re.compile(r"(?:^|,)\s*license(?:\s|,|$)", re.IGNORECASE).search


def signal_opt_outs(text: str) -> frozenset[str]:
    """Return the uses that a Content-Signal denies, such as ``search=yes, ai-train=no``; unknown uses are ignored."""
    return _SIGNALS.intersection(_SIGNAL.findall(text.lower()))


def usage_opt_outs(text: str) -> frozenset[str]:
    """Return the uses that a Content-Usage denies, such as ``search=y, train-ai=n``; the last of a name counts."""
    members = (member.partition("=") for member in text.lower().replace("\n", ",").split(","))
    stated = {name.strip(): value.partition(";")[0].strip() for name, _, value in members}
    return frozenset(use for label, use in _USAGE_LABELS.items() if stated.get(label) == "n")


def reserves(value: str) -> frozenset[str]:
    """Return the opt-out of a ``tdm-reservation``; only 1 reserves."""
    return frozenset({TDM}) if "1" in value.replace(",", " ").split() else frozenset()


def word_opt_outs(value: str) -> frozenset[str]:
    """Return the opt-outs among the words of robots directives."""
    return WORDS.intersection(value.replace(",", " ").split())


def _rsl(_: str) -> frozenset[str]:
    return frozenset({RSL})


STATEMENTS: Mapping[str, Callable[[str], frozenset[str]]] = {
    CONTENT_SIGNAL: signal_opt_outs,
    CONTENT_USAGE: usage_opt_outs,
    TDM_RESERVATION: reserves,
    TDM_POLICY: lambda _: frozenset(),
    ROBOTS_META: word_opt_outs,
    ROBOTS_TAG: word_opt_outs,
    **dict.fromkeys((LICENSE, LINK, SCRIPT, AUTHENTICATE), _rsl),
}
"""The uses that a statement denies, by its name."""
ROBOTS_STATEMENTS = (CONTENT_SIGNAL, CONTENT_USAGE, LICENSE)
_HEADERS = (CONTENT_SIGNAL, CONTENT_USAGE, TDM_RESERVATION, TDM_POLICY)


def usage_signal(source: str, statement: str, value: str) -> UsageSignal:
    """Return a signal; its value is cut, and on one line."""
    return UsageSignal(source, statement, " ".join(value[:MAX_CHARACTERS].split()))


def denied_uses(signals: Iterable[UsageSignal]) -> frozenset[str]:
    """Return the uses that signals deny."""
    return frozenset().union(*(STATEMENTS[each.statement](each.value) for each in signals))


def is_licence(address: str) -> bool:
    """Return whether the value of a ``License`` line is that of a licence of RSL, which must be a whole address."""
    return _WEB_ADDRESS(address) is not None


def response_signals(fetched: FetchedPage) -> tuple[UsageSignal, ...]:
    """Return the signals of a response: of its host's files, and of its headers without X-Robots-Tag."""
    return *fetched.host_signals, *_header_signals(fetched.headers)


def _header_signals(headers: Mapping[str, str]) -> Iterator[UsageSignal]:
    """Yield the signals of headers; the lines of one name are one list."""
    for name in _HEADERS:
        if name in headers:
            yield usage_signal(HEADER, name, headers[name].replace("\n", ", "))
    for link in headers.get(LINK, "")[:MAX_CHARACTERS].split("<")[1:]:
        if RSL_TYPE in link.lower() and _IS_LICENSE(link):
            yield usage_signal(HEADER, LINK, link.partition(">")[0])
    schemes = headers.get(AUTHENTICATE, "").replace("\n", ",")[:MAX_CHARACTERS]
    if _IS_LICENSE_SCHEME(schemes):
        yield usage_signal(HEADER, AUTHENTICATE, schemes)


def opted_out_reason(opt_outs: Collection[str]) -> Reason:
    """Return the reason why a page is left out where opt-outs are obeyed; none when it is not."""
    denied = sorted(AI_OPT_OUTS.intersection(opt_outs))
    return Reason.of(ReasonKind.OPTED_OUT, ", ".join(denied)) if denied else NO_REASON
