"""Every occurrence of a term counts once, in the strongest section that it stands in."""

import pytest

from thresher.records import Link, ParsedPage
from thresher_papers.judges.estimators.sections import SECTIONS, section_counts, weighted_counts

PAGE = ParsedPage(
    url="http://a.example/",
    title="Solar cells",
    headings=("Cheap cells", "Other heading"),
    keywords="energy, solar",
    text="Solar cells Cheap cells about energy compare prices other heading prices",
    links=(Link(url="http://a.example/p", anchor="prices"),),
)


def test_the_headline_is_title_and_first_heading():
    assert section_counts(PAGE)["headline"] == {"solar": 1, "cell": 2, "cheap": 1}


def test_keywords_are_those_of_the_page_head():
    assert section_counts(PAGE)["keywords"] == {"energi": 1, "solar": 1}


def test_an_anchor_takes_its_own_occurrence_out_of_the_body():
    counts = section_counts(PAGE)
    assert counts["anchor"] == {"price": 1}
    assert counts["body"]["price"] == 1


def test_the_body_is_the_rest_of_the_text():
    assert section_counts(PAGE)["body"] == {"energi": 1, "compar": 1, "price": 1, "head": 1}


def test_sections_of_a_page_add_up_to_its_text_and_keywords():
    even = weighted_counts(PAGE, dict.fromkeys(SECTIONS, 1.0))
    assert even == {"solar": 2, "cell": 2, "cheap": 1, "energi": 2, "compar": 1, "price": 2, "head": 1}


def test_a_link_inside_the_headline_counts_there_only():
    link = Link(url="http://a.example/p", anchor="Solar cells")
    page = ParsedPage(url="http://a.example/", headings=("Solar cells",), text="Solar cells", links=(link,))
    assert weighted_counts(page) == {"solar": 4.0, "cell": 4.0}


def test_the_alternative_text_of_an_image_is_no_text():
    link = Link(url="http://a.example/p", anchor="logo")
    page = ParsedPage(url="http://a.example/", text="solar", links=(link,))
    assert weighted_counts(page) == {"solar": 1.0}


def test_sections_weigh_four_three_two_one():
    texts = {"headline": "solar", "keywords": "wind", "anchor": "water", "body": "coal"}
    assert weighted_counts(texts) == {"solar": 4.0, "wind": 3.0, "water": 2.0, "coal": 1.0}


def test_chinese_and_english_stand_in_one_vocabulary():
    assert weighted_counts({"headline": "太阳能", "body": "solar 太阳"}) == {"太阳": 5.0, "阳能": 4.0, "solar": 1.0}


def test_an_unknown_section_is_refused():
    with pytest.raises(ValueError, match="no section is called 'footer'"):
        section_counts({"footer": "solar"})


def test_a_plain_text_is_all_body():
    assert section_counts("solar cells")["body"] == {"solar": 1, "cell": 1}
