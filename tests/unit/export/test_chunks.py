"""Chunks follow the headings of a page, and none is longer than it may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.export.chunks import CHUNK_COLUMNS, Chunk, chunk_rows, chunks_of
from thresher.parsing.main_content import PageContent, content_of_markup, content_of_text
from thresher.parsing.metadata import PageMetadata
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord

WORDS = "Some words stand here. " * 4


def blocks(html):
    return content_of_markup("http://a.example/", f"<body>{html}</body>").blocks


def test_a_section_is_a_chunk_with_its_headings():
    found = list(
        chunks_of(blocks(f"<h1>A</h1><p>{WORDS}</p><h2>B</h2><p>{WORDS}</p><h2>C</h2><p>{WORDS}</p>"), characters=1000)
    )
    assert [chunk.headings for chunk in found] == [("A",), ("A", "B"), ("A", "C")]
    assert found[1].text == f"## B\n\n{WORDS.strip()}"


def test_a_heading_without_text_stands_before_the_next_one():
    [chunk] = chunks_of(blocks(f"<h1>A</h1><h2>B</h2><p>{WORDS}</p>"), characters=1000)
    assert chunk == Chunk(("A", "B"), f"# A\n\n## B\n\n{WORDS.strip()}")


def test_a_long_paragraph_is_split_after_sentences():
    found = list(chunks_of(blocks(f"<p>{WORDS * 10}</p>"), characters=200))
    assert all(chunk.text.endswith(".") and len(chunk.text) <= 200 for chunk in found)
    assert " ".join(chunk.text for chunk in found) == (WORDS * 10).strip()


def test_chinese_is_split_after_sentences():
    found = list(chunks_of(blocks(f"<p>{'这里有一些文字。' * 50}</p>"), characters=100))
    assert all(chunk.text.endswith("。") and len(chunk.text) <= 100 for chunk in found)


def test_a_long_table_is_split_between_rows_with_its_header():
    rows = "".join(f"<tr><td>name {number}<td>{number}</tr>" for number in range(50))
    found = list(chunks_of(blocks(f"<p>{WORDS}</p><table><tr><th>Name<th>No</tr>{rows}</table>"), characters=200))
    assert all(chunk.text.startswith("| Name | No |\n| --- | --- |\n| name") for chunk in found[1:])
    assert sum(chunk.text.count("| name") for chunk in found) == 50


def test_long_code_is_split_between_lines():
    lines = "\n".join(f"line_{number}()" for number in range(60))
    found = list(chunks_of(blocks(f"<p>{WORDS}</p><pre>{lines}</pre>"), characters=200))
    assert all(chunk.text.startswith("```\n") and chunk.text.endswith("\n```") for chunk in found[1:])


def test_the_next_chunk_repeats_the_end_of_the_one_before():
    one, two, *_ = chunks_of(blocks(f"<p>{WORDS}</p><p>Other words follow. {WORDS}</p>"), characters=150, overlap=30)
    assert two.text.startswith("here. Some words stand here.\n\nOther words follow.")
    assert one.text.endswith("Some words stand here.")


@given(
    st.lists(st.text(alphabet="ab .。\n#|*[]`<", max_size=400), max_size=6),
    st.integers(min_value=100, max_value=500),
    st.integers(min_value=0, max_value=99),
)
def test_no_chunk_is_longer_than_it_may_be_and_no_text_is_lost(texts, characters, overlap):
    content = content_of_text("\n".join(texts))
    found = [chunk.text for chunk in chunks_of(content.blocks, characters=characters, overlap=overlap)]
    assert all(0 < len(text) <= characters for text in found)
    if not overlap:
        assert "".join("".join(found).split()) == "".join(content.markdown.split())


def test_a_row_holds_what_a_retriever_needs():
    record = PageRecord(
        fingerprint=7,
        url="http://a.example/",
        status=200,
        outcome=Outcome.DONE,
        fetched_at=1.0,
        language="en",
        title="T",
    )
    content = PageContent(blocks(f"<h1>A</h1><p>{WORDS}</p>"), PageMetadata(author="B"))
    [row] = chunk_rows([(record, content)])
    assert list(row) == list(CHUNK_COLUMNS)
    assert (row["id"], row["headings"], row["position"]) == ("0000000000000007-0", "A", 0)
    assert (row["author"], row["language"], len(row["hash"])) == ("B", "en", 16)


@pytest.mark.parametrize("overlap", [0, 50])
def test_the_same_pages_give_the_same_chunks(overlap):
    page = blocks(f"<h1>A</h1><p>{WORDS * 20}</p>")
    assert list(chunks_of(page, characters=300, overlap=overlap)) == list(
        chunks_of(page, characters=300, overlap=overlap)
    )
