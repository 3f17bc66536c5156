"""Why a URL brought no page, as one of a few kinds.

The reason in a settlement is for people, and strangers have a hand in its words: a content type, an address. A label of
a metric must come from a closed set, or one hostile site fills the memory of whoever collects it.
"""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """What kind of trouble it was."""

    TIMEOUT = "timeout"
    SLOW = "slow"
    CONNECTION = "connection"
    NO_SUCH_HOST = "no_such_host"
    PROTOCOL = "protocol"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    REDIRECT = "redirect"
    NOT_A_PAGE = "not_a_page"
    SOFT_404 = "soft_404"
    ROBOTS = "robots"
    ADDRESS = "address"
    TRAP = "trap"
    UNPARSABLE = "unparsable"
    OTHER = "other"


_BEGINNINGS = {
    "timeout": FailureKind.TIMEOUT,
    "slower than others": FailureKind.SLOW,
    "connection refused": FailureKind.CONNECTION,
    "no such host": FailureKind.NO_SUCH_HOST,
    "not http": FailureKind.PROTOCOL,
    "does not speak HTTP": FailureKind.PROTOCOL,
    "too many headers": FailureKind.PROTOCOL,
    "cannot be decompressed": FailureKind.PROTOCOL,
    "http 3": FailureKind.REDIRECT,
    "http 4": FailureKind.HTTP_4XX,
    "http 5": FailureKind.HTTP_5XX,
    "redirect": FailureKind.REDIRECT,
    "refreshes to ": FailureKind.REDIRECT,
    "more than 5 redirects": FailureKind.REDIRECT,
    "not a page": FailureKind.NOT_A_PAGE,
    "soft 404": FailureKind.SOFT_404,
    "robots.txt": FailureKind.ROBOTS,
    "refused: ": FailureKind.ADDRESS,
    "a maze: ": FailureKind.TRAP,
    "cannot be parsed": FailureKind.UNPARSABLE,
    "broke the line": FailureKind.UNPARSABLE,
}
_WITHIN = {" pages like ": FailureKind.TRAP}


def kind_of(reason: str) -> FailureKind:
    """Tell of which kind a failure was, by the first words of its reason."""
    for words, kind in _BEGINNINGS.items():
        if reason.startswith(words):
            return kind
    for words, kind in _WITHIN.items():
        if words in reason:
            return kind
    if reason.isalpha() and reason[:1].isupper():  # the bare name of an error: the connection broke in some other way
        return FailureKind.CONNECTION
    return FailureKind.OTHER
