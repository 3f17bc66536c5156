"""The taxonomy that ships with Thresher is complete in both languages, and stays usable."""

import time
from pathlib import Path

import pytest

from testing.bundled_spellings import FILE, with_spellings
from thresher.errors import ConfigError
from thresher.topics.profile import UrlEvidence
from thresher.topics.taxonomy.bundled import bundled_nodes, bundled_token_table, parse_bundled
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.token_table import TokenTable, fold, is_chinese

NODES = {node.path: node for node in bundled_nodes()}
RELEASED = Path(__file__).with_name("bundled_paths.txt")
LARGEST, SLOWEST_SECONDS = 400_000, 0.06


@pytest.fixture(scope="module")
def taxonomy():
    with TaxonomyReader.bundled() as taxonomy:
        yield taxonomy


def test_it_has_at_least_300_nodes_on_three_levels():
    assert len(NODES) >= 300
    assert {path.count("/") + 1 for path in NODES} == {1, 2, 3}


def test_no_path_and_no_label_is_there_twice():
    assert len(NODES) == len(bundled_nodes())
    for language in ("en", "zh"):
        assert len({fold(node.labels[language]) for node in bundled_nodes()}) == len(NODES)


def test_parents_come_before_their_children():
    seen = {""}
    for path in NODES:
        assert path.rpartition("/")[0] in seen
        seen.add(path)


def test_every_node_has_labels_descriptions_and_keywords_in_both_languages():
    for node in bundled_nodes():
        for language in ("en", "zh"):
            assert node.labels[language], node.path
            assert node.descriptions[language][-1] in ".。", node.path
            assert 6 <= len(set(node.keywords[language])) == len(node.keywords[language]) <= 12, node.path


def test_chinese_fields_are_chinese_and_english_ones_are_not():
    for node in bundled_nodes():
        chinese = (node.labels["zh"], node.descriptions["zh"], *node.keywords["zh"])
        assert all(map(is_chinese, chinese)), node.path
        assert not any(map(is_chinese, (node.labels["en"], node.descriptions["en"], *node.keywords["en"]))), node.path


def test_spellings_are_written_as_in_urls():
    for node in bundled_nodes():
        row = node.row
        assert row.pinyin, node.path
        for spelling in (*row.words, *row.abbreviations, *row.pinyin, *row.initials):
            assert spelling == fold(spelling) != "", node.path


def test_pinyin_and_initials_are_those_of_the_labels():
    text = FILE.read_text(encoding="utf-8")
    assert with_spellings(text) == text, "run python -m testing.bundled_spellings"


@pytest.mark.parametrize("path", NODES)
def test_url_evidence_finds_every_spelling(path):
    evidence = UrlEvidence([[NODES[path].labels]], bundled_token_table())
    row = NODES[path].row
    for spelling in (fold(row.labels[0]), *row.words, *row.pinyin):
        assert evidence.score(f"http://www.example.com/about-{spelling}/") == 1.0, spelling
    for spelling in (*row.abbreviations, *row.initials):
        assert evidence.score(f"http://www.example.com/about-{spelling}/") > 0, spelling


def test_the_shipped_token_table_stays_in_force():
    for row in TokenTable.shipped():
        assert row.spellings().keys() <= bundled_token_table().find(row.labels[0]).spellings().keys()


def test_the_reader_has_all_of_a_node(taxonomy):
    node = taxonomy.node("Sports/Basketball")
    assert node.labels == {"en": "Basketball", "zh": "篮球"}
    assert set(node.descriptions) == set(node.keywords) == {"en", "zh"}
    assert taxonomy.size() == (len(NODES), 0)
    assert [child.path for child in taxonomy.children("Sports/Basketball")] == ["Sports/Basketball/NBA"]


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("basketball", "Sports/Basketball"),
        ("篮球", "Sports/Basketball"),
        ("movies", "Arts/Film"),
        ("volcano", "Science/Earth_Sciences/Volcanoes"),
    ],
)
def test_labels_and_keywords_are_found(taxonomy, words, path):
    assert taxonomy.find(words)[0][0].path == path


def test_released_paths_stay():
    missing = set(RELEASED.read_text(encoding="utf-8").split()) - NODES.keys()
    assert missing == set(), "a topic.yaml may name it"


def test_new_paths_are_recorded():
    new = NODES.keys() - set(RELEASED.read_text(encoding="utf-8").split())
    assert new == set(), f"add them to {RELEASED.name}"


def test_it_is_small_and_opens_at_once():
    assert FILE.stat().st_size < LARGEST
    assert "Licence: Apache-2.0" in FILE.read_text(encoding="utf-8").splitlines()[0]
    assert min(map(_opening_seconds, range(5))) < SLOWEST_SECONDS


def _opening_seconds(_):
    bundled_nodes.cache_clear()
    start = time.process_time()
    TaxonomyReader.bundled().close()
    return time.process_time() - start


def test_a_line_without_all_columns_is_refused():
    with pytest.raises(ConfigError, match="'Sports': the columns must be path, zh"):
        list(parse_bundled(FILE.read_text(encoding="utf-8") + "Sports\t体育\n"))
