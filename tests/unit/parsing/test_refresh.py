"""A refresh without a wait leads somewhere; every other one leads nowhere."""

import pytest

from thresher.parsing.html import parse, refresh_target

HERE = "http://a.example/here"


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
    assert refresh_target(content, HERE, HERE) == "http://a.example/new"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "0",
        "0;",
        "5; url=/new",
        "10;/new",
        "0; url=/here",
        "0; url=javascript:x",
        "x; url=/new",
        "0 url",
        "0;url=''",
    ],
)
def test_a_wait_a_reload_and_nonsense_lead_nowhere(content):
    assert refresh_target(content, HERE, HERE) == ""


def test_the_address_starts_from_the_base():
    page = parse(HERE, b'<base href="http://b.example/x/"><meta http-equiv=Refresh content="0;url=y">')
    assert page.refresh == "http://b.example/x/y"


def test_the_first_refresh_counts():
    head = b'<meta http-equiv=refresh content="0;url=/1"><meta http-equiv=refresh content="0;url=/2">'
    assert parse(HERE, head).refresh == "http://a.example/1"


def test_browsers_without_scripts_are_not_meant_when_a_page_has_scripts():
    assert parse(HERE, b"<head><noscript><meta http-equiv=refresh content='0;url=/x'></noscript>").refresh == ""


def test_hostile_content_costs_nothing():
    assert refresh_target("0" * 10_000_000, HERE, HERE) == ""
    assert refresh_target(" " * 10_000_000, HERE, HERE) == ""
