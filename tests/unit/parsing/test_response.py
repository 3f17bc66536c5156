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
    assert str(answer(200, content_type="image/png").reason) == "not a page: image/png"


def classified(content_type, body=b"", documents=("pdf", "docx")):
    headers = {"content-type": content_type} if content_type else {}
    page = FetchedPage(url="http://a.example/x", status=200, headers=headers, body=body, fetched_at=1.0)
    return classify_response(page, documents)


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("content_type", "body", "document"),
    [
        ("application/pdf", b"", "pdf"),
        ("Application/PDF; version=1", b"", "pdf"),
        ("application/octet-stream", b"\r\n%PDF-1.4", "pdf"),
        ("", b"%PDF-1.4", "pdf"),
        (DOCX, b"", "docx"),
        ("application/octet-stream", b"PK\x03\x04...word/document.xml", "docx"),
    ],
)
def test_documents_are_known_by_type_or_first_bytes(content_type, body, document):
    found = classified(content_type, body)
    assert (found.kind, found.document) == (ResponseKind.DOCUMENT, document)


def test_documents_that_are_not_wanted_are_refused_by_name():
    assert str(classified("application/pdf", documents=()).reason) == "not a page: application/pdf"
    assert classified(DOCX, documents=("pdf",)).kind is ResponseKind.REFUSAL
    assert str(classified("application/octet-stream", b"\x7fELF").reason) == "not a page: application/octet-stream"
    assert classified("text/html", b"%PDF-1.4").kind is ResponseKind.PAGE


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/rss+xml", b""),
        ("application/atom+xml; charset=utf-8", b""),
        ("text/xml", b'<?xml version="1.0"?><rss version="2.0">'),
        ("application/xml", b"<feed xmlns='http://www.w3.org/2005/Atom'>"),
        ("application/json", b'{"version": "https://jsonfeed.org/version/1.1"}'),
    ],
)
def test_feeds_are_known_by_type_or_first_bytes(content_type, body):
    found = classified(content_type, body)
    assert found.kind is ResponseKind.FEED
    assert str(found.reason).startswith("not a page: ")


def test_other_xml_and_json_are_refused():
    assert classified("application/xml", b"<urlset>").kind is ResponseKind.REFUSAL
    assert classified("application/json", b"{}").kind is ResponseKind.REFUSAL


@pytest.mark.parametrize("content_type", ["text/markdown", "text/x-markdown; charset=utf-8"])
def test_markdown_is_a_page(content_type):
    assert classified(content_type).kind is ResponseKind.PAGE


HTML = b"\xef\xbb\xbf\n<!DOCTYPE html><title>a</title>"


@pytest.mark.parametrize(
    "content_type",
    ["html", "unknown/unknown", "application/unknown", "*/*", "text/html, text/html; charset=utf-8", '"text/html"'],
)
def test_a_type_that_says_nothing_is_a_page_when_the_body_begins_like_one(content_type):
    assert classified(content_type, HTML).kind is ResponseKind.PAGE


@pytest.mark.parametrize("body", [b"", b"\x89PNG\r\n", b"plain words", b" " * 2000 + HTML])
def test_a_type_that_says_nothing_is_no_page_without_the_beginning_of_one(body):
    assert str(classified("html", body).reason) == "not a page: html"


def test_html_of_another_type_stays_refused():
    assert classified("image/png", HTML).kind is ResponseKind.REFUSAL


def test_a_missing_page_is_refused():
    assert str(answer(404).reason) == "http 404"


def test_a_redirect_says_where_to_canonically():
    redirect = answer(302, location="../Y?utm_source=z#top")
    assert (redirect.kind, redirect.target) == (ResponseKind.REDIRECT, "http://a.example/Y")


@pytest.mark.parametrize("location", ["", "javascript:alert(1)", "file:///etc/passwd", "http://"])
def test_a_redirect_to_nowhere_is_refused(location):
    assert answer(301, location=location).kind is ResponseKind.REFUSAL


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/caf\xc3\xa9", "http://a.example/caf%C3%A9"),
        ("/caf\xe9", "http://a.example/caf%E9"),
        ("/b?q=caf\xc3\xa9", "http://a.example/b?q=caf%C3%A9"),
        ("/\u65e5", "http://a.example/%E6%97%A5"),
        ("http://b\xc3\xbccher.example/", "http://xn--bcher-kva.example/"),
    ],
    ids=["UTF-8", "Latin-1", "query", "decoded before", "host name"],
)
def test_bytes_of_a_location_are_escaped_as_they_came(location, target):
    assert answer(302, location=location).target == target


def test_a_redirect_to_itself_is_refused():
    assert str(answer(301, location="/x#again").reason) == "redirects to itself"


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
