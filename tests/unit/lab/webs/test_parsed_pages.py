"""A page is parsed once, and comes back from disk as the parser made it."""

from tests.unit.lab.small_web import SmallWeb, tea_and_solar, u
from thresher.parsing.html import parse
from thresher_lab.webs.parsed_pages import ParsedPages


def test_a_page_comes_back_as_the_parser_made_it(tmp_path):
    web = SmallWeb({u("1"): ([], "茶 tea", [u("2"), u("3")])})
    first = ParsedPages(web, cache=tmp_path)
    parsed, size = first.get(u("1"))
    first.close()
    again = ParsedPages(web, cache=tmp_path)
    again._parse = None  # parsing again would fail
    assert again.get(u("1")) == (parsed, size)
    again.close()
    page = web.get(u("1"))
    assert parsed == parse(u("1"), page.body, page.content_type)
    assert parsed.title == "茶 tea"


def test_a_dead_link_is_no_page(tmp_path):
    pages = ParsedPages(tea_and_solar(), cache=tmp_path)
    assert pages.get(u("dead")) is None
    pages.close()


def test_without_a_disk_pages_are_parsed_anew():
    pages = ParsedPages(tea_and_solar(), keep=False)
    assert pages.get(u("seed"))[0].title == "solar start"
    pages.close()
