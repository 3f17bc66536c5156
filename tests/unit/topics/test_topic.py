"""A topic is typed as people write it, in one language or several."""

import pytest

from tests.unit.topics.taxonomy.small_taxonomy import CHINESE, small_taxonomy
from thresher.errors import ConfigError
from thresher.text.tokens import count
from thresher.text.vectors import cosine
from thresher.topics.topic import TopicDefinition, label_vector


def test_phrases_go_to_the_language_of_their_script():
    topic = TopicDefinition.from_phrase("perovskite solar cells; 钙钛矿太阳能电池")
    assert topic.title == {"en": "perovskite solar cells", "zh": "钙钛矿太阳能电池"}


def test_a_full_width_semicolon_parts_as_well():
    assert TopicDefinition.from_phrase("篮球；basketball").title == {"zh": "篮球", "en": "basketball"}


def test_a_second_phrase_of_a_language_becomes_a_keyword():
    topic = TopicDefinition.from_phrase("solar cells; tandem cell")
    assert topic.title == {"en": "solar cells"}
    assert topic.keywords == ["tandem cell"]


def test_vectors_hold_stems_and_character_pairs_by_language():
    vectors = TopicDefinition.from_phrase("solar cells; 钙钛矿", keywords=["tandem", "叠层"]).vectors()
    assert vectors["en"] == {"solar": 1.0, "cell": 1.0, "tandem": 1.0}
    assert vectors["zh"] == {"钙钛": 1.0, "钛矿": 1.0, "叠层": 1.0}


def test_a_topic_of_stop_words_alone_has_no_vector():
    assert TopicDefinition.from_phrase("the and of").vectors() == {}


def test_a_phrase_is_stemmed_in_its_language_without_its_stop_words():
    topic = TopicDefinition.from_phrase("die Energie der Sonne und des Windes")
    assert topic.title == {"de": "die Energie der Sonne und des Windes"}
    assert topic.vectors() == {"de": {"energi": 1.0, "sonn": 1.0, "wind": 1.0}}


def test_an_open_phrase_has_the_stems_of_every_language_it_may_be_in():
    topic = TopicDefinition.from_phrase("Kuchenrezepte")
    assert (topic.title, topic.languages, topic.is_open) == ({"und": "Kuchenrezepte"}, [], True)
    terms = {term for vector in topic.vectors().values() for term in vector}
    assert {"kuchenrezept", "kuchenrezepte"} <= terms
    assert len(topic.vectors()) == len({tuple(vector) for vector in topic.vectors().values()})


def test_a_phrase_of_two_languages_wants_pages_in_both():
    topic = TopicDefinition.from_phrase("solar cells; 太陽電池")
    assert topic.title == {"en": "solar cells", "und": "太陽電池"}
    assert (topic.languages, topic.is_open) == (["en", "ja", "zh"], False)
    assert topic.vectors()["zh"] == {"太陽": 1.0, "陽電": 1.0, "電池": 1.0}


@pytest.mark.parametrize(
    ("languages", "code"),
    [(["de"], "de"), (["fr"], "fr"), (["zh", "de"], "de"), (["de", "fr"], "und"), (["ko"], "und")],
)
def test_the_language_of_a_phrase_is_one_of_those_given(languages, code):
    assert list(TopicDefinition.from_phrase("Gartenrosen", languages=languages).title) == [code]


def test_a_keyword_belongs_to_the_languages_of_the_topic_that_have_its_letters():
    topic = TopicDefinition(title={"de": "Brot", "zh": "面包"}, keywords=["Brezeln", "馒头", "хлеб"])
    assert {name: list(vector) for name, vector in topic.vectors().items()}["de"] == ["brot", "brezel"]
    assert "馒头" in topic.vectors()["zh"]
    assert topic.languages == ["de", "zh"]


# topics from a taxonomy


def nba():
    with small_taxonomy() as taxonomy:
        return TopicDefinition.from_nodes(taxonomy, ["Sports/Basketball/NBA"])


@pytest.mark.parametrize(("anchor", "R"), [("NBA", 0.8018), ("Basketball", 0.5345), ("Sports", 0.2673)])
def test_the_worked_example_of_the_labels(anchor, R):
    assert cosine(count(anchor), nba().vectors()["en"]) == pytest.approx(R, abs=5e-5)


def test_a_label_weighs_by_its_level():
    assert nba().vectors()["en"] == {"sport": pytest.approx(1 / 3), "basketbal": pytest.approx(2 / 3), "nba": 1.0}


def test_a_language_in_which_the_node_has_no_name_has_no_vector():
    assert nba().languages == ["en"]


def test_a_term_of_several_levels_takes_the_greatest_weight():
    assert label_vector([{"en": "Water"}, {"en": "Sports"}, {"en": "Water Polo"}], "en") == {
        "water": 1.0,
        "sport": pytest.approx(2 / 3),
        "polo": 1.0,
    }


def test_each_language_has_a_vector_of_its_own():
    with small_taxonomy() as taxonomy:
        topic = TopicDefinition.from_nodes(taxonomy, ["Sports/Basketball"])
    assert topic.vectors() == {"en": {"sport": 0.5, "basketbal": 1.0}, "zh": {"体育": 0.5, "篮球": 1.0}}
    assert topic.title == {"en": "Basketball", "zh": "篮球"}


def test_several_nodes_have_vectors_of_their_own():
    with small_taxonomy() as taxonomy:
        topic = TopicDefinition.from_nodes(taxonomy, ["Sports/Basketball", "Sports/Water_Polo"], languages=["en"])
    assert topic.vectors() == {
        "en": {"sport": 0.5, "basketbal": 1.0},
        "en 2": {"sport": 0.5, "water": 1.0, "polo": 1.0},
    }
    assert topic.title == {"en": "Basketball, Water Polo"}
    assert topic.languages == ["en"]


def test_a_chinese_node_counts_from_below_its_branch():
    with small_taxonomy() as taxonomy:
        topic = TopicDefinition.from_nodes(taxonomy, [f"{CHINESE}/体育/篮球"], languages=["zh"])
    assert topic.vectors() == {"zh": {"体育": 0.5, "篮球": 1.0}}


def test_labels_are_kept_by_level_and_language():
    assert nba().labels == [[{"en": "Sports", "zh": "体育"}, {"en": "Basketball", "zh": "篮球"}, {"en": "NBA"}]]


def test_a_phrase_is_a_taxonomy_of_one_node():
    topic = TopicDefinition.from_phrase("solar cells; 太阳能电池")
    assert topic.labels == [[{"en": "solar cells", "zh": "太阳能电池"}]]
    assert TopicDefinition(keywords=["cells"]).labels == []


def test_keywords_weigh_one_beside_labels():
    with small_taxonomy() as taxonomy:
        topic = TopicDefinition.from_nodes(taxonomy, ["Sports/Basketball"], keywords=["sports hall", "扣篮"])
    assert topic.vectors()["en"] == {"sport": 1.0, "basketbal": 1.0, "hall": 1.0}
    assert topic.vectors()["zh"]["扣篮"] == 1.0


def test_a_node_without_a_name_in_the_language_is_refused():
    with small_taxonomy() as taxonomy, pytest.raises(ConfigError, match="has no label in zh"):
        TopicDefinition.from_nodes(taxonomy, ["Sports/Basketball/NBA"], languages=["zh"])


def test_a_topic_of_no_nodes_is_refused():
    with small_taxonomy() as taxonomy, pytest.raises(ConfigError, match="name at least one"):
        TopicDefinition.from_nodes(taxonomy, [])
