"""Who answers a question, and in what order."""

import pytest

from tests.unit.search.conftest import page
from thresher.search.query import SearchQuery
from thresher.search.ranking import Filters, SearchOrder


def test_chinese_words_of_two_characters_are_found(world):
    world.keep(page("1", "钙钛矿太阳能电池的稳定性研究"), page("2", "地质矿物学"))
    assert world.find("电池") == ["1"]
    assert world.find("钙钛矿 稳定性") == ["1"]


@pytest.mark.parametrize("text", ["小猫喜欢牛奶", "一只小猫", "猫", "他有猫。"])
def test_a_lone_chinese_character_is_found_wherever_it_stands(world, text):
    world.keep(page("1", text))
    assert world.find("猫") == ["1"]


def test_other_forms_of_a_word_are_found(world):
    world.keep(page("1", "The cells were stabilised by studies"))
    assert world.find("study cell stabilising") == ["1"]


def test_pages_with_all_words_come_before_pages_with_some(world):
    world.keep(page("1", "solar solar solar"), page("2", "solar power and other things, for instance cells"))
    assert world.find("solar cells") == ["2", "1"]


def test_a_phrase_wants_its_words_next_to_each_other(world):
    world.keep(page("1", "solar wind and fuel cells"), page("2", "solar cells"))
    assert world.find('"solar cells"') == ["2"]


def test_a_chinese_phrase_wants_its_characters_next_to_each_other(world):
    world.keep(page("1", "太阳能与电池"), page("2", "太阳能电池"))
    assert world.find("「太阳能电池」") == ["2"]


def test_a_word_in_the_title_weighs_more(world):
    world.keep(
        page("1", "tidal power is made from water that comes and goes"),
        page("2", "tidal mills were built on many coasts before steam came into use", title="Tidal mills"),
    )
    assert world.find("tidal") == ["2", "1"]


def test_a_page_is_found_by_the_words_of_links_to_it(world):
    world.keep(page("1", "a list", links=[("2", "潮汐发电站"), ("2", "tidal plant")]), page("2", "La Rance"))
    assert world.find("tidal plant") == ["2"]
    assert world.find("潮汐") == ["2"]


def test_links_that_come_later_count_too(world):
    world.keep(page("2", "La Rance"))
    assert world.find("tidal") == []
    world.keep(page("1", "a list", links=[("2", "tidal plant")]))
    assert world.find("tidal") == ["2"]


def test_relevant_pages_come_before_better_matches(world):
    world.keep(page("1", "tidal tidal tidal", relevance=0.0), page("2", "a tidal mill among others", relevance=0.6))
    assert world.find("tidal") == ["2", "1"]


def test_by_relevance_the_most_relevant_comes_first_and_the_match_decides_among_equals(world):
    world.keep(
        page("1", "tidal tidal tidal", relevance=0.5),
        page("2", "one tidal mill among many others", relevance=0.9),
        page("3", "one tidal mill among many other mills, in a longer text", relevance=0.5),
    )
    assert world.find("tidal", order=SearchOrder.RELEVANCE) == ["2", "1", "3"]
    assert world.find("tidal", order=SearchOrder.MATCH)[0] == "1"


def test_of_near_duplicates_one_is_shown_and_the_others_are_counted(world):
    text = "tidal " + " ".join(f"word{number}" for number in range(100))
    world.keep(page("1", f"{text} seen 17 times"), page("2", f"{text} seen 18 times", relevance=0.05))
    assert world.find("tidal") == ["1"]
    assert world.index.search(SearchQuery.read("tidal"))[0].alike == 1


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(host="a.example"), {"1", "http://sub.a.example/2"}),
        (Filters(host="sub.a.example"), {"http://sub.a.example/2"}),
        (Filters(host="xa.example"), {"http://xa.example/3"}),
        (Filters(host="%"), set()),
        (Filters(language="zh"), {"http://xa.example/3"}),
        (Filters(min_relevance=0.6), {"http://xa.example/3"}),
        (Filters(since=2.0), {"http://sub.a.example/2", "http://xa.example/3"}),
        (Filters(until=2.0), {"1"}),
        (Filters(since=2.0, until=3.0, language="en"), {"http://sub.a.example/2"}),
    ],
)
def test_filters_leave_out_what_was_not_asked_for(world, filters, expected):
    world.keep(
        page("1", "tidal power", at=1.0),
        page("http://sub.a.example/2", "tidal mills", at=2.0),
        page("http://xa.example/3", "tidal 潮汐", at=3.0, relevance=0.9, language="zh"),
    )
    assert set(world.find("tidal", filters=filters)) == expected


def test_no_more_pages_come_than_were_asked_for(world):
    world.keep(*(page(str(number), f"tidal power {number}") for number in range(30)))
    assert len(world.find("tidal", limit=7)) == 7


def test_an_empty_question_has_no_answer(world):
    world.keep(page("1", "tidal power"))
    assert world.find("the") == []
