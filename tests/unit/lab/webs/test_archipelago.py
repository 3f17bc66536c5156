"""Webs become one: islands that only a directory joins, in both directions."""

import pytest

from thresher.errors import UnknownName
from thresher.parsing.html import parse
from thresher.urls.canonical import host_key
from thresher_lab.webs.archipelago import (
    DIRECTORY,
    ENTRIES_PER_PAGE,
    PARTS,
    Archipelago,
    Bridges,
    build_bridges,
    cover,
    open_archipelago,
    with_way_back,
)
from thresher_lab.webs.importers.page_filter import view
from thresher_lab.webs.importers.pagefile import SourcePage, write_web
from thresher_lab.webs.open_web import open_web


def island(host, size):
    """A chain of pages: an orphan first, then pages that lead on to a dead end."""
    pages = {f"http://{host}/orphan": ["/0"]}
    for number in range(size):
        pages[f"http://{host}/{number}"] = [f"/{number + 1}"] if number + 1 < size else []
    return [
        SourcePage(
            url=url,
            html=f"<title>{url[-3:]}</title><body><a href={links[0]}>on</a>" if links else "<p>end",
            topics=("Chains/Long",),
        )
        for url, links in pages.items()
    ]


@pytest.fixture
def webs(make_web):
    return {
        "east": make_web(island("east.example", 70), name="e"),
        "west": make_web(island("west.example", 3), name="w"),
    }


@pytest.fixture
def archipelago(webs):
    return Archipelago("both", webs, {name: build_bridges(web, seed=1) for name, web in webs.items()}, seed=1)


def reached(web, start):
    """All pages that a crawler finds from a start by what our parser reads."""
    seen, waiting = {start}, [start]
    while waiting:
        page = web.get(waiting.pop())
        for link in parse(page.url, page.body, page.content_type).links:
            if link.url not in seen and web.page_id(link.url) is not None:
                seen.add(link.url)
                waiting.append(link.url)
    return seen


@pytest.mark.parametrize("start", [DIRECTORY, "http://east.example/69", "http://west.example/orphan"])
def test_every_page_can_be_reached_from_every_page(archipelago, start):
    assert reached(archipelago, start) == set(archipelago.urls())


def test_the_links_it_tells_are_those_that_a_parser_reads(archipelago):
    for number, url in enumerate(archipelago.urls()):
        page = archipelago.get(url)
        read = {archipelago.page_id(link.url) for link in parse(url, page.body, page.content_type).links}
        assert set(archipelago.links_from(number)) == read - {None, number}


def test_pages_keep_their_order_and_the_directory_comes_last(archipelago, webs):
    urls = list(archipelago.urls())
    assert urls[:71] == list(webs["east"].urls())
    assert urls[71:75] == list(webs["west"].urls())
    assert urls[75] == DIRECTORY
    assert [archipelago.page_id(url) for url in urls] == list(range(len(archipelago)))
    assert [archipelago.url_of(number) for number in range(len(archipelago))] == urls


def test_topics_stand_under_the_name_of_their_island(archipelago):
    assert archipelago.topics() == {
        "east/Chains": 71,
        "east/Chains/Long": 71,
        "west/Chains": 4,
        "west/Chains/Long": 4,
    }
    assert archipelago.targets("west/Chains") == {71, 72, 73, 74}
    assert archipelago.get("http://west.example/0").topics == ("west/Chains/Long",)
    assert archipelago.is_topic("http://west.example/0", "west/Chains")
    assert not archipelago.is_topic("http://west.example/0", "east/Chains")
    assert not archipelago.is_topic(DIRECTORY, "east/Chains")


@pytest.mark.parametrize("topic", ["Chains", "west", "west/Chain", "north/Chains"])
def test_a_topic_without_its_island_is_unknown(archipelago, topic):
    with pytest.raises(UnknownName):
        archipelago.targets(topic)


def test_the_directory_says_nothing_about_topics(archipelago):
    directory = [archipelago.get(url) for url in archipelago.urls() if host_key(url) == "directory.example"]
    assert all(page.topics == () for page in directory)
    assert not any(word in page.html for page in directory for word in ("Chains", "Long"))


def test_long_shelves_have_several_pages(make_web):
    names = [f"http://many.example/{number}" for number in range(ENTRIES_PER_PAGE + 1)]
    web = make_web({name: [] for name in names}, name="many")
    joined = Archipelago("one", {"many": web}, {"many": build_bridges(web, seed=1)})
    assert joined.hosts() == {"many.example": ENTRIES_PER_PAGE + 1, "directory.example": 3}


def test_the_same_seed_gives_the_same_directory(webs, archipelago):
    again = Archipelago("both", webs, {name: build_bridges(web, seed=1) for name, web in webs.items()}, seed=1)
    assert [again.get(url) for url in again.urls()] == [archipelago.get(url) for url in archipelago.urls()]
    assert build_bridges(webs["east"], seed=1) != build_bridges(webs["east"], seed=2)


def test_pages_that_need_no_way_back_stay_as_they_were(webs):
    bridges = {name: Bridges(entries=[0], ways_back=[]) for name in webs}
    joined = Archipelago("both", webs, bridges)
    assert joined.get("http://east.example/5").html == webs["east"].get("http://east.example/5").html


def test_nothing_is_chosen_that_is_reached_anyway():
    graph = [[1], [2], [0], [], [3]]
    assert cover(graph, [0], [4, 3, 2, 1]) == [0, 4]
    assert cover(graph, [0, 1], [3, 4]) == [0, 1, 3, 4]


@pytest.mark.parametrize(
    "html",
    [
        "<html><body bgcolor=white><p>x</p></body></html>",
        "<title>x</title><p>no body tag",
        "<html><!-- never closed <body><p>x",
        "<BODY><!-- never closed <p>x</p></BODY>",
        "<html><frameset cols='1,2'><frame src=a.html></frameset><noframes><body>x</body></noframes></html>",
    ],
)
def test_the_way_back_is_found_on_pages_of_every_make(html):
    links = parse("http://a.example/", with_way_back(html, DIRECTORY).encode()).links
    assert (DIRECTORY, "Directory") in [(link.url, link.anchor) for link in links]


def test_the_archipelago_is_made_of_its_parts_and_remembered(folders):
    for number, name in enumerate(PARTS.values()):
        page = SourcePage(url=f"http://{number}.example/", html="<p>x", extra={"kind": "article"})
        write_web(folders["webs"] / f"{view(name).source}.pages.jsonl.zst", [page])
    first, again = open_web("archipelago", **folders), open_archipelago(**folders)
    assert len(first) == len(PARTS) + 1 + len(PARTS)
    assert list(first.urls()) == list(again.urls())
    assert len(list(folders["cache"].glob("archipelago-*.json"))) == 1
    first.close()
    again.close()
