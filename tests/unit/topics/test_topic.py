"""A topic is typed as people write it, in one language or several."""

from thresher.topics.topic import Topic


def test_phrases_go_to_the_language_of_their_script():
    topic = Topic.from_phrase("perovskite solar cells; 钙钛矿太阳能电池")
    assert topic.title == {"en": "perovskite solar cells", "zh": "钙钛矿太阳能电池"}


def test_a_full_width_semicolon_parts_as_well():
    assert Topic.from_phrase("篮球；basketball").title == {"zh": "篮球", "en": "basketball"}


def test_a_second_phrase_of_a_language_becomes_a_keyword():
    topic = Topic.from_phrase("solar cells; tandem cell")
    assert topic.title == {"en": "solar cells"}
    assert topic.keywords == ["tandem cell"]


def test_vectors_hold_stems_and_character_pairs_by_language():
    vectors = Topic.from_phrase("solar cells; 钙钛矿", keywords=["tandem", "叠层"]).vectors()
    assert vectors["en"] == {"solar": 1.0, "cell": 1.0, "tandem": 1.0}
    assert vectors["zh"] == {"钙钛": 1.0, "钛矿": 1.0, "叠层": 1.0}


def test_a_topic_of_stop_words_alone_has_no_vector():
    assert Topic.from_phrase("the and of").vectors() == {}
