"""Opt-outs from AI uses are read wherever a site may state them, and one denial is enough."""

import pytest

from thresher.parsing.html import parse, with_header
from thresher.parsing.opt_outs import opted_out_reason, response_opt_outs, signal_opt_outs
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
    ],
)
def test_meta_elements_are_read(markup, opt_outs):
    assert parse("http://a.example/", f"<title>T</title>{markup}".encode()).opt_outs == opt_outs


def test_x_robots_tag_adds_to_what_the_page_says():
    page = parse("http://a.example/", b'<meta name="tdm-reservation" content="1">')
    assert with_header(page, "noai\notherbot: noimageai").opt_outs == ("noai", "tdm")


def test_headers_and_robots_txt_of_a_response_are_combined():
    headers = {"tdm-reservation": "1", "content-signal": "ai-input=no"}
    fetched = FetchedPage(
        url="http://a.example/", status=200, headers=headers, body=b"", fetched_at=0.0, content_signals="ai-train=no"
    )
    assert response_opt_outs(fetched) == {"tdm", "ai-input", "ai-train"}


def test_only_opt_outs_from_ai_uses_of_text_leave_a_page_out():
    assert opted_out_reason(["tdm", "ai-train", "search"]) == "opted out: ai-train, tdm"
    assert opted_out_reason(["search", "noimageai"]) == ""
