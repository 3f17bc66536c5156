"""A taxonomy answers from its file, whatever its size, and trusts no file of strangers."""

import sqlite3
from contextlib import closing

import pytest

from tests.unit.topics.taxonomy.small_taxonomy import CHINESE, small_taxonomy
from thresher.errors import ConfigError, StoreError
from thresher.topics.taxonomy.taxonomy import TaxonomyReader, UnknownNode
from thresher.topics.taxonomy.writer import TaxonomyWriter


@pytest.fixture
def taxonomy():
    with small_taxonomy() as taxonomy:
        yield taxonomy


def test_a_node_has_labels_descriptions_and_counts(taxonomy):
    node = taxonomy.node("Top/Sports/Basketball")
    assert node.labels == {"en": "Basketball", "zh": "篮球"}
    assert node.descriptions == {"en": "The game of two baskets.", "zh": "两个篮筐的运动。"}
    assert (node.urls, node.urls_below) == (1, 2)


def test_both_sides_of_a_language_link_learn_the_others_label(taxonomy):
    assert taxonomy.node("Sports").labels["zh"] == "体育"
    assert taxonomy.node(f"{CHINESE}/体育/篮球").labels == {"en": "Basketball", "zh": "篮球"}
    assert taxonomy.links("Sports/Basketball", "alternate") == [f"{CHINESE}/体育/篮球"]


def test_simplified_chinese_comes_before_traditional():
    writer = TaxonomyWriter()
    for branch, name in (("Traditional", "體育"), ("Simplified", "体育")):
        writer.add_node(f"World/Chinese_{branch}/{name}")
        writer.add_link("Sports", "alternate", f"World/Chinese_{branch}/{name}")
    writer.finish()
    with TaxonomyReader(writer.db, "two") as taxonomy:
        assert taxonomy.node("Sports").labels["zh"] == "体育"


def test_children_are_those_one_level_below(taxonomy):
    assert [node.path for node in taxonomy.children("Sports")] == ["Sports/Basketball", "Sports/Water_Polo"]
    assert [node.path for node in taxonomy.children()] == ["Sports", "Sports-like", "World"]


def test_the_labels_of_a_path_run_from_the_first_level_to_the_node(taxonomy):
    assert taxonomy.labels("Sports/Basketball/NBA") == [
        {"en": "Sports", "zh": "体育"},
        {"en": "Basketball", "zh": "篮球"},
        {"en": "NBA"},
    ]


def test_examples_of_a_subtree_come_after_the_nodes_own(taxonomy):
    assert [page.url for page in taxonomy.examples("Sports/Basketball")] == ["http://hoops.example/"]
    below = [page.url for page in taxonomy.examples("Sports/Basketball", below=True)]
    assert below == ["http://hoops.example/", "http://nba.example/"]


def test_a_subtree_does_not_hold_names_that_begin_alike(taxonomy):
    assert "http://chess.example/" not in [page.url for page in taxonomy.examples("Sports", below=True)]


def test_the_root_holds_everything(taxonomy):
    assert len(list(taxonomy.examples("", below=True))) == 4


def test_desc_is_every_description_and_page_text_of_the_subtree_in_both_languages(taxonomy):
    assert list(taxonomy.description("Sports")) == ["The game of two baskets.", "Hoops", "NBA The league.",
                                                    "两个篮筐的运动。", "篮球网 新闻"]  # fmt: skip


def test_desc_of_one_language_leaves_the_counterparts_out(taxonomy):
    assert list(taxonomy.description("Sports", languages=["en"])) == ["The game of two baskets.", "Hoops",
                                                                      "NBA The league."]  # fmt: skip


def test_find_looks_into_labels_of_both_languages(taxonomy):
    assert [node.path for node, _ in taxonomy.find("篮球")] == ["Sports/Basketball", f"{CHINESE}/体育/篮球"]
    assert taxonomy.find("basketball")[0][0].path == "Sports/Basketball"


def test_find_ranks_a_whole_label_before_a_part_and_a_part_before_a_beginning():
    writer = TaxonomyWriter()
    for path in ("Polo", "Water_Polo", "Polonaise"):
        writer.add_node(path)
    writer.finish()
    with TaxonomyReader(writer.db, "polo") as taxonomy:
        assert [node.path for node, _ in taxonomy.find("polo")] == ["Polo", "Water_Polo", "Polonaise"]
        assert [score for _, score in taxonomy.find("polo")] == [1.0, 0.5, 0.25]


def test_find_gives_no_more_than_asked_for(taxonomy):
    assert len(taxonomy.find("sports basketball", limit=2)) == 2
    assert taxonomy.find("the of") == []


def test_an_unknown_node_is_named_with_its_nearest(taxonomy):
    with pytest.raises(UnknownNode, match=r"no node 'Sports/Basketbal' in small; nearest: 'Sports/Basketball'"):
        taxonomy.node("Sports/Basketbal")
    with pytest.raises(UnknownNode, match=r"nearest: .*'Sports/Basketball/NBA'"):
        taxonomy.node("Games/NBA")


def test_a_file_reads_back_as_it_was_written(tmp_path):
    with TaxonomyWriter(tmp_path / "a.taxonomy") as writer:
        writer.add_example("Sports/Basketball", "http://a.example/", "A", "B")
    with TaxonomyReader.open(tmp_path / "a.taxonomy") as taxonomy:
        assert taxonomy.size() == (2, 1)
        assert [page.text for page in taxonomy.examples("Sports/Basketball")] == ["A B"]


def test_an_import_that_fails_leaves_nothing(tmp_path):
    def fail():
        with TaxonomyWriter(tmp_path / "a.taxonomy") as writer:
            writer.add_node("Sports")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_yaml_file_is_opened_directly(tmp_path):
    (tmp_path / "mine.yaml").write_text("Sports: [Basketball 篮球]\n", encoding="utf-8")
    with TaxonomyReader.open(tmp_path / "mine.yaml") as taxonomy:
        assert taxonomy.node("Sports/Basketball").labels == {"en": "Basketball", "zh": "篮球"}


def test_what_must_be_imported_first_is_reported_with_the_command(tmp_path):
    (tmp_path / "paths.tsv").write_text("path\turl\nSports\thttp://a.example/\n")
    with pytest.raises(ConfigError, match=r"a table of paths, .* thresher topics import .*paths.tsv -o paths.taxonomy"):
        TaxonomyReader.open(tmp_path / "paths.tsv")
    with pytest.raises(ConfigError, match="there is no taxonomy"):
        TaxonomyReader.open(tmp_path / "nothing.taxonomy")


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER t AFTER INSERT ON node BEGIN DELETE FROM node; END",
        "CREATE VIEW v AS SELECT 1",
        "DROP INDEX node_parent",
        "PRAGMA application_id = 7",
    ],
)
def test_a_file_whose_tables_are_not_ours_is_refused(tmp_path, change):
    path = tmp_path / "a.taxonomy"
    with TaxonomyWriter(path) as writer:
        writer.add_node("Sports")
    with closing(sqlite3.connect(path)) as db:
        db.execute(change)
    with pytest.raises(StoreError, match="is not a taxonomy file"):
        TaxonomyReader.open(path)


def test_a_file_of_another_version_asks_for_a_new_import(tmp_path):
    path = tmp_path / "a.taxonomy"
    with TaxonomyWriter(path) as writer:
        writer.add_node("Sports")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="version 99"):
        TaxonomyReader.open(path)


def test_a_file_of_version_1_which_has_no_keywords_is_read(tmp_path):
    path = tmp_path / "a.taxonomy"
    with TaxonomyWriter(path) as writer:
        writer.add_node("Sports")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE keyword")
        db.execute("PRAGMA user_version = 1")
    with TaxonomyReader.open(path) as taxonomy:
        assert (taxonomy.node("Sports").labels, taxonomy.node("Sports").keywords) == ({"en": "Sports"}, {})
        assert [node.path for node, _ in taxonomy.find("sports")] == ["Sports"]


def test_keywords_are_read_in_their_order_and_found_after_labels():
    writer = TaxonomyWriter()
    writer.add_keywords("Sports/Basketball", "en", ["slam dunk", "court"])
    writer.add_node("Law/Court")
    writer.finish()
    with TaxonomyReader(writer.db, "words") as taxonomy:
        assert taxonomy.node("Sports/Basketball").keywords == {"en": ["slam dunk", "court"]}
        assert [node.path for node, _ in taxonomy.find("court")] == ["Law/Court", "Sports/Basketball"]


def test_a_label_that_looks_like_the_boundary_of_labels_is_indexed_too():
    writer = TaxonomyWriter()
    writer.add_node("xlabelboundaryx tennis")
    writer.add_node("Golf")
    writer.finish()
    with TaxonomyReader(writer.db, "words") as taxonomy:
        assert [node.path for node, _ in taxonomy.find("golf")] == ["Golf"]


def test_a_damaged_file_is_an_error_of_ours(tmp_path):
    path = tmp_path / "a.taxonomy"
    path.write_bytes(b"SQLite format 3\0" + b"\x99" * 5_000)
    with pytest.raises(StoreError, match="cannot be used"):
        TaxonomyReader.open(path)


def test_find_takes_no_short_word_for_the_beginning_of_another():
    with TaxonomyReader.bundled() as taxonomy:
        assert [node.path for node, _ in taxonomy.find("tea")] == ["Food/Drinks/Tea"]
        assert "Education" in [node.path for node, _ in taxonomy.find("teach")]
