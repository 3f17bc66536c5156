"""What a page says is shown as text, never as markup."""

from datetime import UTC, datetime

from thresher.api.page import Page
from thresher.api.why import Step, Why
from thresher.charts.html import cell, html_table
from thresher.operations.explain import Explanation, FrontierInfo
from thresher.storage.page_store import StoredContent

EVIL = '<script>alert(1)</script>"&'


def test_markup_is_escaped():
    assert html_table(["a<b"], [[EVIL]]) == (
        "<table><thead><tr><th>a&lt;b</th></tr></thead><tbody><tr>"
        "<td>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;</td></tr></tbody></table>"
    )


def test_cells_are_short_and_hold_nothing_that_a_terminal_obeys():
    assert len(cell("x" * 1000)) == 120
    assert "\x1b" not in cell("\x1b[31mred")
    assert cell(None) == ""
    assert cell(0.5) == "0.500"


def test_a_page_is_shown_escaped():
    page = Page(
        url="http://a.example/",
        title=EVIL,
        relevance=0.5,
        relevant=True,
        language="en",
        depth=0,
        fetched_at=datetime(2026, 1, 2, tzinfo=UTC),
        score=1.0,
        status=200,
        parts={},
        duplicate=False,
        stored=StoredContent("http://a.example/"),
    )
    assert "<script>" not in page._repr_html_()
    assert "2026-01-02" in page._repr_html_()
    assert str(page).startswith("0.50 relevant: ")


def test_a_path_is_shown_escaped():
    step = Step(
        url="http://a.example/",
        title=EVIL,
        anchor=EVIL,
        score=0.5,
        score_parts={"anchor": 0.5},
        relevance=0.25,
        relevant=False,
        relevance_parts={"words": 0.25},
        reason="",
    )
    nothing = Explanation(url=EVIL, frontier_info=FrontierInfo(), path=[], history=[])
    why = Why(url=EVIL, state="done", reason="", path=[step], fetched=True, explanation=nothing)
    assert "<script>" not in why._repr_html_()
    assert "Never queued" in why._repr_html_()
    assert (why.score, why.score_parts, why.relevance_parts) == (None, {}, {})
