"""Opt-outs from AI uses are read wherever a site may state them, and one denial is enough."""

import pytest

from thresher.parsing.html import parse, with_header
from thresher.parsing.opt_outs import opted_out_reason, response_opt_outs, signal_opt_outs, usage_opt_outs
from thresher.records import FetchedPage


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
    headers = {"tdm-reservation": "1", "content-signal": "ai-input=no"}
    fetched = response(headers, robots_opt_outs=frozenset({"ai-train"}))
    assert response_opt_outs(fetched) == {"tdm", "ai-input", "ai-train"}


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
    assert response_opt_outs(response({"content-usage": usage})) == denied


@pytest.mark.parametrize(
    ("link", "opt_outs"),
    [
        ('</terms.xml>; rel="license"; type="application/rsl+xml"', {"rsl"}),
        ('</style.css>; rel=preload, </t>; type="application/rsl+xml"; rel="copyright license"', {"rsl"}),
        ('</terms>; rel="license", </f>; rel=alternate; type="application/rsl+xml"', set()),
    ],
)
def test_a_link_header_to_a_licence_is_recorded(link, opt_outs):
    assert response_opt_outs(response({"link": link})) == opt_outs


def test_only_opt_outs_from_ai_uses_of_text_leave_a_page_out():
    assert str(opted_out_reason(["tdm", "ai-train", "search"])) == "opted out: ai-train, tdm"
    assert not opted_out_reason(["search", "noimageai", "rsl"])
