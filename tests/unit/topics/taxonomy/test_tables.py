"""Tables of topics are read as far as they can be."""

import io

import pytest

from thresher.topics.taxonomy.tables import read_json_lines, read_tsv
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.taxonomy.writer import TaxonomyWriter


def read(text, reader=read_tsv):
    writer = TaxonomyWriter()
    skipped = sum(skipped for _, skipped in reader(io.BytesIO(text.encode()), writer))
    writer.finish()
    return TaxonomyReader(writer.db, "table"), skipped


def test_a_path_per_line_is_enough():
    taxonomy, _ = read("Sports/Basketball\n# a remark\n\nSports/Tennis\n")
    with taxonomy:
        assert [node.path for node in taxonomy.children("Sports")] == ["Sports/Basketball", "Sports/Tennis"]


def test_columns_are_found_by_their_names():
    taxonomy, _ = read("id\ttopic\turl\ttitle\tdescription\n1\tTop/Arts\thttp://a.example/\tA\tAll of A\n")
    with taxonomy:
        assert [page.text for page in taxonomy.examples("Arts")] == ["A All of A"]
        assert taxonomy.node("Arts").descriptions == {}


@pytest.mark.parametrize(
    ("line", "zh", "about", "pages"),
    [
        ("Sports\t体育", "体育", {}, []),
        ("Sports\t体育\tAll the games.", "体育", {"en": "All the games."}, []),
        ("Sports\t体育\tAll the games.\thttp://a.example/\tA", "体育", {"en": "All the games."}, ["A"]),
        ("Sports\thttp://a.example/\tA\tof a", None, {}, ["A of a"]),
    ],
)
def test_without_names_the_columns_have_an_order(line, zh, about, pages):
    taxonomy, _ = read(line)
    with taxonomy:
        node = taxonomy.node("Sports")
        assert (node.labels.get("zh"), node.descriptions) == (zh, about)
        assert [page.text for page in taxonomy.examples("Sports")] == pages


def test_json_lines_use_the_same_names():
    taxonomy, skipped = read(
        '{"category": "技术/社区", "url": "http://a.example/", "title": "A", "source": 1}\nno json\n[1]\n',
        read_json_lines,
    )
    with taxonomy:
        assert taxonomy.node("技术/社区").labels == {"zh": "社区"}
        assert taxonomy.size() == (2, 1)
    assert skipped == 2


def test_lines_of_no_use_are_counted():
    taxonomy, skipped = read("path\turl\nSports\tftp://a.example/\n\thttp://b.example/\nArts\thttp://c.example/\n")
    with taxonomy:
        assert taxonomy.size() == (2, 1)
    assert skipped == 2
