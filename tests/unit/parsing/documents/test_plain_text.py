"""Plain text and Markdown have paragraphs, headings and links like a page."""

import time

import pytest

from thresher.parsing.documents.plain_text import is_text, text_markup
from thresher.parsing.html import parse

URL = "http://a.example/notes.txt"


def test_only_text_and_markdown_are_text():
    assert all(map(is_text, ["text/plain", "TEXT/PLAIN; charset=utf-8", "text/markdown", "text/x-markdown"]))
    assert not any(map(is_text, ["", "text/html", "text/css", "application/pdf"]))


def test_plain_text_has_paragraphs_a_title_and_web_links():
    body = b"Solar cells\n\nThe first\nparagraph.\n\nSee <http://b.example/x>, or http://b.example/y."
    page = parse(URL, body, "text/plain")
    assert page.title == "Solar cells"
    assert page.text == "Solar cells Solar cells The first paragraph. See <http://b.example/x>, or http://b.example/y."
    assert [link.url for link in page.links] == ["http://b.example/x", "http://b.example/y"]
    assert text_markup(URL, body, "text/plain").count("<p>") == 3


def test_chinese_lines_are_joined_without_blanks():
    page = parse(URL, "太阳能\n电池".encode("gb18030"), "text/plain; charset=gbk")
    assert page.text.endswith("太阳能电池")
    assert page.language == "zh"


def test_markup_in_plain_text_is_text():
    page = parse(URL, b"<a href=/x>no link</a> <script>", "text/plain")
    assert page.links == ()
    assert page.text.endswith("<a href=/x>no link</a> <script>")


MARKDOWN = b"""---
title: "On cells"
---
# Solar *cells* #

Some **bold** text with a [link](/target "why") and
![a picture](x.png), `code`, <http://b.example/x>.

Second
------

- one [item](http://b.example/item)
* two
1. three

```
# not a heading
```
"""


def test_markdown_has_headings_lists_code_and_links():
    page = parse("http://a.example/notes", MARKDOWN, "text/markdown")
    assert page.title == "On cells"
    assert page.headings == ("Solar cells", "Second")
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/target", "link"),
        ("http://b.example/x", "http://b.example/x"),
        ("http://b.example/item", "item"),
    ]
    assert "Some bold text with a link and a picture, code, http://b.example/x." in page.text
    assert "# not a heading" in page.text


LINKS = {
    "[words](/a)": [("/a", "words")],
    "[words](</a> 'title')": [("/a", "words")],
    "[words][Ref One]\n\n[ref  one]: </a> 'title'": [("/a", "words")],
    "[words][]\n\n[Words]: /a": [("/a", "words")],
    "[words]\n\n[words]: /a\n[words]: /b": [("/a", "words")],
    "[![alt](pic.png)](/a)": [("/a", "alt")],
    "[see ![alt](pic.png) *this*](/a)": [("/a", "see alt this")],
    '<a class="x" HREF="/a">raw <b>words</b></a>, not <abbr>this</abbr>': [("/a", "raw words")],
    "<http://a.example/a>.": [("/a", "http://a.example/a")],
    "(see http://a.example/a)": [("/a", "http://a.example/a")],
    "`[code](/a)` and \\[words](/a)": [],
    "[no](<>) [] [x] [^1] ![alt](/a)\n\n[^1]: /a": [],
    "```\n[words]\n[words]: /a\n```\n[words]": [],
}


@pytest.mark.parametrize("markdown", LINKS)
def test_links_of_all_forms_are_found_in_markdown(markdown):
    page = parse("http://a.example/", markdown.encode(), "text/markdown")
    assert [(link.url, link.anchor) for link in page.links] == [
        (f"http://a.example{path}", words) for path, words in LINKS[markdown]
    ]


def test_text_of_markdown_has_neither_escapes_nor_tags_nor_rules_of_tables():
    markdown = b"Intro.\n\n# Title\n\n1\\. a\\_b <br/> `<p>` <!-- no --> a < b\n\n| x | y |\n|---|:-:|\n| 1 | 2 |\n"
    page = parse("http://a.example/", markdown, "text/markdown")
    assert page.title == "Title"
    assert page.text.removeprefix("Title ") == "Intro. Title 1. a_b <p> a < b x | y 1 | 2"


def test_markdown_is_recognised_by_its_name():
    assert parse("http://a.example/README.md?raw=1", b"# Title\n\ntext", "text/plain").headings == ("Title",)
    assert parse("http://a.example/README", b"# Title\n\ntext", "text/plain").headings == ()


def test_hostile_text_takes_linear_time():
    hostile = [
        b"# " + b"#" * 500_000 + b"x",
        b"[" * 500_000,
        b"[](" * 200_000,
        b"https://" * 100_000,
        b"a\n\n" * 200_000,
    ]
    hostile += [b"[![](" * 100_000, b"[a][" * 200_000, b"<a href=" * 100_000, b"\\[" * 300_000, b"[a]: b\n" * 100_000]
    hostile += [b"`" + b"a" * 499, b"<!--" * 200_000, b"[x]: y (" * 100_000, b"| - " * 200_000]
    hostile += [b"**_`" * 200_000, b"- " * 300_000, b"---\n" * 200_000, b"[a](" + b"b" * 500_000]
    start = time.process_time()
    for body in hostile:
        text_markup("http://a.example/x.md", body, "text/markdown")
        text_markup("http://a.example/x.txt", body, "text/plain")
    assert time.process_time() - start < 20
