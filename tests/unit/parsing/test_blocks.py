"""A page falls into blocks, and every link knows its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.parsing.dom import MIN_TOKENS
from thresher.parsing.html import parse

LONG = "one two three four five six seven eight nine ten"
OTHER = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
TAGS = ("<div>", "</div>", "<ul>", "<li>", "</ul>", "<table><tr><td>", "</table>", "<h2>", "</h2>", "<p>", "<nav>")
MARKUP = st.lists(st.sampled_from((*TAGS, "word ", "南开大学", "<a href=x>link</a>", LONG)), max_size=40).map("".join)


def page_of(markup):
    return parse("http://a.example/", f"<body>{markup}".encode())


def blocks_of(markup):
    return [" ".join(block.split()) for block in page_of(markup).blocks]


def test_every_block_element_is_a_block():
    assert blocks_of(f"<div>{LONG}</div><ul><li>{OTHER}</ul>") == [LONG, OTHER]


def test_text_belongs_to_the_deepest_block_around_it():
    assert blocks_of(f"<div>{LONG}<div>{OTHER}</div> end</div>") == [f"{LONG} end", OTHER]


def test_paragraphs_items_and_rows_are_no_blocks():
    assert blocks_of(f"<p>{LONG}</p><p>{OTHER}</p>") == [f"{LONG} {OTHER}"]
    assert blocks_of(f"<ul><li>{LONG}<li>{OTHER}</ul>") == [f"{LONG} {OTHER}"]


def test_a_block_of_a_few_words_joins_the_next():
    assert blocks_of(f"<div>few words</div><div>{LONG}</div>") == [f"few words {LONG}"]


def test_the_last_of_a_few_words_joins_the_one_before():
    assert blocks_of(f"<div>{LONG}</div><div>few words</div>") == [f"{LONG} few words"]


def test_a_small_block_stays_inside_the_element_around_it():
    blocks = blocks_of(f"<main><div>{LONG}</div><div>end</div></main><footer><div>{OTHER}</div></footer>")
    assert blocks == [f"{LONG} end", OTHER]


def test_small_blocks_in_wrappers_of_their_own_join_as_the_wrappers_would():
    cards = "".join(f"<div><div>card {number}</div></div>" for number in range(MIN_TOKENS // 2))
    assert blocks_of(f"{cards}<div>{LONG}</div>") == ["card 0 card 1 card 2 card 3 card 4", LONG]


def test_a_few_words_before_a_list_join_it():
    assert blocks_of(f"<div>Our list: <ul><li>{LONG}</ul></div>") == [f"Our list: {LONG}"]


def test_small_cells_of_a_table_come_together():
    cells = "".join(f"<td>cell {number}</td>" for number in range(5))
    assert blocks_of(f"<table><tr>{cells}</table><div>{LONG}</div>") == ["cell 0 cell 1 cell 2 cell 3 cell 4", LONG]


def test_in_chinese_ten_characters_stand_for_themselves():
    assert blocks_of("<div>天地玄黄宇宙洪荒日月</div><div>寒来暑往秋收冬藏闰余</div>") == [
        "天地玄黄宇宙洪荒日月",
        "寒来暑往秋收冬藏闰余",
    ]
    assert blocks_of("<div>天地玄黄</div><div>寒来暑往秋收冬藏闰余</div>") == ["天地玄黄 寒来暑往秋收冬藏闰余"]


@pytest.mark.parametrize("heading", ["<h2>Title</h2>", "<header><h1>Title</h1></header>", "<h1>Ti<b>tle</b></h1>"])
def test_a_heading_joins_what_follows(heading):
    assert blocks_of(f"<div>{LONG}{heading}<ul><li>{OTHER}</ul></div>") == [LONG, f"Title {OTHER}"]


def test_headings_in_a_row_join_what_follows_the_last():
    assert blocks_of(f"<div>{LONG}<h1>A</h1><h2>B</h2><ul><li>{OTHER}</ul></div>") == [LONG, f"A B {OTHER}"]


def test_a_heading_stays_where_its_own_block_goes_on():
    assert blocks_of(f"<div>{LONG}<h2>Title</h2>{OTHER}</div>") == [f"{LONG} Title {OTHER}"]


def test_a_heading_that_nothing_follows_stays():
    assert blocks_of(f"<div>{LONG}<h2>Title</h2></div>") == [f"{LONG} Title"]


def test_a_heading_goes_on_in_the_block_around_its_own():
    blocks = blocks_of(f"<div>{LONG}<h1>A</h1>{LONG}<section><h2>B</h2></section>{OTHER}</div>")
    assert blocks == [f"{LONG} A {LONG} B {OTHER}"]


def test_links_know_their_block():
    page = page_of(f"<div>{LONG} <a href=1>a</a></div><div>{OTHER} <a href=2>b</a></div><div><a href=3>c</a></div>")
    assert [link.block for link in page.links] == [0, 1, 1]


def test_a_link_in_a_heading_moves_with_it():
    page = page_of(f"<div>{LONG}<h2><a href=1>Title</a></h2><ul><li>{OTHER}</ul></div>")
    assert [link.block for link in page.links] == [1]
    assert page.links[0].context == LONG  # the words around it are those of the block that it stands in


def test_a_page_of_pictures_is_one_block_without_text():
    page = page_of("<div><a href=1><img></a></div><div><a href=2><img></a></div>")
    assert (page.blocks, [link.block for link in page.links]) == (("",), [0, 0])


def test_plain_text_is_one_block():
    assert parse("http://a.example/", b"some words", "text/plain").blocks == ("some words",)


def test_an_empty_page_has_none():
    assert page_of("").blocks == ()


@given(MARKUP)
def test_the_blocks_together_are_the_text_and_every_link_is_in_one(markup):
    page = page_of(markup)
    assert sorted("".join(" ".join(page.blocks).split())) == sorted("".join(page.text.split()))
    assert all(0 <= link.block < len(page.blocks) for link in page.links)
