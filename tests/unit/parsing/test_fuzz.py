"""Markup of any kind gives a record that everything behind the parser can use."""

from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.parsing.dom import MAX_LINKS
from thresher.parsing.html import MAX_FIELD_CHARACTERS, parse
from thresher.text.tokens import count
from thresher.urls.canonical import canonicalize

TAGS = [
    "<title>", "</title>", "<a href='/x'>", '<a href="', "</a>", "<area href=y>", "<base href='//b.example/'>",
    "<base href=':'>", "<h1>", "</h1>", "<p>", "</p>", "<div>", "</div>", "<table><td>", "</table>", "<template>",
    "</template>", "<svg>", "<math>", "<iframe src=z>", "<frameset><frame src=z>", "<img alt='p'>", "<select><option>",
    "<plaintext>", "<script>", "</script>", "<noscript>", "<!--", "-->", "<![CDATA[", "<!doctype html>", "<b a=1>",
    "<font size=1>", "</b>", "<meta charset=gbk>", "<meta name=robots content=none>",
    "<meta name=keywords content='k'>", "<html lang=zh_CN>", "<x", ">", "<", "='", '"',
]  # fmt: skip
TEXT = [
    "words", " ", "\n", "\0", "中文", "é", "&amp;", "&#0;", "&#x1b;", "&#xd800;", "&#x110000;", "&", "\ud800", "\u202e",
    "~{", "a" * 500, "javascript:", "../", "%", "http://a.example/", "#",
]  # fmt: skip
MARKUP = st.lists(st.sampled_from(TAGS + TEXT), max_size=40).map(
    lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")
)
HEADERS = ["", "text/html; charset=gbk", "text/html; charset=utf-16", "text/html; charset=hz", "text/plain"]


@settings(deadline=None)
@given(
    st.one_of(MARKUP, st.binary(max_size=300), st.tuples(MARKUP, st.binary(max_size=20)).map(b"".join)),
    st.sampled_from(HEADERS),
)
def test_any_bytes_give_a_page_whose_parts_are_usable(body, content_type):
    page = parse("http://a.example/dir/", body, content_type)
    for text in (page.title, page.text, page.keywords, *page.headings, *(link.anchor for link in page.links)):
        text.encode("utf-8")
    assert len(page.title) <= MAX_FIELD_CHARACTERS
    assert len(page.links) <= MAX_LINKS
    assert all(canonicalize(link.url) == link.url for link in page.links)
    assert all(0 <= link.block <= len(page.blocks) for link in page.links)  # weak links are in no block
    count(page.text)
