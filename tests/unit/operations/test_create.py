"""A crawl begins with two files, the same for every caller."""

import pytest

from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.errors import ConfigError, UnknownName
from thresher.operations.create import NewCrawl, checked_seed, create_crawl
from thresher.topics.topic import TopicDefinition

TEA = TopicDefinition.from_phrase("tea; 茶")


def test_a_folder_is_made_with_a_topic_and_seeds(tmp_path):
    folder = CrawlFolder(tmp_path / "a" / "tea")
    create_crawl(
        folder, NewCrawl(topic=TEA, seeds=["http://10.0.0.1/"], contact="me@example.org", allow=["127.0.0.0/8"])
    )
    config = load_config(folder.topic)
    assert (config.name, config.title) == ("tea", {"en": "tea", "und": "茶"})
    assert config.network.allow == ["127.0.0.0/8", "10.0.0.1/32"]
    assert folder.seeds.read_text(encoding="utf-8") == "http://10.0.0.1/\n"


def test_settings_change_single_keys(tmp_path):
    folder = CrawlFolder(tmp_path)
    create_crawl(
        folder, NewCrawl(topic=TEA, contact="a@b", settings={"politeness": {"delay_seconds": 9}, "sitemaps": "all"})
    )
    config = load_config(folder.topic)
    assert (config.politeness.contact, config.politeness.delay_seconds, config.sitemaps) == ("a@b", 9, "all")


def test_a_crawl_that_is_there_is_left_alone(tmp_path):
    folder = CrawlFolder(tmp_path)
    create_crawl(folder, NewCrawl(topic=TEA))
    with pytest.raises(ConfigError, match="is there already"):
        create_crawl(folder, NewCrawl(topic=TEA))


def test_what_cannot_be_done_leaves_no_topic(tmp_path):
    folder = CrawlFolder(tmp_path)
    with pytest.raises(UnknownName):
        create_crawl(folder, NewCrawl(topic=TEA, strategy="nosuch"))
    with pytest.raises(ConfigError):
        create_crawl(folder, NewCrawl(topic=TEA, settings={"nosuch": 1}))
    assert not folder.topic.exists()


def test_a_seed_without_a_scheme_gets_a_hint():
    assert checked_seed("HTTP://a.example") == "http://a.example/"
    with pytest.raises(ConfigError, match=r"did you mean https://a\.example"):
        checked_seed("a.example")
