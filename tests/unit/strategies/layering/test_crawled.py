"""What is remembered of the pages of a crawl."""

from tests.unit.strategies.small_world import page
from thresher.records import Link
from thresher.strategies.layering.crawled import CrawledPages
from thresher.strategies.layering.source import ELSEWHERE


def add(pages, name, *linked, target=False, text=""):
    found = [Link(url=f"http://a.example/{other}", anchor="words") for other in linked]
    pages.add(page(*found, url=f"http://a.example/{name}", text=text), target=target)


def test_links_lead_to_pages_that_have_come_and_else_elsewhere():
    pages = CrawledPages()
    add(pages, "hub", "target", "target", "unknown")
    add(pages, "target", target=True, text="solar")
    numbered = pages.numbered()
    assert list(numbered.links(0)) == [(1, ""), (ELSEWHERE, "")]
    assert numbered.graph.predecessors(1).tolist() == [0]
    assert (numbered.targets, numbered.text(1)) == ([1], "solar")


def test_the_oldest_pages_are_forgotten():
    pages = CrawledPages(most=2)
    for name in "abc":
        add(pages, name, text=name)
    assert [pages.numbered().text(number) for number in range(2)] == ["b", "c"]


def test_all_pages_come_back_from_what_was_written_down():
    pages, again = CrawledPages(), CrawledPages()
    add(pages, "a", "b", text="a lone \ud800 half")
    add(pages, "b", target=True, text="太陽")
    again.go_on_from(pages.to_bytes())
    numbered = again.numbered()
    assert [numbered.text(number) for number in range(2)] == ["a lone ? half", "太陽"]
    assert numbered.targets == [1]
    assert numbered.graph.successors(0).tolist() == [1]
