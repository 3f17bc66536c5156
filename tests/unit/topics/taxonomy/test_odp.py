"""ODP's dump as it is: both files, both languages, broken bytes; and nothing that expands."""

import io

import pytest

from thresher.errors import ConfigError
from thresher.topics.taxonomy import importing
from thresher.topics.taxonomy.importing import RepairedText, read_odp
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.taxonomy.writer import TaxonomyWriter

HEAD = b"""<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
"""
STRUCTURE = """
<Topic r:id=""><catid>0</catid></Topic>
<Topic r:id="Top/Sports"><d:Title>Sports</d:Title>
  <narrow r:resource="Top/Sports/Basketball"/>
  <altlang r:resource="Chinese_Simplified:Top/World/Chinese_Simplified/体育"/></Topic>
<Topic r:id="Top/Sports/Water_Polo"><d:Title>Water_Polo</d:Title>
  <d:Description>The &lt;b&gt;wet&lt;/b&gt; game &amp;amp; its rules.</d:Description>
  <symbolic r:resource="Rules: a list:Top/Sports/Rules"/><related r:resource="Top/Sports/Swimming"/></Topic>
<Topic r:id="Top/World/Chinese_Simplified/体育"><d:Title>体育</d:Title></Topic>
</RDF>""".encode()
CONTENT = """
<Topic r:id="Top/Sports/Water_Polo"><link r:resource="http://a.example/"/><link1 r:resource="http://b.example/"/></Topic>
<ExternalPage about="http://a.example/"><d:Title>A</d:Title><d:Description>About A.</d:Description>
  <topic>Top/Sports/Water_Polo</topic></ExternalPage>
<Topic r:id="Top/World/Chinese_Simplified/体育"/>
<ExternalPage about="http://c.example/?x=1&amp;y=2"><d:Title>体育网</d:Title>
  <topic>Top/World/Chinese_Simplified/体育</topic></ExternalPage>
<ExternalPage about="javascript:alert(1)"><topic>Top/Sports</topic></ExternalPage>
</RDF>""".encode()


def read(*files):
    writer = TaxonomyWriter()
    damage = (0, 0)
    try:
        for data in files:
            for repaired, skipped in read_odp(io.BytesIO(data), "some.rdf", writer):
                damage = (damage[0] + repaired, damage[1] + skipped)
    except BaseException:
        writer.db.close()
        raise
    writer.finish()
    return TaxonomyReader(writer.db, "odp"), damage


@pytest.mark.parametrize("files", [(STRUCTURE, CONTENT), (CONTENT, STRUCTURE)], ids=["in order", "content first"])
def test_both_files_make_one_taxonomy(files):
    taxonomy, damage = read(*(HEAD + file for file in files))
    with taxonomy:
        assert taxonomy.node("Sports").labels == {"en": "Sports", "zh": "体育"}
        assert taxonomy.node("Sports/Water_Polo").labels == {"en": "Water Polo"}
        assert taxonomy.node("Sports").urls_below == 2
    assert damage == (0, 1)


def test_descriptions_lose_their_markup():
    taxonomy, _ = read(HEAD + STRUCTURE)
    with taxonomy:
        assert taxonomy.node("Sports/Water_Polo").descriptions == {"en": "The wet game & its rules."}


def test_links_of_a_topic_count_once_and_also_without_a_page():
    taxonomy, _ = read(HEAD + CONTENT)
    with taxonomy:
        pages = [(page.url, page.text) for page in taxonomy.examples("Sports/Water_Polo")]
        assert pages == [("http://a.example/", "A About A."), ("http://b.example/", "")]


def test_a_chinese_page_is_filed_under_its_chinese_node():
    taxonomy, _ = read(HEAD + CONTENT)
    with taxonomy:
        [page] = taxonomy.examples("World/Chinese_Simplified/体育")
        assert (page.url, page.title) == ("http://c.example/?x=1&y=2", "体育网")


def test_symbolic_and_related_links_are_kept():
    taxonomy, _ = read(HEAD + STRUCTURE)
    with taxonomy:
        assert taxonomy.links("Sports/Water_Polo", "symbolic") == ["Sports/Rules"]
        assert taxonomy.links("Sports/Water_Polo", "related") == ["Sports/Swimming"]


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [(b"a\x07b", 1), (b"\xff\xfe", 2), (b"\xe7\xaf", 1), (b"R&D", 1), (b"&#7;&#x0;", 2), (b"&nbsp;", 1),
     (b"&amp;&lt;&#228;&#x4e2d;", 0), ("\ufffd".encode(), 0), (b"\xed\xa0\x80", 3)],
)  # fmt: skip
def test_broken_characters_are_repaired_and_counted(broken, repaired):
    data = b'<Topic r:id="Top/Arts"><d:Title>x ' + broken + b" y</d:Title></Topic></RDF>"
    taxonomy, damage = read(HEAD + data)
    with taxonomy:
        label = taxonomy.node("Arts").labels["en"]
    assert label[0] + label[-1] == "xy"
    assert damage[0] == repaired


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_the_border_of_two_chunks_breaks_nothing(monkeypatch, size):
    monkeypatch.setattr(importing, "_CHUNK", size)
    text = "篮球 &amp; R&D \ufffd &#20013; 体育"
    repaired = RepairedText(io.BytesIO(text.encode()))
    assert "".join(repaired) == "篮球 &amp; R&amp;D \ufffd &#20013; 体育"
    assert repaired.take_count() == 1


def test_entities_and_document_types_are_refused():
    bomb = b'<!DOCTYPE RDF [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><RDF><Topic r:id="Top/&b;"/></RDF>'
    with pytest.raises(ConfigError, match=r"some\.rdf: it declares a document type"):
        read(bomb)


def test_a_tag_without_end_is_not_read_into_memory(monkeypatch):
    monkeypatch.setattr(importing, "_MAX_TOKEN_CHARACTERS", 1 << 20)
    endless = b'<RDF><Topic r:id="' + b"x" * (3 << 20) + b'"/></RDF>'
    with pytest.raises(ConfigError, match="no end of a tag"):
        read(endless)


def test_a_torn_file_is_reported_with_its_line():
    with pytest.raises(ConfigError, match=r"some\.rdf:\d+: not well-formed XML: .*is the file complete"):
        read(HEAD + STRUCTURE[:300])


def test_a_description_without_end_is_cut():
    data = b'<Topic r:id="Top/Arts"><d:Description>' + b"word " * 100_000 + b"</d:Description></Topic></RDF>"
    taxonomy, _ = read(HEAD + data)
    with taxonomy:
        assert len(taxonomy.node("Arts").descriptions["en"]) < 5_001
