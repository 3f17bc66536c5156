"""What `thresher try` says of a page."""

from thresher.cli.try_page import _nonzero, sentences
from thresher.operations.try_page import CountedWord, TriedPage
from thresher.records import Judgement

URL = "http://a.example/"


def judged(**changes):
    judgement = Judgement(relevance=0.875, relevant=True, parts={"words": 0.2, "seeds": 0.3})
    words = [
        CountedWord(written="cells", weight=0.5, terms=["cell"]),
        CountedWord(written="tea", weight=-0.25, terms=["tea"]),
    ]
    given = {"asked": URL, "url": URL, "title": "Cells", "language": "en", "judgement": judgement, "words": words}
    return TriedPage(**{**given, **changes})


def test_the_verdict_comes_with_relevance_and_parts():
    assert "  relevant: relevance 0.875 (computed from words 0.200, seeds 0.300)" in sentences(judged())


def test_a_judge_without_probabilities_says_none():
    judgement = Judgement(relevance=0.05, relevant=False)
    assert "  not relevant: relevance 0.050" in sentences(judged(judgement=judgement))


def test_words_are_listed_for_and_against():
    lines = sentences(judged())
    assert "  for:      cells +0.500" in lines
    assert "  against:  tea -0.250" in lines


def test_a_page_without_such_words_says_so():
    assert sentences(judged(words=[]))[-1] == "  for:      no word"


def test_a_redirect_is_printed():
    assert sentences(judged(url="http://b.example/"))[:2] == [URL, "  redirected to http://b.example/"]
    assert "redirected" not in " ".join(sentences(judged()))


def test_what_was_not_judged_says_why():
    assert sentences(TriedPage(asked=URL, reason="http 404")) == [URL, "  not judged: http 404"]


def test_parts_that_are_printed_as_zero_are_left_out():
    assert _nonzero({"start": -2.4, "hub": 0.0, "siblings": 0.0004, "places": 0.0005}) == {
        "start": -2.4,
        "places": 0.0005,
    }
