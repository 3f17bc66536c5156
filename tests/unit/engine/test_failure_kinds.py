"""Every reason that the line and the engine give is of a known kind, and strangers cannot make up new ones."""

import pytest

from thresher.engine import alive, convert
from thresher.engine.failure_kinds import FailureKind, kind_of
from thresher.line import MAX_REDIRECTS, SOFT_404
from thresher.parse.answers import read_answer
from thresher.parse.apart import Unparsable
from thresher.records import FetchedPage
from thresher.traps.watched import MAX_VARIANTS, Part


def answer(status, **headers):
    page = FetchedPage(url="http://a.example/", status=status, headers=headers, body=b"", fetched_at=0.0)
    return read_answer(page).reason


@pytest.mark.parametrize("reason", sorted({reason for reason, _ in convert._REASONS.values()}))
def test_every_way_in_which_a_fetch_fails_has_a_kind(reason):
    assert kind_of(reason) is not FailureKind.OTHER


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("timeout", "timeout"),
        ("slower than others", "slow"),
        ("ResponseNeverReceived", "connection"),
        ("no such host", "no_such_host"),
        ("too many headers", "protocol"),
        (answer(404), "http_4xx"),
        (answer(429), "http_4xx"),
        (answer(503), "http_5xx"),
        (answer(301), "redirect"),
        (answer(301, location="/"), "redirect"),
        (f"more than {MAX_REDIRECTS} redirects", "redirect"),
        (answer(302, location="/b") + ": too deep", "redirect"),
        ("refreshes to http://b.example/: too deep", "redirect"),
        (answer(200, **{"content-type": "image/png"}), "not_a_page"),
        (SOFT_404, "soft_404"),
        ("robots.txt", "robots"),
        ("robots.txt cannot be read: http 503, 2 times in a row", "robots"),
        ("refused: a private address", "address"),
        ("a maze: pages like /x/* lead only to pages never heard of", "trap"),
        (Part(pages=MAX_VARIANTS).has_enough("/p#"), "trap"),
        (alive.REASON, "unparsable"),
        (str(Unparsable("more than 2 s", final=False)), "unparsable"),
        ("broke the line", "unparsable"),
        ("", "other"),
    ],
)
def test_a_reason_is_of_a_kind(reason, kind):
    assert kind_of(reason) == kind


def test_what_a_stranger_writes_never_becomes_a_kind():
    said = answer(200, **{"content-type": 'x"} 1\nthresher_pages_total{crawl="y'})
    assert kind_of(said) is FailureKind.NOT_A_PAGE
    assert kind_of("\x1b[31m" + said) is FailureKind.OTHER
