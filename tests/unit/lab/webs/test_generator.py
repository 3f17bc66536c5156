"""A generated web looks like a web, keeps nothing, and is always the same for the same seed."""

import sys
import tracemalloc
from itertools import islice

import pytest

from thresher.errors import ConfigError, UnknownName
from thresher.parsing.html import parse
from thresher.urls.canonical import canonicalize
from thresher_lab.webs.generator import generate
from thresher_lab.webs.virtualweb import Web
from thresher_lab.webs.vocabulary import TOPICS, vocabulary


@pytest.fixture(scope="module")
def web():
    return generate(7, pages=1_500, hosts=15, traps=0.3)


def parsed(web, url):
    page = web.get(url)
    return parse(url, page.body, page.content_type)


def test_it_is_a_web(web):
    as_web: Web = web
    assert len(as_web) == 1_500
    assert len(as_web.hosts()) == 15
    assert sum(as_web.hosts().values()) == 1_500


def test_addresses_and_numbers_belong_together(web):
    urls = list(web.urls())
    assert len(set(urls)) == 1_500
    assert [web.page_id(url) for url in urls] == list(range(1_500))
    assert all(canonicalize(url) == url for url in urls)


@pytest.mark.parametrize("number", [-1, 1_500])
def test_there_is_no_page_beyond_the_last(web, number):
    with pytest.raises(IndexError):
        web.url_of(number)


def test_an_address_that_is_only_like_a_page_is_none(web):
    url = next(url for url in islice(web.urls(), 1, None) if url.endswith(".html"))
    host, _, path = url.removeprefix("http://").partition("/")
    for other in (f"https://{host}/{path}", f"http://{host}/x{path}", f"http://{host}/", f"http://a{host}/"):
        assert web.page_id(other) in (None, web.page_id(f"http://{host}/"))
    assert web.get(url.replace(".html", ".htm")) is None
    assert web.get("http://elsewhere.example/") is None
    assert web.get(f"http://{host}/{path[:-5]}999999.html") is None


def test_a_parser_reads_the_links_that_the_web_tells(web):
    for number in range(0, 1_500, 37):
        links = {link.url for link in parsed(web, web.url_of(number)).links}
        known = {web.page_id(url) for url in links} - {None}
        assert known == set(web.links_from(number))


def test_some_links_are_dead(web):
    links = [link.url for number in range(200) for link in parsed(web, web.url_of(number)).links]
    dead = [url for url in links if web.get(url) is None]
    assert 0.01 < len(dead) / len(links) < 0.06


def test_pages_have_what_real_pages_have(web):
    targets = sorted(web.targets("Science/Astronomy"))
    page = parsed(web, web.url_of(targets[5]))
    assert page.title
    assert page.title in page.headings
    assert len(page.keywords.split(",")) == 4
    assert page.description in page.text
    assert len({link.tag_path for link in page.links}) >= 2


def test_a_page_uses_the_words_of_its_topic(web):
    def share(number, topic):
        page = web.get(web.url_of(number))
        words = {word for name in (TOPICS[topic],) for word in vocabulary(page.language, name).nouns if len(word) > 1}
        text = parse(page.url, page.body, page.content_type).text
        return sum(text.count(word) for word in words) / len(text)

    about = sorted(web.targets("Arts/Music"))[:20]
    others = sorted(web.targets("Life/Cooking"))[:20]
    assert min(share(number, "Arts/Music") for number in about) > max(share(n, "Arts/Music") for n in others)


def test_labels_and_targets_agree(web):
    counted = web.topics()
    assert counted["Science"] == sum(pages for label, pages in counted.items() if label.startswith("Science/"))
    assert len(web.targets("Science")) == counted["Science"]
    number = min(web.targets("Science/Astronomy"))
    assert web.get(web.url_of(number)).topics == ("Science/Astronomy",)
    assert web.is_topic(web.url_of(number), "Science")
    assert not web.is_topic(web.url_of(number), "Arts")
    assert not web.is_topic("http://elsewhere.example/", "Science")
    with pytest.raises(UnknownName):
        web.targets("Astronomy")


def test_chinese_pages_come_in_two_charsets(web):
    pages = [web.get(f"http://{host}/") for host in web.hosts()]
    assert {page.language for page in pages} == {"en", "zh"}
    assert {page.charset for page in pages if page.language == "zh"} == {"gbk", "utf-8"}
    for page in pages:
        assert parse(page.url, page.body, page.content_type).title == page.title
        assert parse(page.url, page.body, page.content_type).language == page.language


def test_a_calendar_never_ends_and_is_about_nothing(web):
    starts = (link.url for number in range(1_500) for link in parsed(web, web.url_of(number)).links)
    url = next(url for url in starts if "/calendar/" in url)
    seen = set()
    for _ in range(50):
        page = web.get(url)
        assert page.topics == ()
        assert web.page_id(url) is None
        seen.add(url)
        url = next(link.url for link in parsed(web, url).links if "/calendar/" in link.url and link.url not in seen)


def test_a_host_without_a_calendar_has_no_months():
    web = generate(7, pages=100, hosts=2, traps=0.0)
    host = next(iter(web.hosts()))
    assert web.get(f"http://{host}/calendar/2020/1/") is None


def test_pages_are_as_long_as_wanted():
    for size in (3_000, 20_000):
        web = generate(1, pages=500, hosts=5, page_bytes=size, hub_share=0.0)
        sizes = [len(web.get(web.url_of(number)).body) for number in range(0, 500, 10)]
        assert sum(sizes) / len(sizes) == pytest.approx(size, rel=0.25)


def test_the_same_seed_gives_the_same_pages():
    one, same, other = generate(1, pages=200, hosts=3), generate(1, pages=200, hosts=3), generate(2, pages=200, hosts=3)
    assert one.name == same.name != other.name
    assert [one.get(url) for url in one.urls()] == [same.get(url) for url in same.urls()]
    assert set(one.urls()) != set(other.urls())


def test_urls_spell_the_taxonomy_as_far_as_wanted():
    webs = [generate(7, pages=3_000, hosts=15, taxonomy_strength=strength) for strength in (0.0, 0.5, 1.0)]
    spelled = [sum("/science/" in url or "/kexue/" in url for url in web.urls()) for web in webs]
    assert spelled[0] == 0 < spelled[1] < spelled[2]
    assert spelled[2] == pytest.approx(len(webs[2].targets("Science")), rel=0.1)
    assert [webs[2].page_id(url) for url in webs[2].urls()] == list(range(3_000))
    assert any("/kexue/tianwen/" in url for url in webs[2].urls())


def test_pages_of_a_topic_are_the_same_at_any_strength_of_the_taxonomy():
    plain, filed = (generate(7, pages=600, hosts=6, taxonomy_strength=strength) for strength in (0.0, 1.0))
    assert plain.topics() == filed.topics()
    assert plain.name != filed.name
    assert plain.name == generate(7, pages=600, hosts=6).name


def test_between_two_islands_of_a_topic_lie_irrelevant_pages():
    web = generate(3, pages=1_200, hosts=6, tunnel_depth=2, dead_links=0.0)
    targets = web.targets("Science/Astronomy")
    start = min(targets)
    island = reachable(web, {start}, targets)
    assert island < targets
    ring = set(island)
    for _ in range(2):
        ring = {link for page in ring for link in web.links_from(page)} - island
        assert not ring & targets
    assert {link for page in ring for link in web.links_from(page)} & (targets - island)


def reachable(web, start, allowed):
    seen, waiting = set(start), list(start)
    while waiting:
        for link in web.links_from(waiting.pop()):
            if link in allowed and link not in seen:
                seen.add(link)
                waiting.append(link)
    return seen


def test_a_million_pages_cost_no_memory():
    tracemalloc.start()
    web = generate(1, pages=1_000_000, hosts=1_000)
    for number in range(0, 1_000_000, 100_000):
        assert web.get(web.url_of(number)) is not None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000, f"{peak} bytes on {sys.platform}"


@pytest.mark.parametrize(
    "knobs",
    [
        {"locality": 1.5},
        {"dead_links": -0.1},
        {"taxonomy_strength": 1.1},
        {"pages": 10, "hosts": 10},
        {"hosts": 0},
        {"topics": ["Knitting"]},
        {"languages": ["fr"]},
    ],
)
def test_what_cannot_be_done_is_refused(knobs):
    with pytest.raises(ConfigError):
        generate(1, **knobs)
