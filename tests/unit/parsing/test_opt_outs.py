"""Opt-outs from AI uses are read wherever a site may state them, and one denial is enough."""

import pytest

from thresher.parsing.html import parse, with_header, with_headers
from thresher.parsing.opt_outs import (
    MAX_CHARACTERS,
    MAX_SIGNALS,
    denied_uses,
    opted_out_reason,
    response_signals,
    signal_opt_outs,
    usage_opt_outs,
    usage_signal,
)
from thresher.records import FetchedPage, UsageSignal


@pytest.mark.parametrize(
    ("signal", "denied"),
    [
        ("search=yes, ai-train=no", {"ai-train"}),
        ("Search=YES,AI-Train=No,ai-input = no", {"ai-train", "ai-input"}),
        ("search=no", {"search"}),
        ("search=yes, ai-input=yes, ai-train=yes, use=reference", set()),
        ("ai-train=none, other=no", set()),
        ("ai-train=yes, ai-train=no", {"ai-train"}),
        ("", set()),
    ],
)
def test_a_content_signal_denies_what_it_says_no_to(signal, denied):
    assert signal_opt_outs(signal) == denied


@pytest.mark.parametrize(
    ("markup", "opt_outs"),
    [
        ('<meta name="robots" content="noai, noimageai">', ("noai", "noimageai")),
        ('<meta name="Thresher" content="noai">', ("noai",)),
        ('<meta name="otherbot" content="noai">', ()),
        ('<meta name="tdm-reservation" content="1">', ("tdm",)),
        ('<meta name="tdm-reservation" content="0">', ()),
        ('<meta name="robots" content="index, follow">', ()),
        ('<link rel="license" type="application/rsl+xml" href="/terms.xml">', ("rsl",)),
        ('<link rel="license" href="/terms.html">', ()),
    ],
)
def test_meta_elements_are_read(markup, opt_outs):
    assert parse("http://a.example/", f"<title>T</title>{markup}".encode()).opt_outs == opt_outs


def test_x_robots_tag_adds_to_what_the_page_says():
    page = parse("http://a.example/", b'<meta name="tdm-reservation" content="1">')
    assert with_header(page, "noai\notherbot: noimageai").opt_outs == ("noai", "tdm")


def response(headers, **more):
    return FetchedPage(url="http://a.example/", status=200, headers=headers, body=b"", fetched_at=0.0, **more)


def test_headers_and_robots_txt_of_a_response_are_combined():
    headers = {"tdm-reservation": "1", "tdm-policy": "https://a.example/p", "content-signal": "ai-input=no\nsearch=yes"}
    own = UsageSignal("robots.txt", "content-usage", "train-ai=n")
    found = response_signals(response(headers, host_signals=(own,)))
    assert found == (
        own,
        UsageSignal("header", "content-signal", "ai-input=no, search=yes"),
        UsageSignal("header", "tdm-reservation", "1"),
        UsageSignal("header", "tdm-policy", "https://a.example/p"),
    )
    assert denied_uses(found) == {"tdm", "ai-input", "ai-train"}


def denied(headers):
    return denied_uses(response_signals(response(headers)))


def test_each_signal_of_a_page_says_where_it_was_read():
    markup = b"""<meta name="robots" content="noindex, NOAI"><meta name="tdm-reservation" content="0">
    <meta name="tdm-policy" content="/p.json"><link rel=license type="application/rsl+xml" href="/terms.xml">
    <script type="application/rsl+xml"><rsl xmlns="https://rslstandard.org/rsl"></rsl></script>"""
    headers = {"x-robots-tag": "noimageai", "content-usage": "a"}
    page = with_headers(parse("http://a.example/", markup), response(headers))
    assert page.signals == (
        UsageSignal("header", "content-usage", "a"),
        UsageSignal("header", "x-robots-tag", "noimageai"),
        UsageSignal("markup", "robots", "noai"),
        UsageSignal("markup", "tdm-reservation", "0"),
        UsageSignal("markup", "tdm-policy", "/p.json"),
        UsageSignal("markup", "link", "/terms.xml"),
        UsageSignal("markup", "script", "application/rsl+xml"),
    )
    assert page.opt_outs == ("noai", "noimageai", "rsl")


def test_few_signals_of_a_page_are_kept_and_their_values_are_short():
    page = parse("http://a.example/", b'<meta name="tdm-reservation" content="0">' * 500)
    assert len(page.signals) == MAX_SIGNALS
    assert len(usage_signal("header", "content-signal", "x\n" * MAX_CHARACTERS).value) < MAX_CHARACTERS
    several = with_headers(page, response({"content-signal": "ai-train=no"}))
    assert (len(several.signals), several.opt_outs) == (MAX_SIGNALS, ("ai-train",))


@pytest.mark.parametrize(
    ("challenge", "opt_outs"),
    [
        ('License error="invalid_request"', {"rsl"}),
        ('Basic realm="a"\nLicense', {"rsl"}),
        ('Bearer scope="license"', set()),
        ("Licensed", set()),
    ],
)
def test_a_server_that_asks_for_a_licence_is_recorded(challenge, opt_outs):
    assert denied({"www-authenticate": challenge}) == opt_outs


@pytest.mark.parametrize(
    ("usage", "denied"),
    [
        ("train-ai=n", {"ai-train"}),
        ("search=n, Train-AI = n;since=2026", {"ai-train", "search"}),
        ("train-ai=y\ntrain-ai=n", {"ai-train"}),
        ("train-ai=n, train-ai=y", set()),
        ("train-ai, search, other=n", set()),
        ("", set()),
    ],
)
def test_a_content_usage_denies_what_it_says_no_to(usage, denied):
    assert usage_opt_outs(usage) == denied
    assert denied_uses(response_signals(response({"content-usage": usage}))) == denied


@pytest.mark.parametrize(
    ("link", "opt_outs"),
    [
        ('</terms.xml>; rel="license"; type="application/rsl+xml"', {"rsl"}),
        ('</style.css>; rel=preload, </t>; type="application/rsl+xml"; rel="copyright license"', {"rsl"}),
        ('</terms>; rel="license", </f>; rel=alternate; type="application/rsl+xml"', set()),
    ],
)
def test_a_link_header_to_a_licence_is_recorded(link, opt_outs):
    assert denied({"link": link}) == opt_outs


def test_only_opt_outs_from_ai_uses_of_text_leave_a_page_out():
    assert str(opted_out_reason(["tdm", "ai-train", "search"])) == "opted out: ai-train, tdm"
    assert not opted_out_reason(["search", "noimageai", "rsl"])
