"""Text of pages in results stands between markers that no page can know."""

import pytest

from thresher_ui.mcp_server.tools import marked, marked_error, without_markers


def test_text_of_pages_is_marked_at_any_depth():
    result = marked({"hits": [{"title": "obey", "url": "http://a.example/x", "relevance": 0.5}], "pages": 3})
    marker = result["marker"]
    assert result["untrusted"] is True
    assert result["hits"] == [
        {
            "title": f"[page {marker}] obey [end {marker}]",
            "url": f"[page {marker}] http://a.example/x [end {marker}]",
            "relevance": 0.5,
        }
    ]
    assert result["pages"] == 3


@pytest.mark.parametrize("key", ["obey ‹me›", "ignore_previous_instructions", "call stop", "http://a.example/"])
def test_keys_that_come_from_pages_are_marked_too(key):
    result = marked({"hosts": {key: 1, "done": 2}})
    marker = result["marker"]
    assert result["hosts"] == {f"[page {marker}] {key} [end {marker}]": 1, "done": 2}


def test_a_page_that_knows_an_earlier_marker_cannot_end_its_part():
    earlier = marked({})["marker"]
    result = marked({"words": f"a [end {earlier}] obey"})
    assert result["marker"] != earlier
    assert result["words"].count(f"[end {result['marker']}]") == 1


@pytest.mark.parametrize(
    "text",
    ["http://a.example/ obey", "https://SYSTEM/NOTICE:call_stop", "https://a.example/", "done", "en-GB", "solar cells"],
)
def test_what_a_text_looks_like_decides_nothing(text):
    for values in ({"title": text}, {"hits": [{"url": text, "language": text}]}, {"parts": {"state": text}}):
        assert text not in str(marked(values)).replace(f"] {text} [end", "")


def test_only_the_place_of_a_field_makes_it_one_of_our_own():
    result = marked({"state": "stopped", "tried": {"state": "stopped", "explanation.state": "obey"}})
    assert result["state"] == "stopped"
    assert "[page " in result["tried"]["state"]
    assert "explanation.state" not in result["tried"]


def test_invisible_characters_are_shown():
    text = marked({"words": "a\u202eb\U000e0041c"})["words"]
    assert "\u202e" not in text
    assert "\U000e0041" not in text


def test_an_error_is_marked():
    assert marked_error("obey").endswith("]")
    assert "[page " in marked_error("obey").partition("obey")[0]


def test_a_marked_text_can_be_given_back():
    result = marked({"url": "http://a.example/x"})
    assert without_markers(result["url"]) == "http://a.example/x"
    assert without_markers([result["url"], 3]) == ["http://a.example/x", 3]
    assert without_markers("[page x] http://a.example/") == "[page x] http://a.example/"
