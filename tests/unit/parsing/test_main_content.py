"""The main content of a page is what its reader came for, with its structure, and without what stands around it."""

import time

import pytest
from markdown_it import MarkdownIt

from thresher.parsing.html import parse
from thresher.parsing.main_content import (
    LIGHT_BYTES,
    MAX_BYTES,
    MAX_CHARACTERS,
    content_of_markup,
    content_of_text,
    stored_markup,
)

URL = "http://a.example/dir/page"
MENU = "".join(f'<li><a href="/{number}">Menu entry {number}</a></li>' for number in range(20))
ENGLISH = "Perovskite cells lose their power when water reaches them, which is why they are sealed under glass. " * 3
CHINESE = "钙钛矿电池遇水会失去效率，因此必须用玻璃封装，研究人员正在寻找更稳定的材料。" * 3


def html(text, charset="utf-8"):
    source = (
        f'<html><head><meta charset="{charset}"><title>Cells</title></head><body><nav><ul>{MENU}</ul></nav>'
        f"<article><h1>Cells</h1><p>{text}</p><p>{text}</p></article><footer><ul>{MENU}</ul></footer></body></html>"
    )
    return source.encode(charset)


def read(body, content_type="text/html"):
    page = parse(URL, body, content_type)
    return content_of_markup(URL, stored_markup(page, body, content_type))


def markdown(body):
    return content_of_markup(URL, f"<body>{body}</body>").markdown


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_menus_and_footers_are_left_out(text):
    found = read(html(text)).text
    assert found == f"Cells\n\n{text.strip()}\n\n{text.strip()}"


def test_pages_in_chinese_charsets_are_read():
    assert CHINESE in read(html(CHINESE, "gb18030"), "text/html; charset=gb2312").text


def test_a_page_of_links_keeps_them():
    assert "Menu entry 7" in read(f"<html><body><ul>{MENU}</ul></body></html>".encode()).text


@pytest.mark.parametrize("name", ["sidebar", "cookie-banner", "siteFooter", "breadcrumbs", "related_posts", "share"])
def test_an_element_is_left_out_for_its_name(name):
    body = f'<div><p>{ENGLISH}</p></div><div class="{name}"><p>Some words on another subject.</p></div>'
    assert markdown(body) == ENGLISH.strip()


PROSE = [f"{ENGLISH.strip()} Part {number} of the report says so." for number in range(3)]
ARTICLE = "<h1>Cells</h1>" + "".join(f"<p>{each}</p>" for each in PROSE)
OTHER = "Another story altogether has a short summary here, with a few words of prose in it."
AFTER = {
    "related block": f'<div class="relatedposts"><h3>Related</h3><p>{OTHER}</p></div>',
    "links without a name": f'<div class="x"><h3><a href="/o">{OTHER}</a></h3><p>June 7</p></div>' * 2,
    "comments": f'<div id="respond"><h3>Leave a note</h3><p>{OTHER}</p></div>',
    "author box": f'<div class="author-box"><p>{OTHER}</p></div>',
    "share bar": '<div class="shariff-buttons"><span>Tell your friends about it</span></div>',
    "newsletter form": f'<form action="/join"><p>{OTHER}</p><label>Your address</label></form>',
    "teaser grid": f'<div class="teaser"><a href="/o"><h3>Other</h3></a><p>{OTHER}</p></div>' * 3,
    "caption": f"<figure><img src=/i><figcaption>{OTHER}</figcaption></figure>",
    "more stories": f'<section class="more-stories"><h2>Stories</h2><p>{OTHER}</p></section>',
}  # fmt: skip


@pytest.mark.parametrize("kind", AFTER)
def test_what_trails_an_article_is_left_out(kind):
    expected = "\n\n".join(["# Cells", *PROSE])
    assert markdown(f"<article>{ARTICLE}{AFTER[kind]}<p>The end of the report.</p></article>") == (
        f"{expected}\n\nThe end of the report."
    )


def test_the_lead_of_an_article_stays_though_it_is_called_a_teaser():
    assert OTHER in markdown(f'<article><div class="teaser-text"><p>{OTHER}</p></div>{ARTICLE}</article>')


@pytest.mark.parametrize("name", ["comments", "comment-list", "disqus_thread", "kommentare"])
def test_a_short_article_is_found_beside_a_long_thread_of_comments(name):
    thread = "".join(f"<div><p>{OTHER * 3} Reader {number}.</p></div>" for number in range(40))
    assert markdown(f'<div>{ARTICLE}</div><div class="{name}">{thread}</div>') == "\n\n".join(["# Cells", *PROSE])


def test_a_thread_is_the_content_where_nothing_else_is():
    thread = "".join(f'<div class="comment"><p>{OTHER} Reader {number}.</p></div>' for number in range(9))
    assert "Reader 7." in markdown(f"<h1>Forum</h1>{thread}")


def test_a_sidebar_is_left_out_though_it_holds_most_of_the_text():
    body = f'<div>{ARTICLE}</div><div class="sidebar"><p>{OTHER * 30}</p></div>'
    assert markdown(body) == "\n\n".join(["# Cells", *PROSE])


def test_an_element_around_the_title_is_not_left_out_for_its_name():
    assert OTHER in markdown(f'<div class="banner"><h1>Cells</h1><p>{OTHER * 3}</p></div><div><p>{PROSE[0]}</p></div>')


def test_the_element_named_as_the_body_is_the_content():
    around = f"<div><p>{OTHER * 4}</p></div>"
    found = markdown(f'<article><div itemprop="articleBody"><p>{PROSE[0]}</p><p>{PROSE[1]}</p></div>{around}</article>')
    assert found == "\n\n".join(PROSE[:2])


def test_an_element_with_most_of_the_text_stays_whatever_its_name():
    assert ENGLISH.strip() in markdown(f'<div class="has-sidebar nav-open"><p>{ENGLISH}</p></div>')


def test_the_only_title_is_kept_where_it_stands_outside_the_content():
    body = f"<header><h1>The title</h1></header><main><p>{ENGLISH}</p></main>"
    assert markdown(body) == f"# The title\n\n{ENGLISH.strip()}"


def test_links_under_a_heading_of_sources_belong_to_the_content():
    body = f"<div><p>{ENGLISH}</p><h2>{{}}</h2><ul>{MENU}</ul></div>"
    assert "Menu entry 7" in markdown(body.format("References"))
    assert "Menu entry 7" in markdown(body.format("参考资料"))
    assert "Menu entry 7" not in markdown(body.format("More of us"))


def test_structure_is_kept():
    body = """<h1>Title</h1><p>First with <a href="x/y.html"> a link </a>and <code>a`b</code>.<br>second line</p>
    <h2>Sub</h2><ul><li>one<li>two<ul><li>nested<ol><li>deep<li>deeper</ol></ul><li><p>three</p><p>more</p></ul>
    <blockquote>quoted</blockquote><pre><code class="language-python">def f():
    return 1
</code></pre><p>The end.</p>"""
    assert markdown(body) == "\n".join(
        [
            "# Title",
            "",
            "First with [a link](http://a.example/dir/x/y.html) and ``a`b``.  ",
            "second line",
            "",
            "## Sub",
            "",
            "- one",
            "- two",
            "  - nested",
            "    1. deep",
            "    2. deeper",
            "- three",
            "",
            "  more",
            "",
            "> quoted",
            "",
            "```python",
            "def f():",
            "    return 1",
            "```",
            "",
            "The end.",
        ]
    )


def test_tables_are_kept_with_cells_that_cover_several():
    body = """<table><tr><th>A<th>B<th>C</tr><tr><td rowspan=2>1<td colspan=2>2|3</tr><tr><td>4<td>5</tr></table>"""
    assert markdown(f"<p>{ENGLISH}</p>{body}").endswith(
        "| A | B | C |\n| --- | --- | --- |\n| 1 | 2\\|3 |  |\n|  | 4 | 5 |"
    )


def test_a_table_that_arranges_the_page_is_not_a_table():
    found = markdown(f"<table><tr><td><a href=/a>Menu</a></td><td><h1>T</h1><p>{ENGLISH}</p></td></tr></table>")
    assert found == f"# T\n\n{ENGLISH.strip()}"


def test_two_breaks_separate_paragraphs():
    assert markdown(f"<div>{ENGLISH}<br><br>{ENGLISH}</div>") == f"{ENGLISH.strip()}\n\n{ENGLISH.strip()}"


def test_links_are_absolute_and_of_the_web_only():
    links = '<a href="/a">a</a> <a href="javascript:run()">b</a> <a href="#c">c</a> <a href="data:x">d</a>'
    assert markdown(f"<p>{ENGLISH} {links}</p>").endswith("[a](http://a.example/a) b c d")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "# no heading", "1. no item", "- no item", "> no quote", "*no* emphasis",
        "_no_ emphasis", "snake_case_name", "a `tick", "[no](http://evil.example/)", "![no](http://evil.example/x.png)",
        "[a]: http://x.example/",
        "&lt;b&gt; &amp;", "a | b", "---", "===", "```", "~~~", "back\\slash \\* \\", "<!-- comment -->", "<http://x.example/>",
        "~~gone~~", "+ 1", "| --- | --- |", "a!", "3) x", "\u202eabc",
    ],
)  # fmt: skip
def test_text_stays_text_when_it_is_rendered(text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    content = content_of_markup(URL, f"<body><p>{escaped}<a href=/l>link</a></p></body>")
    rendered = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(content.markdown)
    [paragraph] = rendered.splitlines()
    shown = text.replace("\u202e", "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert paragraph == f'<p>{shown}<a href="http://a.example/l">link</a></p>'


def test_metadata_is_what_the_page_states():
    head = """<meta name=author content="A. Writer">
    <meta property="article:published_time" content="2024-05-06T10:00:00Z"><link rel=license href="/licence">"""
    found = content_of_markup(URL, f"<head>{head}</head><body><p>{ENGLISH}</p></body>").metadata
    assert (found.author, found.published, found.license) == ("A. Writer", "2024-05-06", "http://a.example/licence")


def test_metadata_is_read_from_linked_data():
    names = '[{"name": "甲"}, {"name": "乙"}]'
    data = f'{{"@graph": [{{"author": {names}, "datePublished": "2024年5月6日", "license": "CC BY"}}]}}'
    found = content_of_markup(URL, f'<script type="application/ld+json">{data}</script><p>{ENGLISH}</p>').metadata
    assert (found.author, found.published, found.license) == ("甲, 乙", "2024-05-06", "CC BY")


@pytest.mark.parametrize("data", ["", "{", "[" * 5000, '{"author": 7, "datePublished": "soon"}', "[1, null]"])
def test_metadata_that_cannot_be_read_is_empty(data):
    found = content_of_markup(URL, f'<script type="application/ld+json">{data}</script><p>{ENGLISH}</p>').metadata
    assert (found.author, found.published, found.license) == ("", "", "")


@pytest.mark.parametrize(
    "body", [b"", b"<", b"\xff\xfe\x00", b"<p>\xed\xa0\x80</p>", b"\0" * 5000, b"<frameset><frame>"]
)
def test_whatever_comes_gives_a_content(body):
    assert isinstance(read(body).markdown, str)


def test_plain_text_keeps_its_lines():
    assert content_of_text("one\n\n two  words \n# three").markdown == "one\n\ntwo words\n\n\\# three"


def test_what_is_stored_is_the_decoded_markup():
    body = html(CHINESE, "gb18030")
    assert stored_markup(parse(URL, body), body, "text/html") == body.decode("gb18030")


def test_plain_text_is_stored_as_paragraphs():
    body = b"A title\n\nSome words\non two lines."
    stored = stored_markup(parse(URL, body, "text/plain"), body, "text/plain")
    assert "<p>A title</p>\n<p>Some words on two lines.</p>" in stored


def test_nothing_is_stored_of_very_large_pages():
    assert stored_markup(parse(URL, b""), b"<p>" * MAX_BYTES, "text/html") == ""


HOSTILE = {
    "deep": b"<div>" * 200_000 + b"x",
    "deep lists": b"<ul><li>x" * 100_000,
    "deep quotes": b"<blockquote>x" * 80_000,
    "deep tables": b"<table><tr><td>" * 60_000,
    "deep headers": b"<div class=header>" * 50_000,
    "many paragraphs": b"<p>word word word</p>" * 50_000,
    "one paragraph": b"<p>" + b"word " * 200_000,
    "a table of a megabyte": b"<table>" + b"<tr><td>1<td>2<td>3</tr>" * 43_000,
    "wide rows": b"<table>" + b"<tr>" + b"<td>1" * 50_000 + b"<tr><td>2" * 50_000,
    "cells that cover many": b"<table>" + (b"<tr>" + b"<td colspan=9999 rowspan=9999>x" * 40) * 600,
    "many links": b"<base href=http://a.example/" + b"x" * 1_900 + b"/>" + b"<a href=a>b</a> " * 60_000,
    "open links": b"<p><a href=/a>" * 70_000,
    "breaks": b"<p>" + b"x<br>" * 200_000,
    "preformatted": b"<pre>" + b"`" * 1_000_000,
    "attributes": b"<p " + b"a=b " * 200_000 + b">x</p>",
    "marks": b"<p>" + b"[" * 300_000 + b"*_" * 100_000,
    "metadata": b"<meta name=author content=a>" * 30_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_page_takes_long_or_grows_without_bound(kind):
    body = HOSTILE[kind][:MAX_BYTES]
    source = stored_markup(parse(URL, b""), body, "text/html")
    assert len(body) > LIGHT_BYTES or kind in ("cells that cover many",)
    begun = time.process_time()
    found = content_of_markup(URL, source)
    assert time.process_time() - begun < 5
    assert len(found.markdown) <= 2 * MAX_CHARACTERS
    assert len(found.text) <= 2 * MAX_CHARACTERS
