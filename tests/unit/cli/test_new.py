"""A crawl of taxonomy nodes is started like one of a phrase."""

import pytest

from thresher.cli.new import EarlierCrawl, _choose, _located, _relative_to
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.topics.topic import TopicDefinition

MINE = """
Sports 体育:
  - Basketball 篮球:
      examples: [{url: "http://hoops.example/", title: Hoops}, "http://127.0.0.1/private"]
      children: [NBA]
  - Tennis 网球
"""


@pytest.fixture
def new(tmp_path, monkeypatch, shell):
    """Run `thresher new crawl …` beside a small taxonomy: exit code and standard error."""
    (tmp_path / "mine.yaml").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code, _, err = shell("new", "crawl", *arguments)
        return code, err

    return run


BASKETBALL = ("--taxonomy", "mine.yaml", "--node", "Sports/Basketball")


@pytest.mark.parametrize(
    ("arguments", "title", "languages"),
    [
        (("--topic", "Gartenrosen", "--language", "de"), {"de": "Gartenrosen"}, ["de"]),
        (("--topic", "tennis", "--language", "fr", "--language", "en"), {"en": "tennis"}, ["fr", "en"]),
        (("--topic", "Gartenrosen"), {"und": "Gartenrosen"}, "auto"),
        (("--topic", "tennis; 网球"), {"en": "tennis", "zh": "网球"}, "auto"),
    ],
)
def test_the_languages_are_those_given_or_follow_from_phrases_and_seeds(new, tmp_path, arguments, title, languages):
    assert new(*arguments, "--seed", "https://a.example/")[0] == 0
    config = CrawlSetup.open(tmp_path / "crawl").config
    assert (config.title, config.languages) == (title, languages)


def test_a_node_becomes_the_topic(new, tmp_path):
    assert new(*BASKETBALL)[0] == 0
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert crawl.config.title == {"en": "Basketball", "zh": "篮球"}
    assert crawl.config.languages == "auto"
    assert crawl.topic().vectors() == {"en": {"sport": 0.5, "basketbal": 1.0}, "zh": {"体育": 0.5, "篮球": 1.0}}


def test_one_language_may_be_chosen(new, tmp_path):
    new(*BASKETBALL, "--language", "zh")
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert crawl.config.title == {"zh": "篮球"}
    assert list(crawl.topic().vectors()) == ["zh"]


def test_keywords_are_added_to_a_node(new, tmp_path):
    new(*BASKETBALL, "--keywords", "racket")
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert crawl.config.keywords == ["racket"]
    assert crawl.topic().vectors()["en"] == {"sport": 0.5, "basketbal": 1.0, "racket": 1.0}


def test_several_nodes_become_several_topics(new, tmp_path):
    code, err = new(*BASKETBALL, "--node", "Top/Sports/Tennis", "--seed", "tennis=http://t.example/")
    assert code == 0
    assert "judged and counted separately: basketball, tennis." in err
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert {name: topic.nodes for name, topic in crawl.config.topics.items()} == {
        "basketball": ["Sports/Basketball"],
        "tennis": ["Sports/Tennis"],
    }
    assert crawl.topic_seeds("basketball") == ["http://hoops.example/"]
    assert crawl.topic_seeds("tennis") == ["http://t.example/"]
    assert crawl.topic("tennis").vectors()["en"] == {"sport": 0.5, "tenni": 1.0}
    assert crawl.config.title == {"en": "Basketball, Tennis", "zh": "篮球, 网球"}


def test_several_nodes_of_the_bundled_taxonomy_have_their_own_keywords(new, tmp_path):
    code, err = new(
        "--node", "Technology/Energy/Solar_Power", "--node", "Food/Drinks/Tea", "--seed", "tea=http://t.example/"
    )
    assert code == 0, err
    config = CrawlSetup.open(tmp_path / "crawl").config
    assert config.keywords == []
    assert "green tea" in config.topics["tea"].keywords
    assert "green tea" not in config.topics["solar_power"].keywords


def test_several_phrases_become_several_topics_with_names_of_their_own(new, tmp_path):
    code, err = new("--topic", "green tea; 绿茶", "--topic", "Green Tea!", "--seed", "http://a.example/")
    assert code == 0
    assert "Without seeds, only by their words: green-tea, green-tea-2. Better: --seed green-tea=URL" in err
    assert "they belong to no topic" in err
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert crawl.config.topics["green-tea"].title == {"en": "green tea", "zh": "绿茶"}
    assert list(crawl.config.topics) == ["green-tea", "green-tea-2"]
    assert crawl.seeds() == ["http://a.example/"]
    assert crawl.topic_seeds("green-tea") == []


def test_a_seed_of_an_unknown_topic_and_keywords_of_several_are_refused(new):
    topics = ("--topic", "green tea", "--topic", "solar cells")
    code, err = new(*topics, "--seed", "tea=http://a.example/")
    assert (code, "no topic is called 'tea'; the topics are green-tea, solar-cells" in err) == (4, True)
    code, err = new(*topics, "--keywords", "pot", "--seed", "http://a.example/")
    assert (code, "write the keywords of several topics into topic.yaml" in err) == (4, True)


def test_example_pages_are_the_seeds_when_none_is_given(new, tmp_path):
    _, err = new(*BASKETBALL)
    assert (tmp_path / "crawl" / "seeds.txt").read_text() == "http://hoops.example/\n"
    assert "1 example pages of the taxonomy" in err
    assert CrawlSetup.open(tmp_path / "crawl").config.network.allow == []


def test_seeds_of_the_user_win(new, tmp_path):
    new(*BASKETBALL, "--seed", "http://b.example/")
    assert (tmp_path / "crawl" / "seeds.txt").read_text() == "http://b.example/\n"


def test_a_taxonomy_inside_the_crawls_folder_moves_with_it(new, tmp_path):
    (tmp_path / "crawl").mkdir()
    (tmp_path / "mine.yaml").rename(tmp_path / "crawl" / "mine.yaml")
    new("--taxonomy", "crawl/mine.yaml", "--node", "Sports")
    (tmp_path / "crawl").rename(tmp_path / "moved")
    crawl = CrawlSetup.open(tmp_path / "moved")
    assert crawl.config.taxonomy.file == "mine.yaml"
    assert crawl.topic().title == {"en": "Sports", "zh": "体育"}


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("--taxonomy", "mine.yaml", "--node", "Sports/Tenis"), "nearest: 'Sports/Tennis'"),
        (("--taxonomy", "mine.yaml"), "give --node PATH"),
        (("--taxonomy", "mine.yaml", "--node", "Sports", "--topic", "tennis"), "and no --topic"),
        (("--node", "Sports/Basketbal"), "in the bundled taxonomy; nearest: 'Sports/Basketball'"),
        (("--node", "Sports", "--topic", "tennis"), "and no --topic"),
        (("--taxonomy", "none.yaml", "--node", "Sports"), "there is no taxonomy none.yaml"),
        (("--taxonomy", "mine.yaml", "--node", "Sports/Basketball/NBA", "--language", "zh"), "has no label in zh"),
        ((), "the topic has no words"),
    ],
)
def test_invalid_arguments_are_reported_and_nothing_is_written(new, tmp_path, arguments, printed):
    code, err = new(*arguments)
    assert code == 4
    assert printed in err
    assert not (tmp_path / "crawl").exists()


def test_without_a_file_the_node_is_one_of_the_bundled_taxonomy(new, tmp_path):
    code, err = new("--node", "Sports/Basketball", "--seed", "http://a.example/", "--keywords", "hoops")
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert code == 0
    assert "Sports/Basketball of the bundled taxonomy" in err
    assert crawl.config.taxonomy.file == "bundled"
    assert crawl.config.title == {"en": "Basketball", "zh": "篮球"}
    assert set(crawl.config.about) == {"en", "zh"}
    assert {"NBA", "扣篮", "hoops"} <= set(crawl.config.keywords)
    assert crawl.topic().vectors()["zh"]["体育"] == 0.5
    assert crawl.topic_profile().url_evidence("http://www.example.com/tiyu/lanqiu/") == 1.0


def test_a_crawl_after_one_of_a_bundled_node_has_the_same_node(tmp_path):
    earlier = EarlierCrawl(
        topic=TopicDefinition(), contact="", taxonomy=_located(tmp_path, "bundled"), nodes=["Sports/Basketball"]
    )
    choice = _choose("", "", [], [], earlier)
    assert (_relative_to(tmp_path, choice.taxonomy), choice.nodes) == ("bundled", ["Sports/Basketball"])


def test_a_topic_yaml_whose_node_is_gone_says_so(new, tmp_path):
    new(*BASKETBALL)
    (tmp_path / "mine.yaml").write_text("Arts: [Music]\n")
    with pytest.raises(ConfigError, match="no node 'Sports/Basketball'"):
        CrawlSetup.open(tmp_path / "crawl").topic()


def test_a_crawl_gives_the_classes_of_its_taxonomy(new, tmp_path):
    new(*BASKETBALL)
    path = tmp_path / "crawl" / "topic.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("taxonomy: {", "taxonomy: {min_urls_per_class: 1, "))
    assert CrawlSetup.open(tmp_path / "crawl").classes() == {"Sports/Basketball": ["Hoops"]}


def test_the_bundled_taxonomy_has_no_example_pages_to_learn_classes_from(new, tmp_path):
    new("--node", "Sports/Basketball", "--seed", "http://a.example/")
    crawl = CrawlSetup.open(tmp_path / "crawl")
    for learn in (crawl.classes, crawl.class_urls):
        with pytest.raises(ConfigError, match="learned from example pages, and the bundled taxonomy has none"):
            learn()


def test_a_crawl_without_taxonomy_has_no_classes(new, tmp_path):
    new("--topic", "tennis")
    assert CrawlSetup.open(tmp_path / "crawl").classes() == {}


def test_seeds_alone_are_a_topic(new, tmp_path):
    code, printed = new("--seed", "https://a.example/", "--contact", "me@a.example")
    assert code == 0
    crawl = CrawlSetup.open(tmp_path / "crawl")
    assert (crawl.topic().vectors(), crawl.judge_profile().seeds) == ({}, frozenset(["https://a.example/"]))
    assert "thresher try crawl https://a.example/" in printed
