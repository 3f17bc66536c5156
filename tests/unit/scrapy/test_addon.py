"""The add-on sets what a project does not set itself, and takes over what must not work past the frontier."""

import json

import pytest
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.settings import Settings
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler

from thresher.config.loading import load_config
from thresher.errors import ConfigError
from thresher_scrapy.addon import TopicalAddon
from thresher_scrapy.middlewares import TopicalDownloaderMiddleware, TopicalSpiderMiddleware
from thresher_scrapy.project import NO_LIMIT, open_spider_crawl
from thresher_scrapy.session import AddonSession, robots_token

ADDONS = {"thresher_scrapy.addon.TopicalAddon": 300}


@pytest.fixture
def topic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "topic.yaml"
    path.write_text("title: {en: tea}\npoliteness: {contact: me@example.org, delay_seconds: 3}\n", encoding="utf-8")
    return path


def settings_of(**own):
    return get_crawler(Spider, {"ADDONS": ADDONS, "THRESHER_TOPIC": "topic.yaml", **own}).settings


@pytest.mark.usefixtures("topic")
def test_a_project_that_sets_nothing_gets_our_manners():
    settings = settings_of()
    assert settings["DOWNLOAD_DELAY"] == 3
    assert settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 1
    assert "me@example.org" in settings["USER_AGENT"]
    assert not settings.getbool("TELNETCONSOLE_ENABLED")
    assert settings["TWISTED_DNS_RESOLVER"] == "thresher_scrapy.twisted_adapter.ReactorResolver"
    assert settings["DOWNLOAD_HANDLERS"]["file"] is None


@pytest.mark.usefixtures("topic")
def test_what_a_project_sets_itself_stays():
    settings = settings_of(DOWNLOAD_DELAY=7, USER_AGENT="teabot (+https://tea.example)", COOKIES_ENABLED=False)
    assert settings["DOWNLOAD_DELAY"] == 7
    assert settings["USER_AGENT"].startswith("teabot")
    assert not settings.getbool("COOKIES_ENABLED")
    assert robots_token(settings) == "teabot"


@pytest.mark.usefixtures("topic")
def test_what_must_not_work_past_the_frontier_is_taken_over():
    settings = settings_of(JOBDIR="job", ROBOTSTXT_OBEY=True)
    downloader = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    assert downloader[RedirectMiddleware] is None
    assert downloader[TopicalDownloaderMiddleware] == 545
    assert settings.get_component_priority_dict_with_base("SPIDER_MIDDLEWARES")[TopicalSpiderMiddleware] == 10
    assert settings["JOBDIR"] is None


@pytest.mark.usefixtures("topic")
def test_the_middlewares_find_their_office():
    crawler = get_crawler(Spider, {"ADDONS": ADDONS, "THRESHER_TOPIC": "topic.yaml"})
    assert isinstance(AddonSession.of(crawler), AddonSession)
    with pytest.raises(ConfigError, match="ADDONS"):
        AddonSession.of(get_crawler(Spider))


def test_a_topic_that_is_not_there_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="THRESHER_TOPIC is not set"):
        TopicalAddon.update_pre_crawler_settings(Settings())
    with pytest.raises(ConfigError, match="there is no file"):
        TopicalAddon.update_pre_crawler_settings(Settings({"THRESHER_TOPIC": "topic.yaml"}))


def test_the_crawl_of_a_spider_orders_and_does_not_cut(topic):
    crawl = open_spider_crawl(topic, load_config(topic), spider="one", start=["https://a.example/", "nonsense"])
    assert crawl.seeds() == ["https://a.example/"]
    assert crawl.rules().host_limits.budget.most == NO_LIMIT
    assert crawl.rules().scope.allows("https://b.example/", 1000) == ""
    assert crawl.folder.root == topic.parent / ".thresher" / "one"
    assert load_config(crawl.folder.topic).seeds == []


def test_a_bundled_node_stays_one_in_the_crawl_of_a_spider(topic):
    document = {
        "taxonomy": {"file": "bundled", "nodes": ["Food/Drinks/Tea"]},
        "politeness": {"contact": "a@b"},
    }
    topic.write_text(json.dumps(document), encoding="utf-8")
    crawl = open_spider_crawl(topic, load_config(topic), spider="one", start=())
    assert crawl.topic().title == {"en": "Tea", "zh": "茶"}
    assert load_config(crawl.folder.topic).taxonomy.file == "bundled"


def test_limits_that_topic_yaml_names_are_kept(topic):
    document = {
        "title": {"en": "tea"},
        "scope": {"max_pages_per_host": 9, "max_depth": 2},
        "politeness": {"contact": "a@b"},
    }
    topic.write_text(json.dumps(document), encoding="utf-8")
    crawl = open_spider_crawl(topic, load_config(topic), spider="one", start=())
    assert crawl.rules().host_limits.budget.most == 9
    assert crawl.rules().scope.allows("https://b.example/", 3)
