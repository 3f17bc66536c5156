"""A folder is made when it is not there, opened when it is, and refused when it is another crawl's."""

import pytest

import thresher
from thresher.config.loading import load_config
from thresher.errors import ConfigError, CrawlNotFound, UnknownName

SEED = "https://a.example/"


def made(folder, **changes):
    given = {"topic": thresher.Topic("tea; 茶"), "seeds": [SEED], "contact": "me@example.org"}
    return thresher.Crawl(folder, **{**given, **changes})


def test_a_new_folder_holds_what_was_given(tmp_path):
    topic = thresher.Topic(
        "green tea; 绿茶",
        keywords=["sencha"],
        about="Leaves and pots.",
        examples={"https://a.example/yes": True, "https://a.example/no": False},
    )
    crawl = made(tmp_path / "tea", topic=topic, settings={"politeness": {"delay_seconds": 5}, "stop": {"pages": 7}})
    config = load_config(crawl.folder / "topic.yaml")
    assert config.title == {"en": "green tea", "zh": "绿茶"}
    assert config.keywords == ["sencha"]
    assert config.about == {"en": "Leaves and pots."}
    assert config.examples.yes == ["https://a.example/yes"]
    assert config.examples.no == ["https://a.example/no"]
    assert (config.politeness.contact, config.politeness.delay_seconds) == ("me@example.org", 5)
    assert config.stop.pages == 7
    assert (crawl.folder / "seeds.txt").read_text() == f"{SEED}\n"
    assert crawl.name == "tea"


def test_the_command_line_writes_the_same_files(tmp_path):
    from testing.commands import called

    made(tmp_path / "a" / "tea")
    called("new", "tea", "--topic", "tea; 茶", "--seed", SEED, "--contact", "me@example.org", folder=tmp_path)
    for name in ("topic.yaml", "seeds.txt"):
        assert (tmp_path / "a" / "tea" / name).read_text() == (tmp_path / "tea" / name).read_text()


def test_a_private_seed_is_allowed_as_its_user_means_it(tmp_path):
    crawl = made(tmp_path / "tea", seeds=["http://127.0.0.1:8080/"])
    assert load_config(crawl.folder / "topic.yaml").network.allow == ["127.0.0.0/8"]


def test_the_same_words_open_the_folder_again(tmp_path):
    made(tmp_path / "tea")
    assert made(tmp_path / "tea").name == "tea"
    assert thresher.Crawl(tmp_path / "tea").name == "tea"
    assert thresher.Crawl(tmp_path / "tea", topic="tea; 茶").name == "tea"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"topic": thresher.Topic("coffee")}, "title is"),
        ({"topic": thresher.Topic("tea; 茶", keywords=["pot"])}, "keywords is"),
        ({"contact": "you@example.org"}, "politeness.contact is 'me@example.org', and 'you@example.org' was given"),
        ({"strategy": "breadth-first"}, "strategy.name is"),
        ({"settings": {"stop": {"pages": 3}}}, "stop.pages is 50000"),
        ({"seeds": ["https://b.example/"]}, "seeds"),
    ],
)
def test_another_crawl_in_the_folder_is_refused_with_words(tmp_path, changes, words):
    made(tmp_path / "tea")
    with pytest.raises(ConfigError, match="about another crawl") as caught:
        made(tmp_path / "tea", **changes)
    assert words in str(caught.value)
    assert "Crawl(" in str(caught.value)


def test_nothing_is_made_of_nothing(tmp_path):
    with pytest.raises(CrawlNotFound):
        thresher.Crawl(tmp_path / "tea")
    with pytest.raises(ConfigError, match="no words"):
        thresher.Crawl(tmp_path / "tea", topic=thresher.Topic())
    assert not (tmp_path / "tea").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seeds": ["a.example"]}, "did you mean https://a.example"),
        ({"seeds": SEED}, "expected a list of URLs"),
        ({"settings": {"politeness": {"delay": 5}}}, "delay"),
    ],
)
def test_invalid_options_are_reported_and_leave_no_crawl(tmp_path, changes, words):
    with pytest.raises(ConfigError, match=words):
        made(tmp_path / "tea", **changes)
    assert not (tmp_path / "tea" / "topic.yaml").exists()


def test_an_unknown_strategy_is_refused(tmp_path):
    with pytest.raises(UnknownName):
        made(tmp_path / "tea", strategy="nosuch")


def test_a_text_is_no_list():
    with pytest.raises(ConfigError, match="expected a list"):
        thresher.Topic("tea", keywords="pot")


@pytest.mark.parametrize(("name", "value"), [("pages", 0), ("minutes", -1), ("workers", 0)])
def test_limits_are_above_0(tmp_path, name, value):
    with pytest.raises(ConfigError, match=name):
        made(tmp_path / "tea").run(**{name: value})
