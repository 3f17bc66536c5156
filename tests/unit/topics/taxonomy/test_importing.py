"""Files are known by their content, packed or not, and become one taxonomy."""

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from thresher.errors import ConfigError, StoreError
from thresher.topics.taxonomy.importing import TaxonomyFormat, import_taxonomy, open_source
from thresher.topics.taxonomy.taxonomy import TaxonomyReader

RDF = b'<?xml version="1.0"?><RDF><Topic r:id="Top/Arts"/></RDF>'


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (RDF, TaxonomyFormat.RDF),
        (b"\xef\xbb\xbf\n" + RDF, TaxonomyFormat.RDF),
        (gzip.compress(RDF, mtime=0), TaxonomyFormat.RDF),
        (zstandard.compress(RDF), TaxonomyFormat.RDF),
        (b"Sports/Basketball\nArts\n", TaxonomyFormat.TSV),
        (b"id\tpath\n1\tSports: all of them\n", TaxonomyFormat.TSV),
        (b'{"category": "x"}\n', TaxonomyFormat.JSON_LINES),
        (b"Sports: [Basketball]\n", TaxonomyFormat.YAML),
        (b"# mine\nSports:\n  - Basketball\n", TaxonomyFormat.YAML),
    ],
)
def test_a_file_is_known_by_its_content(tmp_path, data, kind):
    (tmp_path / "file").write_bytes(data)
    with open_source(tmp_path / "file") as source:
        assert source.kind is kind


def test_files_of_several_kinds_become_one_taxonomy(tmp_path):
    (tmp_path / "a.rdf.gz").write_bytes(gzip.compress(RDF, mtime=0))
    (tmp_path / "b.tsv").write_text("Arts/Music\t音乐\n", encoding="utf-8")
    (tmp_path / "c.yaml").write_text("Sports: [Tennis]\n")
    files = [tmp_path / name for name in ("a.rdf.gz", "b.tsv", "c.yaml")]
    imported = import_taxonomy(files, tmp_path / "all.taxonomy")
    assert (imported.nodes, imported.examples) == (4, 0)
    with TaxonomyReader.open(tmp_path / "all.taxonomy") as taxonomy:
        assert [node.path for node in taxonomy.children()] == ["Arts", "Sports"]


def test_the_counts_are_reported_as_they_grow(tmp_path):
    (tmp_path / "b.tsv").write_text("Arts/Music\nArts/Film\n")
    progress = []
    import_taxonomy([tmp_path / "b.tsv"], tmp_path / "t", progress=lambda so_far: progress.append(so_far.nodes))
    assert progress[-1] == 3


def test_a_taxonomy_is_never_written_over(tmp_path):
    (tmp_path / "b.tsv").write_text("Arts\n")
    (tmp_path / "t").write_text("mine")
    with pytest.raises(ConfigError, match="is there already"):
        import_taxonomy([tmp_path / "b.tsv"], tmp_path / "t")
    assert (tmp_path / "t").read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    (tmp_path / "b.tsv").write_text("Arts\n")
    with pytest.raises(ConfigError, match="there is no folder"):
        import_taxonomy([tmp_path / "b.tsv"], tmp_path / "nowhere" / "t")


@pytest.mark.parametrize(
    ("data", "error", "printed"),
    [
        (b"", ConfigError, "is empty"),
        (b'{"name": "no path here"}\n', ConfigError, r"no topic in it \(1 lines left out\)"),
        (gzip.compress(RDF, mtime=0)[:-9], StoreError, "cannot be unpacked"),
        (zstandard.compress(RDF * 5_000)[:40], StoreError, "cannot be unpacked"),
    ],
)
def test_a_file_of_no_use_leaves_no_taxonomy(tmp_path, data, error, printed):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(error, match=printed):
        import_taxonomy([tmp_path / "file"], tmp_path / "t")
    assert not list(tmp_path.glob("t*"))


def completed(tmp_path, lines, **options):
    """Import a table; return the number of completed topics, and the taxonomy."""
    (tmp_path / "b.tsv").write_text(lines, encoding="utf-8")
    imported = import_taxonomy([tmp_path / "b.tsv"], tmp_path / "t", **options)
    return imported.completed, TaxonomyReader.open(tmp_path / "t")


def test_english_topics_get_chinese_names_and_keywords_of_the_bundled_taxonomy(tmp_path):
    number, taxonomy = completed(tmp_path, "Sports/Basketball\nSports/Quidditch\n")
    with taxonomy:
        assert number == 2
        assert taxonomy.labels("Sports/Basketball") == [
            {"en": "Sports", "zh": "体育"},
            {"en": "Basketball", "zh": "篮球"},
        ]
        assert list(taxonomy.node("Sports/Basketball").keywords) == ["zh"]
        assert taxonomy.node("Sports/Quidditch").labels == {"en": "Quidditch"}
        assert [node.path for node, _ in taxonomy.find("篮球")] == ["Sports/Basketball"]


def test_chinese_topics_get_english_names(tmp_path):
    number, taxonomy = completed(tmp_path, "体育/篮球\n")
    with taxonomy:
        assert number == 2
        assert taxonomy.node("体育/篮球").labels == {"en": "Basketball", "zh": "篮球"}


def test_other_names_of_the_token_table_count_for_completion(tmp_path):
    _, taxonomy = completed(tmp_path, "Movies\n")
    with taxonomy:
        assert taxonomy.node("Movies").labels == {"en": "Movies", "zh": "电影"}


def test_labels_of_the_file_are_never_replaced(tmp_path):
    number, taxonomy = completed(tmp_path, "Basketball\t我的篮球\n")
    with taxonomy:
        assert number == 0
        assert taxonomy.node("Basketball").labels == {"en": "Basketball", "zh": "我的篮球"}


def test_completion_can_be_switched_off(tmp_path):
    number, taxonomy = completed(tmp_path, "Basketball\n", complete=False)
    with taxonomy:
        assert number == 0
        assert taxonomy.node("Basketball").labels == {"en": "Basketball"}


def test_completed_labels_are_no_description_of_the_topic(tmp_path):
    _, taxonomy = completed(tmp_path, "Basketball\n")
    with taxonomy:
        assert list(taxonomy.description("Basketball")) == []


WEBS = os.environ.get("THRESHER_WEBS", "")


@pytest.mark.skipif(not WEBS, reason="THRESHER_WEBS is not set")
@pytest.mark.parametrize(
    ("name", "nodes", "examples"),
    [
        ("odp239_taxonomy.tsv.zst", 2_538, 0),
        ("dmoz_entries_sample.tsv.zst", 1_461, 7_060),
        ("nav_directory_zh.jsonl.zst", 316, 4_333),
    ],
)
def test_real_tables_are_read(tmp_path, name, nodes, examples):
    source = Path(WEBS) / name
    if not source.exists():
        pytest.skip(f"no {name}")
    imported = import_taxonomy([source], tmp_path / "t")
    assert (imported.nodes, imported.examples) == (nodes, examples)
