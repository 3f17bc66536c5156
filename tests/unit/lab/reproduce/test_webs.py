"""The webs of the experiments."""

import pytest

from thresher.errors import ConfigError, UnknownName
from thresher_lab.reproduce.webs import (
    SECTIONS_WEB,
    labels_of,
    language_of,
    open_named,
    sampling_name,
    taxonomy_strength,
    topics_of,
)
from thresher_lab.webs.importers.pagefile import SourcePage, write_web


def test_a_generated_web_has_the_size_and_the_language_of_its_name():
    web = open_named("generated-zh-600")
    assert (web.name, len(web)) == ("generated-zh-600", 600)
    assert language_of("generated-zh-600") == "zh"
    assert {web.get(url).language for url in list(web.urls())[:20]} == {"zh"}


def test_the_name_of_a_generated_web_sets_how_strictly_it_follows_the_taxonomy():
    web = open_named("generated-en-600-taxonomy100")
    assert any("/science/" in url for url in web.urls())
    assert taxonomy_strength("generated-en-600-taxonomy50") == 0.5
    assert taxonomy_strength("generated-en-600") == 0
    assert taxonomy_strength("webkb") is None


def test_webs_of_different_strength_have_the_same_samples():
    assert sampling_name("generated-en-600-taxonomy50") == sampling_name("generated-en-600") == "generated-en-600"
    assert sampling_name(SECTIONS_WEB) == SECTIONS_WEB


def test_a_path_of_labels_goes_down_to_the_topic():
    assert labels_of("wikispeedia", "Geography/Storms") == [[{"en": "Geography"}, {"en": "Storms"}]]


def test_on_a_chinese_web_labels_are_known_in_both_languages():
    assert labels_of("nankai_zh", "chemistry") == [[{"en": "chemistry", "zh": "化学"}]]


def test_the_island_of_a_topic_is_none_of_its_labels():
    assert labels_of("archipelago", "webkb/course") == [[{"en": "course"}]]


def test_topics_are_a_side_of_the_split_or_named():
    assert topics_of("wikispeedia", ["dev"], 1) == ["Everyday_life/Films"]
    assert topics_of("wikispeedia", ["Countries"], 1) == ["Countries"]


def test_a_web_nobody_tuned_on_has_no_sides():
    assert topics_of("generated-en", ["dev"]) == topics_of("generated-en", ["test"])


def test_a_small_web_is_not_crawled_for_topics_that_it_lacks():
    web = open_named("generated-en-600")
    assert all(web.targets(topic) for topic in topics_of("generated-en-600", ["test"]))


@pytest.fixture
def university(tmp_path, monkeypatch):
    """Two pages of one host, of two sections."""
    pages = [
        SourcePage(url="http://cs.example/a.htm", html="<p>a</p>", topics=("cs",), extra={"section": ["news"]}),
        SourcePage(url="http://cs.example/b.htm", html="<p>b</p>", topics=("cs",), extra={"section": ["alumni"]}),
    ]
    write_web(tmp_path / "nankai_zh.pages.jsonl.zst", pages)
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    open_named.__globals__["_sections"].cache_clear()
    yield open_named(SECTIONS_WEB)
    open_named.__globals__["_sections"].cache_clear()


def test_sections_take_the_place_of_hosts_as_labels(university):
    assert university.targets("news") == {university.page_id("http://cs.example/a.htm")}
    assert university.is_topic("http://cs.example/b.htm", "alumni")
    assert university.topics()["news"] == 1
    university.close()


def test_an_unknown_section_is_an_error(university):
    with pytest.raises(UnknownName):
        university.targets("cs")
    university.close()


def test_without_its_page_file_there_are_no_sections(university, tmp_path):
    (tmp_path / "nankai_zh.pages.jsonl.zst").unlink()
    with pytest.raises(ConfigError, match="not there"):
        university.targets("news")
    university.close()
