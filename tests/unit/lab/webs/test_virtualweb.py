"""A frozen web answers like a web, and knows what its pages are about."""

import os
import threading
from pathlib import Path

import pytest

from thresher.errors import ConfigError, UnknownName
from thresher.parsing.html import parse
from thresher_lab.webs.importers.pagefile import SourcePage
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.virtualweb import VirtualWeb, Web, WebPage


def page(url, *topics, html="<title>t</title>", **more):
    return SourcePage(url=url, html=html, topics=topics, **more)


@pytest.fixture
def labelled(make_web):
    return make_web(
        [
            page("http://a.example/cat", "Science/Biology/Mammals", "Pets"),
            page("http://a.example/rock", "Science/Geology"),
            page("http://b.example/song", "Music"),
            page("http://b.example/tune", "Musicology"),
            page("http://b.example/other"),
        ]
    )


def test_a_page_comes_back_as_it_was(make_web):
    html = "<title>Möwe</title><p>Über das Meer</p>"
    web = make_web([page("http://a.example/", "Birds", html=html, language="de")])
    found = web.get("http://a.example/")
    expected = WebPage(url="http://a.example/", title="Möwe", language="de", topics=("Birds",), html=html)
    assert found == expected


def test_an_address_without_a_page_has_none(labelled):
    assert labelled.get("http://a.example/dog") is None
    assert labelled.page_id("http://a.example/dog") is None


def test_pages_are_numbered_from_zero_in_the_order_of_the_file(labelled):
    assert [labelled.page_id(url) for url in labelled.urls()] == [0, 1, 2, 3, 4]
    assert [labelled.url_of(number) for number in range(len(labelled))] == list(labelled.urls())


def test_there_is_no_page_beyond_the_last(labelled):
    with pytest.raises(IndexError, match="pages 0 to 4, not 5"):
        labelled.url_of(5)
    with pytest.raises(IndexError):
        labelled.links_from(-1)


def test_a_topic_counts_its_subtree(labelled):
    topics = labelled.topics()
    assert topics["Science"] == 2
    assert topics["Science/Biology"] == 1
    assert labelled.targets("Science") == {0, 1}
    assert labelled.targets("Science/Biology/Mammals") == {0}


def test_a_page_with_two_labels_under_one_topic_counts_once(make_web):
    web = make_web([page("http://a.example/", "Art/Painting", "Art/Design")])
    assert web.topics() == {"Art": 1, "Art/Design": 1, "Art/Painting": 1}


def test_a_topic_is_never_a_part_of_a_word(labelled):
    assert labelled.targets("Music") == {2}
    assert labelled.is_topic("http://b.example/song", "Music")
    assert not labelled.is_topic("http://b.example/tune", "Music")
    assert not labelled.is_topic("http://a.example/cat", "Biology")


def test_a_page_that_is_not_there_has_no_topic(labelled):
    assert not labelled.is_topic("http://a.example/dog", "Science")


def test_a_misspelt_topic_is_an_error(labelled):
    with pytest.raises(UnknownName, match="no topic is called 'Sience'"):
        labelled.targets("Sience")


def test_hosts_are_counted(labelled):
    assert labelled.hosts() == {"a.example": 2, "b.example": 3}


def test_links_lead_to_pages_of_the_web_each_once(make_web):
    web = make_web(
        {
            "http://a.example/": ["/one", "http://gone.example/", "/one#part", "/two"],
            "http://a.example/one": [],
            "http://a.example/two": ["/"],
        }
    )
    assert [web.links_from(number) for number in range(3)] == [(1, 2), (), (0,)]


def test_a_link_that_crawlers_should_not_follow_is_no_link(make_web):
    html = '<a href="/b" rel="nofollow">b</a> <a href="/c">c</a>'
    web = make_web([page("http://a.example/", html=html), page("http://a.example/b"), page("http://a.example/c")])
    assert web.links_from(0) == (2,)


@pytest.mark.parametrize("charset", ["gbk", "gb2312", "gb18030", "utf-8", "big5"])
def test_a_page_is_sent_in_its_own_charset(charset):
    sent = WebPage(url="http://a.example/", title="", language="zh", topics=(), html="<p>中文</p>", charset=charset)
    assert sent.body == "<p>中文</p>".encode(charset)
    assert sent.content_type == f"text/html; charset={charset}"


def test_a_page_that_its_charset_cannot_write_is_sent_in_utf_8():
    sent = WebPage(url="http://a.example/", title="", language="zh", topics=(), html="<p>中文</p>", charset="latin-1")
    assert sent.body == "<p>中文</p>".encode()
    assert sent.content_type == "text/html; charset=utf-8"


def test_a_page_with_an_unknown_charset_is_sent_in_utf_8():
    sent = WebPage(url="http://a.example/", title="", language="", topics=(), html="<p>x</p>", charset="klingon")
    assert sent.content_type == "text/html; charset=utf-8"
    assert sent.body == b"<p>x</p>"


def test_what_the_parser_reads_is_what_was_stored(make_web):
    html = '<meta charset="gb2312"><title>中国</title><p>我们在学校学习中文。</p>'
    sent = make_web([page("http://a.example/", html=html, charset="gb2312")]).get("http://a.example/")
    assert parse(sent.url, sent.body, sent.content_type).text == "中国 我们在学校学习中文。"


def test_threads_may_read_at_the_same_time(make_web):
    bodies = {f"http://a.example/{number}": f"<p>{number}</p>" * 500 for number in range(20)}
    web = make_web([page(url, html=html) for url, html in bodies.items()])
    wrong = []

    def read():
        wrong.extend(url for url, html in bodies.items() for _ in range(10) if web.get(url).html != html)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_web_is_opened_by_its_name(make_web, folders):
    make_web({"http://a.example/": []}, name="mine")
    web: Web = open_web("mine", **folders)
    assert isinstance(web, VirtualWeb)
    assert (web.name, len(web)) == ("mine", 1)
    web.close()


def test_the_folder_of_webs_comes_from_the_environment(make_web, folders, monkeypatch):
    make_web({"http://a.example/": []}, name="mine")
    monkeypatch.setenv("THRESHER_WEBS", str(folders["webs"]))
    monkeypatch.setenv("THRESHER_CACHE", str(folders["cache"]))
    with open_web("mine") as web:
        assert len(web) == 1


def test_without_a_folder_of_webs_the_error_says_what_to_set(monkeypatch):
    monkeypatch.delenv("THRESHER_WEBS", raising=False)
    with pytest.raises(ConfigError, match="set THRESHER_WEBS"):
        open_web("mine")


def test_an_unknown_web_is_an_error_that_names_the_known_ones(make_web, folders):
    make_web({"http://a.example/": []}, name="mine")
    with pytest.raises(UnknownName, match="no web is called 'yours'; known: mine"):
        open_web("yours", **folders)


MINI = Path(os.environ.get("THRESHER_WEBS", "")) / "wikispeedia_mini.pages.jsonl.zst"


@pytest.mark.skipif(not MINI.is_file(), reason="set THRESHER_WEBS to a folder with wikispeedia_mini.pages.jsonl.zst")
def test_the_mini_wikipedia_can_be_crawled_by_our_parser(tmp_path):
    with open_web("wikispeedia_mini", webs=MINI.parent, cache=tmp_path) as web:
        assert len(web) == 299
        assert web.topics()["Mathematics"] == 45
        for number in range(0, len(web), 30):
            page = web.get(web.url_of(number))
            links = {link.url for link in parse(page.url, page.body, page.content_type).links}
            assert {web.url_of(target) for target in web.links_from(number)} == links & set(web.urls())
