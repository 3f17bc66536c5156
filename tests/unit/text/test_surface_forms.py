"""Terms are shown to people as the page writes them."""

from thresher.text.surface_forms import written
from thresher.text.tokens import tokenize


def test_a_stem_becomes_the_word_that_the_text_uses_most():
    assert written("Solar cells: a cell among cells", ["cell", "solar"]) == [("cells", ["cell"]), ("Solar", ["solar"])]


def test_upper_case_stays_where_the_text_prefers_it():
    assert written("Perovskite is Perovskite, not perovskite", ["perovskit"]) == [("Perovskite", ["perovskit"])]


def test_overlapping_pairs_become_the_phrase_they_stand_in():
    assert written("研究钙钛矿电池。", ["钛矿", "钙钛"]) == [("钙钛矿", ["钛矿", "钙钛"])]


def test_pairs_that_are_apart_stay_apart():
    assert written("钙钛矿，太阳能", ["钙钛", "太阳"]) == [("钙钛", ["钙钛"]), ("太阳", ["太阳"])]


def test_a_pair_goes_to_the_longest_phrase():
    assert written("电池，电池，太阳能电池", ["电池", "能电"]) == [("能电池", ["电池", "能电"])]


def test_a_term_that_the_text_does_not_hold_stays_as_it_is():
    assert written("tea", ["solar", "电池"]) == [("solar", ["solar"]), ("电池", ["电池"])]


def test_every_term_of_a_mixed_text_is_there_once():
    text = "Tandem cells 叠层电池 with ｓｏｌａｒ light, and naïve cafés"
    terms = tokenize(text)
    assert sorted(term for _, group in written(text, terms) for term in group) == sorted(set(terms))
