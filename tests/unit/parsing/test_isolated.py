"""A page that the parser hangs on is given up, and the next one is parsed."""

import asyncio
import sys

import pytest

from thresher.parsing import isolated
from thresher.parsing.html import parse
from thresher.parsing.isolated import HEAVY_BYTES, ParserProcess, Unparsable, is_heavy

URL = "http://a.example/"
PAGE = b"<title>T</title><meta name=robots content=nofollow><h1>H</h1><p>solar <a href=/x>cells</a></p><div>more</div>"
BROKEN = """
import sys
from thresher.parsing import isolated, html
def broken(url, body, content_type=""):
    if b"hang" in body:
        while True: pass
    if b"big" in body:
        bytearray(2 << 30)
    if b"sleep" in body:
        __import__("time").sleep(60)
    return parse(url, body, content_type)
parse, html.parse = html.parse, broken
isolated.MAX_CPU_SECONDS = 0.3
isolated.main()
"""


@pytest.fixture
def broken():
    parser = ParserProcess([sys.executable, "-c", BROKEN])
    yield parser
    parser.close()


async def test_a_page_parsed_apart_is_the_page_parsed_here():
    parser = ParserProcess()
    try:
        page = PAGE + b'<meta name="tdm-reservation" content="1">'
        assert await parser.parse(URL, page, "text/html") == parse(URL, page, "text/html")
    finally:
        parser.close()


async def test_a_page_that_hangs_the_parser_is_given_up_and_the_next_one_is_parsed(broken):
    with pytest.raises(Unparsable, match="cannot be parsed: more than") as caught:
        await broken.parse(URL, b"hang")
    assert caught.value.final
    assert (await broken.parse(URL, PAGE)).title == "T"


async def test_others_go_on_while_a_page_hangs_the_parser(broken):
    hanging = asyncio.ensure_future(broken.parse(URL, b"hang"))
    turns = 0
    while not hanging.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert isinstance(hanging.exception(), Unparsable)
    assert turns > 10


async def test_a_page_that_takes_too_much_memory_is_given_up(broken):
    with pytest.raises(Unparsable, match="broke down") as caught:
        await broken.parse(URL, b"big")
    assert caught.value.final
    assert (await broken.parse(URL, PAGE)).title == "T"


async def test_a_child_that_says_nothing_is_ended_and_the_page_may_be_tried_again(broken, monkeypatch):
    await broken.parse(URL, PAGE)
    monkeypatch.setattr(isolated, "MAX_SECONDS", 0.3)
    with pytest.raises(Unparsable) as caught:
        await broken.parse(URL, b"sleep")
    assert not caught.value.final


async def test_a_page_waits_for_its_turn_only_so_long(broken, monkeypatch):
    await broken.parse(URL, PAGE)
    monkeypatch.setattr(isolated, "MAX_SECONDS", 0.4)
    monkeypatch.setattr(isolated, "TURN_SECONDS", 0.1)
    first, second = await asyncio.gather(broken.parse(URL, b"sleep"), broken.parse(URL, PAGE), return_exceptions=True)
    assert isinstance(first, Unparsable)
    assert isinstance(second, Unparsable)
    assert not second.final


def test_only_large_pages_are_heavy():
    assert not is_heavy(bytes(HEAVY_BYTES))
    assert is_heavy(bytes(HEAVY_BYTES + 1))
