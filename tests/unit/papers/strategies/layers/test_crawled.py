"""What is remembered of the pages of a crawl."""

from random import Random

import pytest

from tests.unit.strategies.small_world import page
from thresher.modelstate.codec import ENTRY_BYTES, BadEntry
from thresher.records import Link
from thresher_papers.strategies.layers.relearn import CrawledPages
from thresher_papers.strategies.layers.source import ELSEWHERE


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
    again.restore(pages.to_bytes())
    numbered = again.numbered()
    assert [numbered.text(number) for number in range(2)] == ["a lone ? half", "太陽"]
    assert numbered.targets == [1]
    assert numbered.graph.successors(0).tolist() == [1]


def test_pages_of_another_worker_stand_beside_the_own_and_links_lead_from_one_to_the_other():
    own, other = CrawledPages(), CrawledPages()
    add(own, "hub", "target")
    add(other, "target", target=True, text="solar")
    for _ in range(2):
        assert own.merge(other.to_bytes("w2")) == "w2"
    numbered = own.numbered()
    assert numbered.graph.predecessors(1).tolist() == [0]
    assert (numbered.targets, own.others_targets()) == ([1], 1)


def test_only_the_own_pages_are_written_down():
    own, other = CrawledPages(), CrawledPages()
    add(own, "a", text="own")
    add(other, "b", text="another's")
    own.merge(other.to_bytes("w2"))
    again = CrawledPages()
    again.restore(own.to_bytes("w1"))
    assert [again.numbered().text(0), len(again.numbered().graph.successors(0))] == ["own", 0]


def test_however_many_others_there_are_their_pages_are_bounded():
    own = CrawledPages(most=6)
    for worker in range(3):
        other = CrawledPages()
        for number in range(10):
            add(other, f"{worker}-{number}", target=True)
        own.merge(other.to_bytes(f"w{worker}"))
    assert own.others_targets() == 6


def test_an_entry_holds_the_latest_pages_that_fit():
    pages, random = CrawledPages(), Random(0)
    for number in range(600):
        add(pages, str(number), text=f"{number} " + " ".join(f"{random.getrandbits(30):x}" for _ in range(600)))
    content, again = pages.to_bytes("w1"), CrawledPages()
    again.restore(content)
    texts = again.numbered()._pages
    assert ENTRY_BYTES * 0.9 < len(content) <= ENTRY_BYTES
    assert texts[-1].text.startswith("599 ")
    assert texts[0].text.startswith(f"{600 - len(texts)} ")


@pytest.mark.parametrize("content", [b"", b"nothing", (9).to_bytes(4) + b"w1", (2).to_bytes(4) + b"w1" + bytes(9)])
def test_a_damaged_entry_is_refused(content):
    with pytest.raises(BadEntry):
        CrawledPages().merge(content)
