"""The compiled loops return what the Python code beside their callers returns."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.native import compiled
from thresher.parsing import dom, html
from thresher.records import Judgement, Lease, Link, ParsedPage
from thresher.strategies.link_model import link_table, model, site_rates, term_model
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher.text import term_ids, tokens, word_vectors
from thresher.topics.profile import TopicProfile

pytestmark = pytest.mark.skipif(compiled is None, reason="the loops are not compiled")

USERS = (dom, html, link_table, model, site_rates, term_ids, term_model, word_vectors)
TEXTS = st.lists(st.one_of(st.text(max_size=60), st.text("ab 海豹港口的\x01é-9", max_size=60)), max_size=8)
PIECES = st.lists(st.one_of(st.text("ab \n\t\x1c", max_size=30), st.text(max_size=20)), min_size=1, max_size=6)
PATHS = st.lists(st.text("ab/0129-.%_#é", max_size=14), min_size=1, max_size=12)


def in_python(call):
    """Call a function without the compiled module."""
    with pytest.MonkeyPatch.context() as patch:
        for module in USERS:
            patch.setattr(module, "compiled", None)
        return call()


def same(call):
    assert call() == in_python(call)


@given(TEXTS)
def test_terms_are_counted_alike_and_in_the_same_order(texts):
    same(lambda: [list(tokens.count(text).items()) for text in texts])


def test_a_text_may_have_more_words_than_are_remembered():
    text = " ".join(f"w{number}x" for number in range(200_000))
    for _ in range(2):
        assert tokens.count(text) == dict.fromkeys((f"w{number}x" for number in range(200_000)), 1)
    assert tokens.count("grey seals") == {"grey": 1, "seal": 1}


@given(st.lists(st.sampled_from(["grey", "Seals", "seal", "the", "harbour", "a", "é"]), max_size=20))
def test_adjacent_words_are_found_alike(words):
    forms = {"grey": "grey", "seal": "seal", "harbour": "port"}
    same(lambda: tokens.adjacent(" ".join(words), forms))


@given(TEXTS)
def test_terms_are_numbered_alike(texts):
    def numbered():
        numbers = term_ids.TermNumbers(40)
        return [each.tolist() for _ in range(2) for each in numbers.of(texts)]

    same(numbered)


@given(st.text("海豹港口的是 a", max_size=40))
def test_bigrams_are_found_alike(text):
    same(lambda: [each.tolist() for each in term_ids.find_pairs(text)])


@given(PIECES)
def test_white_space_is_collapsed_alike(pieces):
    def texts():
        heading = dom.HeadingElement(0, len(pieces) // 2, 0, 0, 0, 0, 0)
        walk = dom.Walk(pieces=pieces)
        return walk.text(), walk.text(heading)

    same(texts)


@given(PIECES, PIECES)
def test_the_context_of_a_link_is_the_same(before, after):
    start = len(before)
    element = dom.LinkElement(None, {}, "/", 0, 0, [*before, "here", *after], 0, start, start + 1, 0, None)
    same(lambda: html._context(element))


@given(PATHS)
def test_urls_have_the_same_places_and_names(paths):
    urls = [f"http://www.seals.example/{path}" for path in paths]

    def places():
        rates = site_rates.SiteRates()
        return [each.tolist() for each in rates.of_all(urls)]

    same(places)
    same(lambda: link_table._texts_of([Link(url) for url in urls]))


def crawled(pages: int):
    """Return the scores of all links of a random crawl."""
    draw = Random(7)
    strategy = LinkModelStrategy(TopicProfile(phrases=["grey seals"], vectors={"en": {"grey": 1.0, "seal": 1.0}}))
    words = ["seal", "grey", "harbour", "fish", "tax", "law", "stone", "boat", "海豹", "wave"]
    scores = []
    for number in range(pages):
        children = [draw.randrange(3 * pages) for _ in range(12)]
        text = " ".join(draw.choices(words, k=60))
        links = tuple(
            Link(
                f"http://h{child % 5}.example/{child}", anchor=words[child % 10], context=text[:50], tag_path="ul/li/a"
            )
            for child in children
        )
        url = f"http://h{number % 5}.example/{number}"
        page = ParsedPage(url=url, title=words[number % 10], text=text, links=links)
        judgement = Judgement(relevance=draw.random(), relevant=False, reward=draw.random())
        lease = Lease(url=url, host="h", score=0.5, fence=number, until=1.0)
        found = strategy.score(page, judgement, lease)
        scores.append([(each.url, each.score, *each.breakdown.values()) for each in found])
        scores.append([(name, change.now) for name, change in sorted(strategy.revise([]).items())])
    return scores


def test_a_crawl_has_the_same_scores():
    ours, theirs = crawled(80), in_python(lambda: crawled(80))
    assert [[row[0] for row in page] for page in ours] == [[row[0] for row in page] for page in theirs]
    for page, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose([row[1:] for row in page], [row[1:] for row in other], atol=2e-3)
        np.testing.assert_allclose([row[1] for row in page], [row[1] for row in other], atol=1e-6)
