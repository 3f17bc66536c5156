"""The main text of a page is what its reader came for."""

import time

import pytest

from thresher.parsing import main_content as module
from thresher.parsing.html import parse
from thresher.parsing.main_content import MainContent, main_blocks, main_content, main_text_of_markup

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
    page = parse("http://a.example/", body, content_type)
    stored = main_content(page, body, content_type)
    return stored.text or main_text_of_markup(page.url, stored.markup) or page.text


@pytest.fixture(params=["extractor", "blocks"])
def way(request, monkeypatch):
    if request.param == "blocks":
        monkeypatch.setattr(module, "_extractor", lambda: None)
    elif module._extractor() is None:
        pytest.skip("resiliparse is not installed")
    return request.param


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_menus_and_footers_are_left_out(way, text):
    found = read(html(text))
    assert " ".join(text.split()) in " ".join(found.split())
    assert "Menu entry" not in found


def test_pages_in_chinese_charsets_are_read(way):
    assert CHINESE in read(html(CHINESE, "gb18030"), "text/html; charset=gb2312")


def test_plain_text_is_all_main_text(way):
    assert read(ENGLISH.encode(), "text/plain").startswith("Perovskite cells")


@pytest.mark.parametrize("body", [b"", b"<", b"\xff\xfe\x00", b"<p>\xed\xa0\x80</p>", b"\0" * 5000])
def test_whatever_comes_gives_a_text(way, body):
    assert isinstance(read(body), str)


def test_a_page_of_links_keeps_its_whole_text(way):
    body = f"<html><body><ul>{MENU}</ul></body></html>".encode()
    assert "Menu entry 7" in read(body)


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 200_000 + b"x",
        b"<p>word word word</p>" * 100_000,
        b"<table><tr><td>" * 50_000,
        b"<p>" + b"word " * 500_000,
        b"<p>hello world</p>" * 12_000,
    ],
    ids=["deep", "many", "tables", "long", "just light enough"],
)
def test_no_page_takes_long(body):
    page = parse("http://a.example/", body)
    begun = time.process_time()
    main_text_of_markup(page.url, main_content(page, body).markup)
    assert time.process_time() - begun < 4


def test_when_the_extractor_fails_the_rule_over_blocks_steps_in(monkeypatch):
    def fail(source):
        raise RuntimeError("broken")

    monkeypatch.setattr(module, "_extractor", lambda: fail)
    body = html(ENGLISH)
    assert read(body) == main_blocks(parse("http://a.example/", body))


def test_a_short_line_between_paragraphs_is_kept_by_the_rule_over_blocks():
    body = f"<div><p>{ENGLISH}</p></div><div>A short line.</div><div><p>{ENGLISH}</p></div>".encode()
    assert "A short line." in main_blocks(parse("http://a.example/", body))


def test_the_markup_of_a_page_is_stored_and_its_text_is_not_extracted():
    body = html(CHINESE, "gb18030")
    page = parse("http://a.example/", body, "text/html")
    assert main_content(page, body, "text/html") == MainContent(markup=body.decode("gb18030"))


def test_of_heavy_pages_the_text_is_stored_and_not_the_markup():
    body = html(ENGLISH * 1000)
    page = parse("http://a.example/", body)
    assert main_content(page, body) == MainContent(text=main_blocks(page))


@pytest.mark.parametrize(
    ("body", "content_type"), [(ENGLISH.encode(), "text/plain"), (html(ENGLISH * 5000), "text/html")]
)
def test_of_plain_text_and_of_very_large_pages_nothing_more_is_stored(body, content_type):
    assert main_content(parse("http://a.example/", body, content_type), body, content_type) == MainContent()
