"""An HTTP answer is a page, a redirect, a refusal, or a server that wants a rest."""

import pytest

from thresher.parsing.response import ResponseKind, classify_response, retry_after
from thresher.records import FetchedPage


def answer(status, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify_response(
        FetchedPage(url="http://a.example/x", status=status, headers=named, body=b"", fetched_at=1000.0)
    )


@pytest.mark.parametrize(
    "content_type", ["text/html; charset=gbk", "application/xhtml+xml", "TEXT/HTML", "text/plain", ""]
)
def test_html_is_a_page(content_type):
    assert answer(200, content_type=content_type).kind is ResponseKind.PAGE


def test_other_content_is_refused_by_name():
    assert answer(200, content_type="image/png").reason == "not a page: image/png"


def test_a_missing_page_is_refused():
    assert answer(404).reason == "http 404"


def test_a_redirect_says_where_to_canonically():
    redirect = answer(302, location="../Y?utm_source=z#top")
    assert (redirect.kind, redirect.target) == (ResponseKind.REDIRECT, "http://a.example/Y")


@pytest.mark.parametrize("location", ["", "javascript:alert(1)", "file:///etc/passwd", "http://"])
def test_a_redirect_to_nowhere_is_refused(location):
    assert answer(301, location=location).kind is ResponseKind.REFUSAL


def test_a_redirect_to_itself_is_refused():
    assert answer(301, location="/x#again").reason == "redirects to itself"


def test_a_busy_server_says_how_long_it_wants_to_rest():
    busy = answer(503, retry_after="120")
    assert (busy.kind, busy.wait_seconds) == (ResponseKind.BUSY, 120.0)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("Thu, 01 Jan 1970 00:17:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after(value, now=1000.0) == seconds
