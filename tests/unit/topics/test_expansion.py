"""Suggestions for a topic come from the bundled taxonomy and from pages; applying them is another step."""

from thresher.topics.expansion import expand_by_pages, expand_by_taxonomy
from thresher.topics.topic import TopicDefinition


def test_the_name_of_a_bundled_node_brings_its_words_in_both_languages():
    found = expand_by_taxonomy(TopicDefinition.from_phrase("mathematics"))
    assert "Science/Mathematics" in found.reason
    assert found.titles == {"zh": "数学"}
    topic = found.apply(TopicDefinition.from_phrase("mathematics"))
    assert topic.title == {"en": "mathematics", "zh": "数学"}
    assert set(found.keywords) <= set(topic.keywords)


def test_a_chinese_phrase_brings_english():
    assert expand_by_taxonomy(TopicDefinition.from_phrase("数学")).titles == {"en": "Mathematics"}


def test_other_phrases_are_not_guessed():
    assert expand_by_taxonomy(TopicDefinition.from_phrase("mathematics of knitting")) is None


def test_words_that_set_accepted_pages_apart_are_suggested():
    topic = TopicDefinition.from_phrase("solar cells")
    accepted = ["Solar cells of perovskite have efficiency.", "Perovskite solar cells, efficiency and light."]
    others = ["Solar calendars have months.", "The solar calendar and its months."]
    found = expand_by_pages(topic, accepted, others)
    assert {"perovskite", "efficiency"} <= {word.lower() for word in found.keywords}
    assert "months" in found.exclusions
    assert not {"solar", "cells"} & {word.lower() for word in (*found.keywords, *found.exclusions)}


def test_without_both_sides_nothing_is_suggested():
    assert expand_by_pages(TopicDefinition.from_phrase("x"), ["a text"], []) is None
