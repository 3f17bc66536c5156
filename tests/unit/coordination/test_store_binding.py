"""A folder says which store its crawl lives in; what is asked for must agree with it."""

import pytest

from thresher.config.folder import CrawlFolder
from thresher.config.run_options import RunOptions
from thresher.coordination.store_binding import STORE_VARIABLE, StoreRecord
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError

HERE, THERE = "redis://here.example:6379/0", "redis://there.example:6379/0"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    (tmp_path / "topic.yaml").write_text("title: {en: solar cells}\n")
    return CrawlFolder(tmp_path)


def test_a_folder_without_a_record_uses_what_is_asked_for_then_topic_yaml(folder):
    folder.topic.write_text(f"title: {{en: solar cells}}\nstore: {HERE}\n")
    assert CrawlSetup.open(folder.root).config.store == HERE
    assert CrawlSetup.open(folder.root, RunOptions(store=THERE)).config.store == THERE


def test_the_record_decides_over_what_topic_yaml_named_when_the_crawl_began(folder):
    folder.topic.write_text(f"title: {{en: solar cells}}\nstore: {THERE}\n")
    StoreRecord.of(HERE, name="solar", topic_store=THERE).write(folder)
    crawl = CrawlSetup.open(folder.root)
    assert (crawl.config.store, crawl.name) == (HERE, "solar")


def test_a_topic_yaml_that_was_changed_to_another_store_is_refused(folder):
    StoreRecord.of(HERE, name="solar").write(folder)
    folder.topic.write_text(f"title: {{en: solar cells}}\nstore: {THERE}\n")
    with pytest.raises(ConfigError, match=r"is in redis://here\.example"):
        CrawlSetup.open(folder.root)


def test_the_password_comes_from_whatever_names_the_same_store(folder, monkeypatch):
    StoreRecord.of("redis://me:pw@here.example", name="solar").write(folder)
    assert CrawlSetup.open(folder.root).config.store == "redis://me@here.example:6379/0"
    monkeypatch.setenv(STORE_VARIABLE, "redis://me:other@there.example")
    assert CrawlSetup.open(folder.root).config.store == "redis://me@here.example:6379/0"
    monkeypatch.setenv(STORE_VARIABLE, "redis://me:pw@HERE.example/0")
    assert CrawlSetup.open(folder.root).config.store == "redis://me:pw@here.example:6379/0"


def test_another_name_than_the_recorded_one_is_refused(folder):
    StoreRecord.of(HERE, name="solar").write(folder)
    with pytest.raises(ConfigError, match="called 'solar'"):
        CrawlSetup.open(folder.root, RunOptions(name="wind"))


@pytest.mark.parametrize("content", ["", "[]", "3", '{"name": "x"}', '{"store": "what"}'])
def test_a_record_that_was_spoiled_is_refused_with_words(folder, content):
    folder.store.write_text(content)
    with pytest.raises(ConfigError, match=r"store\.json"):
        CrawlSetup.open(folder.root)


def test_a_shared_crawl_of_an_earlier_version_does_not_begin_anew_on_this_machine(folder, monkeypatch):
    folder.mark.write_text("3fa2b1")
    assert CrawlSetup.open(folder.root).config.store == "sqlite", "a store that was never reached does not bind"
    folder.pages.mkdir()
    (folder.pages / "w1.db").touch()
    with pytest.raises(ConfigError, match=STORE_VARIABLE):
        CrawlSetup.open(folder.root)
    monkeypatch.setenv(STORE_VARIABLE, HERE)
    assert CrawlSetup.open(folder.root).config.store == HERE
