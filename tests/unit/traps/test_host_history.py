"""One host under watch: variants, pages that say nothing new, and mazes."""

import pytest

from testing.recording_server.words import NAMES, SENTENCES
from thresher.records import Link, ParsedPage
from thresher.traps.detector import (
    MAX_ALIKE,
    MAX_COMBINATIONS,
    MAX_DATES,
    MAX_VARIANTS,
    WINDOW,
    HostHistory,
    SeenFilter,
    section,
)

SITE = "http://a.example"


def page(path, text, links=()):
    return ParsedPage(url=SITE + path, text=text, blocks=(text,), links=tuple(Link(url=SITE + link) for link in links))


def complaints(pages, *, relevant=False, parents=5):
    """Show pages to a watched host; return after how many it complained first, and of what."""
    host = HostHistory()
    for number, shown in enumerate(pages, start=1):
        if complaint := host.observe(shown, parent=number // parents, relevant=relevant, duplicate=False):
            return number, complaint
    return None


def test_pages_that_differ_in_numbers_alone_bring_nothing_new():
    same = [page(f"/list?page={n}", f"Results {n} to {n + 9} of very many results in our list") for n in range(100)]
    number, complaint = complaints(same)
    assert number == MAX_ALIKE + 1  # the first one was new
    assert (complaint.part, complaint.relevant) == ("/list?page", 0)
    assert str(complaint.reason) == "16 of 17 pages like /list?page brought nothing new"


def test_blocks_that_stand_on_every_page_do_not_hide_what_is_new():
    menu = " ".join(SENTENCES[:50])
    pages = [
        ParsedPage(url=f"{SITE}/p/{n}", text=menu + SENTENCES[100 + n], blocks=(menu, SENTENCES[100 + n]))
        for n in range(MAX_VARIANTS - 1)
    ]
    assert complaints(pages) is None


def test_chinese_pages_bring_news_too():
    characters = "".join(chr(0x4E00 + 7 * n) for n in range(2900))
    pages = [page(f"/p/{n}", characters[n * 20 : n * 20 + 60]) for n in range(100)]
    assert complaints(pages) is None
    same = [page(f"/p/{n}", f"没有找到您要的第{n}页请返回首页继续浏览") for n in range(100)]
    assert complaints(same)[0] == MAX_ALIKE + 1


def test_a_template_without_harvest_has_a_limited_number_of_variants():
    pages = [page(f"/p/{n}", SENTENCES[n]) for n in range(MAX_VARIANTS + 50)]
    number, complaint = complaints(pages)
    assert (number, str(complaint.reason)) == (MAX_VARIANTS, "200 pages like /p/#, 0 of them relevant")
    assert complaints(pages, relevant=True) is None


def test_a_calendar_has_fewer():
    pages = [page(f"/day/2026-{n // 28 + 1:02}-{n % 28 + 1:02}", SENTENCES[n]) for n in range(MAX_DATES + 5)]
    number, complaint = complaints(pages)
    assert (number, complaint.part) == (MAX_DATES, "/day/date")


def test_pages_that_lead_only_on_are_a_maze():
    pages = [page(f"/w{'x' * n}", SENTENCES[n], [f"/{'y' * n}/{name}" for name in "abcd"]) for n in range(1, 60)]
    number, complaint = complaints(pages, relevant=True)
    assert (number, complaint.part) == (WINDOW, "/*")


def test_a_maze_without_sections_is_the_whole_host():
    pages = [
        page(f"/{SENTENCES[n][:9]}{'x' * n}/p", SENTENCES[n], [f"/y{'y' * n}/{name}" for name in "abcd"])
        for n in range(1, 60)
    ]
    number, complaint = complaints(pages, relevant=True)
    assert (number, complaint.part) == (WINDOW, "*")


@pytest.mark.parametrize("links", [["/", "/about"], ["/a"]])
def test_pages_that_link_home_or_hardly_at_all_are_not(links):
    pages = [page(f"/w{'x' * n}", SENTENCES[n], [*links, f"/{'y' * n}/"]) for n in range(1, 60)]
    assert complaints(pages) is None


def test_home_pages_that_one_list_leads_to_are_no_maze():
    pages = [page(f"/w{'x' * n}", SENTENCES[n], [f"/{'y' * n}/{name}" for name in "abcd"]) for n in range(1, 60)]
    assert complaints(pages, parents=1000) is None


def test_what_is_left_is_known_by_its_template_or_its_section():
    host = HostHistory()
    host.left = {"/list?page": "enough", "/maze/*": "a maze"}
    assert str(host.skip_reason(f"{SITE}/list?page=17")) == "enough"
    assert str(host.skip_reason(f"{SITE}/maze/in/it.html")) == "a maze"
    assert str(host.skip_reason(f"{SITE}/list")) == str(host.skip_reason(f"{SITE}/maze")) == ""


def test_sections_are_first_folders():
    assert section(f"{SITE}/a/b/c") == section(f"{SITE}/a/") == "/a/*"
    assert section(f"{SITE}/") == section(f"{SITE}/a") == section(f"{SITE}/a?b=/c/d") == "/*"


def test_a_host_with_many_templates_keeps_a_bounded_number():
    host = HostHistory()
    for n in range(500):
        host.observe(page(f"/{'x' * n}/{n}", SENTENCES[n]), parent=0, relevant=False, duplicate=False)
    assert len(host._parts) <= 64


def test_a_seen_filter_knows_what_was_added():
    memory = SeenFilter(8)
    assert memory.new([1, 2]) == [1, 2]
    assert memory.new([2, 3]) == [3]
    assert memory.free_share == 1 - 3 / 256


FILTERS = ("brand", "color", "price", "size", "sort")


def shop_page(number, chosen):
    """Return a page on which each filter may be set to one more value."""
    query = "&".join(f"{name}={number % 7}" for name in chosen)
    links = [f"/shop?{'&'.join(f'{key}=1' for key in sorted({*chosen, name}))}" for name in FILTERS]
    return page(f"/shop?{query}" if chosen else "/shop", SENTENCES[number], links)


def fetched(pages):
    """Show relevant pages to a host as a crawl would, skipping what is found; return it, and how many it was shown."""
    host, count = HostHistory(), 0
    for shown in pages:
        if not host.skip_reason(shown.url):
            count += 1
            if finding := host.observe(shown, parent=count // 5, relevant=True, duplicate=False):
                host.left[finding.part] = finding.reason
    return host, count


@pytest.mark.parametrize("step", [1, 7, 11])
def test_filters_that_combine_freely_are_facets_however_relevant_their_pages(step):
    sets = [[name for place, name in enumerate(FILTERS) if bits >> place & 1] for bits in range(32)]
    pages = [shop_page(number, sets[number * step % 32]) for number in range(400)]
    host, count = fetched(pages)
    alone = sum(shown.url.count("=") < 2 for shown in pages)
    assert count == alone + MAX_COMBINATIONS
    assert str(host.skip_reason(f"{SITE}/shop?brand=8&sort=9")).startswith("facets: 20 pages like /shop that combine")
    assert str(host.skip_reason(f"{SITE}/shop?brand=8&page=3")) == ""
    assert str(host.skip_reason(f"{SITE}/other?brand=8&sort=9")) == ""


def queries(path, *patterns, pages=500):
    """Return pages of a path with the queries of some patterns by turns, each of which links to all of them."""
    written = [patterns[number % len(patterns)].format(n=number, name=NAMES[number % 64]) for number in range(pages)]
    return [
        page(f"{path}?{query}", SENTENCES[n], [f"{path}?{q}" for q in written[:9]]) for n, query in enumerate(written)
    ]


@pytest.mark.parametrize(
    "pages",
    [
        queries("/item", "id={n}"),
        queries("/list", "page={n}", pages=50),
        queries("/list", "cat={n}", "cat={n}&page=2", "cat={n}&sort=price", "cat={n}&page=2&sort=price", "page={n}"),
        queries("/viewtopic.php", "t={n}", "f=3&t={n}", "t={n}&start=15", "f=3&t={n}&start=30", "p={n}"),
        queries(
            "/index.php",
            *(
                "title={name}{n}",
                "title={name}{n}&action=history",
                "title={name}&oldid={n}",
                "title={name}&printable=yes{n}",
            ),
            *(
                "title={name}&diff={n}&oldid=1",
                "title={name}&action=edit&section={n}",
                "title={name}&action=edit&oldid={n}",
            ),
        ),
    ],
)
def test_other_queries_are_no_facets(pages):
    host, count = fetched(pages)
    assert (count, host.left) == (len(pages), {})
