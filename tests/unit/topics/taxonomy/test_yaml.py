"""A taxonomy by hand: as short as a list of names, strict in all that it says."""

import io

import pytest

from thresher.errors import ConfigError
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.taxonomy.writer import TaxonomyWriter
from thresher.topics.taxonomy.yaml import MAX_BYTES, read_yaml


def read(text):
    writer = TaxonomyWriter()
    try:
        read_yaml(io.BytesIO(text.encode() if isinstance(text, str) else text), "mine.yaml", writer)
    except BaseException:
        writer.db.close()
        raise
    writer.finish()
    return TaxonomyReader(writer.db, "mine.yaml")


def test_names_in_two_languages_are_parted_by_script():
    with read("Sports 体育: [Basketball 篮球, Football 足球, 乒乓球]\n") as taxonomy:
        assert taxonomy.node("Sports").labels == {"en": "Sports", "zh": "体育"}
        assert taxonomy.node("Sports/Football").labels == {"en": "Football", "zh": "足球"}
        assert taxonomy.node("Sports/乒乓球").labels == {"zh": "乒乓球"}


def test_names_may_nest_as_lists_or_mappings():
    with read("Sports:\n  Basketball: [NBA]\n  Tennis:\nArts:\n  - Music: [Jazz]\n  - Film\n") as taxonomy:
        nodes = ["Sports/Basketball/NBA", "Sports/Tennis", "Arts/Music/Jazz", "Arts/Film"]
        assert [taxonomy.node(path).path for path in nodes] == nodes


def test_details_say_labels_description_examples_and_children():
    text = """
Science:
  zh: 科学
  description: {en: Research., zh: 研究。}
  examples:
    - https://a.example/
    - {url: "https://b.example/", title: B, description: All of B}
  children: [Physics 物理]
"""
    with read(text) as taxonomy:
        node = taxonomy.node("Science")
        assert node.labels == {"en": "Science", "zh": "科学"}
        assert node.descriptions == {"en": "Research.", "zh": "研究。"}
        assert [page.text for page in taxonomy.examples("Science")] == ["", "B All of B"]
        assert taxonomy.node("Science/Physics").labels["zh"] == "物理"


def test_a_description_goes_to_the_language_of_its_script():
    with read("Sports:\n  description: 各种运动\n") as taxonomy:
        assert taxonomy.node("Sports").descriptions == {"zh": "各种运动"}


def test_words_are_taken_as_written():
    with read("Countries: [no, 1984, null]\n") as taxonomy:
        assert [node.path for node in taxonomy.children("Countries")] == ["Countries/1984", "Countries/no",
                                                                          "Countries/null"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Sports:\n  zh: 体育\n  childs: [Tennis]\n", "mine.yaml:3: unknown key childs; known here: children, "),
        ("Sports: [Tennis]\nSports: [Golf]\n", "mine.yaml:2: Sports is given twice."),
        ("Sports: Tennis\n", "mine.yaml:1: found 'Tennis'; expected a list or a mapping of names."),
        ("A:\n  - B/C\n", "mine.yaml:2: found 'B/C'; a name may not contain a slash"),
        ("A:\n  examples: [ftp://x.example]\n", "mine.yaml:2: found 'ftp://x.example'; expected an http"),
        ("A:\n  examples: [{title: x}]\n", "mine.yaml:2: found a mapping; expected an http"),
        ("A:\n  examples: https://x.example\n", "expected a list of URLs"),
        ("A:\n  zh: [x]\n", "mine.yaml:2: found a list; expected text."),
        ("A: [[B]]\n", "mine.yaml:1: found a list; expected text."),
        ("? [A]\n: B\n", "expected text"),
        ("a: &a [x]\nb: *a\n", "mine.yaml:2: aliases (*a) are not read"),
        ("a: !!python/object/apply:os.system ['true']\n", "mine.yaml:1: found the tag 'tag:yaml.org,2002:python"),
        ("a: !x [b]\n", "the tag '!x'"),
        ("a: [x\n", "not YAML"),
        ("[" * 5_000, "mine.yaml:1: nested too deeply"),
        ("# nothing\n", "no topic in it"),
        (b"a: \xff\n", "not UTF-8 text (byte 3)"),
        (b"#" * (MAX_BYTES + 1), "more than 1 MB of YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(text, printed):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert printed in str(caught.value)
