"""Hostile markup is cut before it costs anything; honest markup stays as it is."""

import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from thresher.parsing import markup as module
from thresher.parsing.dom import MAX_LINKS
from thresher.parsing.html import parse
from thresher.parsing.markup import MAX_CHARACTERS, limit_markup

FORMATTING = [f"<b id={number}>" for number in range(3_000)]
HOSTILE = {
    "deep": "<div>" * 100_000,
    "deep and closed": "<div>" * 100_000 + "</div>" * 100_000,
    "deep behind idle end tags": "<div></x>" * 50_000,
    "deep under paragraphs": "<span>" * 20_000 + "<div></div>" * 20_000,
    "formatting opened anew in each paragraph": "<p>" + "".join(FORMATTING) + "</p>" + "<p>x</p>" * 3_000,
    "attributes": "<p " + " ".join(f"a{number}" for number in range(200_000)) + ">",
    "attributes behind brackets": "<p " + " ".join(f"a{number}='<'" for number in range(60_000)) + ">",
    "an endless attribute": '<a href="' + "x" * 20_000_000,
    "links": "<a href=/x>y</a> " * 300_000,
    "entities": "&amp;" * 1_000_000,
    "brackets": "<" * 2_000_000,
    "quotes": "<a='" * 500_000,
    "zeros": "\0" * 1_000_000,
    "tables": "<table><tr><td>" * 30_000,
    "deep in a style of an SVG": "<svg><style>" + "<g>" * 90_000 + "<div>" * 90_000,
    "deep in a style after HTML in an SVG": "<svg><foreignObject><p></svg></p></foreignObject><style>"
    + "<div>" * 90_000,
    "deep behind a script in a script": "<script><!--<script></script><style>--></script>" + "<div>" * 90_000,
    "deep behind a comment that ends at once": "<!-->" + "<div>" * 90_000 + "-->",
    "deep in CDATA": "<svg><![CDATA[ > <!-- ]]></svg>" + "<div>" * 90_000 + "-->",
    "deep behind a quote that opens no value": '<p a=b="x>' + "<div>" * 90_000 + '">',
    "deep in a style of a frameset": "<frameset><style></frameset>" + "<div>" * 90_000,
    "formatting behind formatting": "<<b>b id=1>" * 3_000 + "<p>x</p>" * 3_000,
    "attributes behind a quote in a name": '<p x" ' + " ".join(f"a{number}" for number in range(100_000)) + '">',
}


@pytest.mark.parametrize("markup", HOSTILE.values(), ids=HOSTILE)
def test_hostile_markup_is_parsed_in_bounded_time(markup):
    started = time.process_time()
    page = parse("http://a.example/", markup.encode())
    assert time.process_time() - started < 5  # a tenth of that on an idle machine; unbounded, minutes
    assert len(page.links) <= MAX_LINKS


def test_ten_thousand_nested_elements_keep_their_text():
    page = parse("http://a.example/", b"<div>" * 10_000 + b"<a href=/x>deep</a>")
    assert page.text == "deep"
    assert page.links[0].tag_path.startswith("html/body/div/div/")


@pytest.mark.parametrize(
    "markup",
    [
        "<p>plain",
        "<ul>" + "<li><a href=/x>one</a>" * 5_000,
        "<table>" + "<tr><td>cell" * 5_000,
        "<div><p>text</p></div>" * 10_000,
        '<img src="data:image/png;base64,' + "A" * 200_000 + '">',
        '<svg><path d="' + "M 1 2 " * 2_500 + '"/></svg>' + "<p>text</p>" * 13_000,
        "<script>" + "document.write('<div>');" * 5_000 + "</script>" + "<p>text</p>" * 13_000,
        "<style>" + "a > b { c: d } " * 20_000 + "</style><p>text</p>",
        "<!--" + "<div>" * 5_000 + "-->" + "<p>text</p>" * 13_000,
        "<textarea>" + "<div>" * 5_000 + "</textarea>" + "<p>text</p>" * 13_000,
        '<p title="' + "<div>" * 5_000 + '">text</p>' + "<p>text</p>" * 13_000,
        '<p><i class="icon"></i> <b id="x">word</b></p>' * 4_000,
    ],
)
def test_honest_markup_stays_as_it_is(markup):
    assert limit_markup(markup) == markup


def test_formatting_is_dropped_before_it_multiplies_and_the_text_stays():
    page = parse("http://a.example/", "".join(FORMATTING + ["<p>word</p> "] * 1_000).encode())
    assert page.text == "word " * 999 + "word"


def test_the_end_of_an_endless_page_is_dropped():
    assert len(limit_markup("x" * (MAX_CHARACTERS + 1))) == MAX_CHARACTERS


def test_what_is_hidden_in_scripts_is_bounded_even_so():
    markup = "<script>" + "'<div>'" * 50_000 + "</script>" + "<p>text</p>" * 13_000
    assert len(limit_markup(markup)) < len(markup)


TOKENS = re.findall(
    r"\S+",
    """<div> <div> <div> </div> <span> <svg> </svg> <svg/> <math> <mi> </mi> </math> <g> <g#a#b#c#d#e#f> <style>
    </style> <script> </script> <!-- --> --!> <!--> <!---> <![CDATA[ ]]> <title> </title> <textarea> </textarea>
    <foreignObject> </foreignObject> <desc> </desc> <p> </p> <p#a#b#c#d#e#f> <select> </select> <option> <table>
    </table> <td> <template> </template> <frameset> </frameset> <iframe> </iframe> <noscript> </noscript> <xmp> </xmp>
    <a#x=" <a#x=' <a#= <a#b=c=" " ' > < / <? </# <!x <br> </br> <plaintext> <button> <object> </object> </STYLE#
    <font#color=red>""",
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(TOKENS), max_size=80))
def test_the_parser_finds_no_deeper_and_no_wider_tags_than_the_limits_allow(monkeypatch, tokens):
    monkeypatch.setattr(module, "MAX_DEPTH", 10)
    monkeypatch.setattr(module, "MAX_ATTRIBUTES", 5)
    monkeypatch.setattr(module, "_MAX_HIDDEN_TAGS", 5)
    monkeypatch.setattr(module, "_HARMLESS_TAGS", 0)
    tree = LexborHTMLParser(limit_markup("".join(tokens).replace("#", " ") + "<div>" * 50))
    levels, wide, nodes = 0, 0, [tree.root] if tree.root else []
    while nodes:
        wide += sum(len(node.attributes) > 5 for node in nodes)
        levels, nodes = levels + 1, [child for node in nodes for child in node.iter()]
    assert wide <= 5  # of tags that are hidden from the limits, such as those in a style of an SVG
    assert levels <= 3 * (10 + 5)  # elements that the parser adds, such as tbody, are not counted
