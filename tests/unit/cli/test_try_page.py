"""What `thresher try` says of a page."""

from thresher.cli.try_page import _parts, sentences
from thresher.operations.try_page import TriedPage
from thresher.operations.verdict import CountedWord, PageVerdict
from thresher.records import Judgement

URL = "http://a.example/"


def judged(*, words=(("cells", 0.5), ("tea", -0.25)), **changes):
    counted = [CountedWord(written=word, weight=weight, share=abs(weight) / 0.75) for word, weight in words]
    verdict = PageVerdict(judgement=Judgement(relevance=0.875, relevant=True), threshold=0.4, words=counted)
    return TriedPage(**{"asked": URL, "url": URL, "title": "Cells", "language": "en", "verdict": verdict, **changes})


def test_a_verdict_has_the_shape_of_that_of_why():
    assert sentences(judged()) == [
        URL,
        "Title:    Cells",
        "Relevant: 0.88, above the cut of 0.40.",
        "For:      cells 67 %",
        "Against:  tea 33 %",
    ]


def test_a_judge_without_words_lists_none():
    assert len(sentences(judged(words=[]))) == 3


def test_a_redirect_is_printed():
    assert sentences(judged(url="http://b.example/"))[:2] == [URL, "redirected to http://b.example/"]
    assert "redirected" not in " ".join(sentences(judged()))


def test_what_was_not_judged_says_why():
    assert sentences(TriedPage(asked=URL, reason="http 404")) == [URL, "Not judged: http 404"]


def test_parts_that_are_printed_as_zero_are_left_out():
    breakdown = {"start": -2.4, "hub": 0.0, "siblings": 0.0004, "places": 0.0005}
    assert _parts(breakdown, details=True) == ["start -2.400, places 0.001"]
