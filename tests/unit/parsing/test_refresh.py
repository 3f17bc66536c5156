"""A refresh without a wait is a redirect; one with a wait is a link."""

import pytest

from thresher.parsing.html import UrlResolver, parse, refresh_target, with_refresh_header

HERE = "http://a.example/here"
RESOLVE = UrlResolver(HERE)


@pytest.mark.parametrize(
    "content",
    [
        "0;url=/new",
        "0; URL=/new",
        " 0 ; url = '/new' ",
        '0;url="/new"x',
        "0,/new",
        "0;/new",
        "0.5; url=/new",
        ";url=/new",
    ],
)
def test_a_refresh_at_once_leads_somewhere(content):
    assert refresh_target(content, RESOLVE, HERE) == ("http://a.example/new", True)


@pytest.mark.parametrize("content", ["5; url=/new", "10;/new", "300.5; URL='/new'", "007;url=/new"])
def test_a_refresh_with_a_wait_leads_there_too(content):
    assert refresh_target(content, RESOLVE, HERE) == ("http://a.example/new", False)


def test_the_target_of_a_delayed_refresh_is_the_last_link_of_the_page():
    page = parse(HERE, b"<meta http-equiv=refresh content='5; url=/new'><a href=/x>x</a>")
    assert page.refresh == ""
    assert [link.url for link in page.links] == ["http://a.example/x", "http://a.example/new"]


def test_a_delayed_refresh_to_a_page_that_is_linked_anyway_adds_nothing():
    page = parse(HERE, b"<meta http-equiv=refresh content='5; url=/new'><a href=/new>go there</a>")
    assert [link.anchor for link in page.links] == ["go there"]


def test_the_header_works_as_the_element_does():
    page = parse(HERE, b"<a href=/x>x</a>")
    assert with_refresh_header(page, "0; url=/new").refresh == "http://a.example/new"
    delayed = with_refresh_header(page, "5; url=/new")
    assert (delayed.refresh, [link.url for link in delayed.links][1:]) == ("", ["http://a.example/new"])
    assert with_refresh_header(page, "5") == page


@pytest.mark.parametrize(
    "content",
    [
        "",
        "0",
        "0;",
        "0; url=/here",
        "0; url=javascript:x",
        "x; url=/new",
        "0 url",
        "0;url=''",
    ],
)
def test_a_reload_and_nonsense_lead_nowhere(content):
    assert refresh_target(content, RESOLVE, HERE) == ("", False)


def test_the_address_starts_from_the_base():
    page = parse(HERE, b'<base href="http://b.example/x/"><meta http-equiv=Refresh content="0;url=y">')
    assert page.refresh == "http://b.example/x/y"


def test_the_first_refresh_counts():
    head = b'<meta http-equiv=refresh content="0;url=/1"><meta http-equiv=refresh content="0;url=/2">'
    assert parse(HERE, head).refresh == "http://a.example/1"


def test_browsers_without_scripts_are_not_meant_when_a_page_has_scripts():
    assert parse(HERE, b"<head><noscript><meta http-equiv=refresh content='0;url=/x'></noscript>").refresh == ""


def test_hostile_content_costs_nothing():
    assert refresh_target("0" * 10_000_000, RESOLVE, HERE) == ("", False)
    assert refresh_target(" " * 10_000_000, RESOLVE, HERE) == ("", False)
