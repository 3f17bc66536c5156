"""The words of a page, and the topic's own words among them."""

import numpy as np
import pytest

from thresher.judges.adaptive.terms import TITLED, PhraseWords, term_weights
from thresher.records import ParsedPage
from thresher.text.tokens import tokenize

CHINESE = tokenize("超文本传输协议", "zh")


def page(text, title=""):
    return ParsedPage(url="http://a.test/", title=title, text=f"{title} {text}".strip(), language="en")


def counts(text, *phrases):
    """Count the terms of a long page as the judge of a topic does, without the extra weight of its beginning."""
    plain = page("filler " * 100 + text)
    terms = PhraseWords(phrases).mark(plain, term_weights(plain))
    return dict(zip(terms.names, np.expm1(terms.weights), strict=True))


def test_a_word_of_the_title_counts_more_than_one_of_the_text():
    terms = term_weights(page("sea " * 200 + "island", title="volcano"))
    weights = dict(zip(terms.names, terms.weights, strict=True))
    assert weights["volcano"] == pytest.approx(np.log(1 + 1 + 4 + 4))
    assert weights["island"] == pytest.approx(np.log(2))


def test_other_forms_of_a_word_of_the_phrase_count_as_that_word():
    found = counts("a volcano, volcanic ash and volcanism", "volcanoes")
    assert found["volcano"] == pytest.approx(3)
    assert "volcan" not in found


def test_a_short_word_has_no_other_forms():
    found = counts("the art of artists and articles", "art")
    assert found["art"] == pytest.approx(1)
    assert found["artist"] == pytest.approx(1)


def test_words_of_a_phrase_side_by_side_are_a_term_of_their_own():
    found = counts("the French Revolution, French revolutionaries, a revolution of the French", "French Revolution")
    assert found["french revolut"] == pytest.approx(2)
    assert found["revolut"] == pytest.approx(3)
    assert "french revolut" not in counts("a French wine and a glorious revolution", "French Revolution")


def test_words_of_different_phrases_are_no_pair():
    assert PhraseWords(["solar cells", "wind"]).pairs == ["solar cell"]


def test_chinese_terms_and_pages_without_words_of_the_phrase_stay_as_they_are():
    chinese = ParsedPage(url="http://a.test/", title="异步", text="异步 编程 JavaScript", language="zh")
    terms = term_weights(chinese)
    assert PhraseWords(["事件循环"]).mark(chinese, terms) is terms
    assert PhraseWords(["异步编程"]).pairs == []


def test_terms_stay_in_the_order_of_the_page_when_forms_are_merged():
    plain = page("ash falls near ships", title="Volcanism")
    assert PhraseWords(["volcanoes"]).mark(plain, term_weights(plain)).names[:2] == ["volcano", "ash"]


def test_a_word_of_the_phrase_is_found_by_its_stem_in_the_language_of_the_page():
    german = ParsedPage(url="http://a.test/", text="Häuser aus Holz, ein Haus, Holzhäuser", language="de")
    for languages in (["de"], ["en", "de"], ["fr", "de"]):
        words = PhraseWords(["Häuser bauen"], languages)
        terms = words.mark(german, term_weights(german))
        [word] = [term for term in words.unified({"haus": 1.0}, "de") if term in terms.names]
        counted = dict(zip(terms.names, np.expm1(terms.weights), strict=True))
        assert counted[word] == pytest.approx(10)  # two occurrences in the lead


def test_pairs_of_words_are_found_in_any_spaced_script():
    page_in = ParsedPage(url="http://a.test/", text="о зелёных растениях и зелёное растение", language="ru")
    terms = PhraseWords(["зелёные растения"], ["ru"]).mark(page_in, term_weights(page_in))
    assert dict(zip(terms.names, np.expm1(terms.weights), strict=True))["зелен растен"] == pytest.approx(2)


def names_of(url, title, *phrases, headings=(), language="zh"):
    """Return the words of phrases that name a page."""
    named = ParsedPage(url=url, title=title, headings=headings, text=title, language=language)
    return [name for name in PhraseWords(phrases).mark(named, term_weights(named)).names if name.startswith(TITLED)]


def test_words_of_a_phrase_in_title_heading_or_address_name_a_page_in_any_language():
    http = ("HTTP protocol", "超文本传输协议")
    assert names_of("https://a.test/", "HTTP 请求方法", *http) == ["title:http"]
    assert names_of("https://a.test/docs/HTTP/Methods/GET", "GET", *http) == ["title:http"]
    assert names_of("https://a.test/", "概述", *http, headings=("超文本传输协议",)) == [f"title:{' '.join(CHINESE)}"]
    assert names_of("https://http.test/", "Gmail", *http, headings=("Mail", "HTTP")) == []


def test_other_forms_of_a_word_name_a_page_too():
    assert names_of("https://a.test/", "Volcanic ash", "volcanoes", language="en") == ["title:volcano"]


def test_a_word_that_names_a_page_does_not_change_its_similarities():
    plain = page("ash " * 50, title="Volcano")
    before, after = term_weights(plain), PhraseWords(["volcano"]).mark(plain, term_weights(plain))
    assert after.weights @ after.weights == pytest.approx(before.weights @ before.weights, rel=1e-6)
