"""A crawl's folder may be damaged or a stranger's: what was learned is data, and is refused in a sentence."""

import pickle

import pytest

from thresher.assembly import build_judge
from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError


class Trap:
    """Something that runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x93NUMPY", pickle.dumps(Trap())])
def test_a_judge_that_cannot_read_its_notes_says_where_they_are(tmp_path, content):
    (tmp_path / "topic.yaml").write_text("title: {en: solar cells}\nseeds: [http://a.example/]\n")
    notes = tmp_path / "model" / "judge" / "w1"
    notes.mkdir(parents=True)
    (notes / "sample-other").write_bytes(content or b"PK\x05\x06" + bytes(18))
    crawl = CrawlSetup.open(tmp_path)
    with pytest.raises(ThresherError, match="move it away to start again"):
        build_judge(crawl, crawl.backend.state_stores("w1"))


LAB = '{"*:80": "127.0.0.1:8080", "*:443": "127.0.0.1:8443"}'


@pytest.mark.parametrize(
    ("more", "outside"),
    [
        ("", "politeness.contact is empty"),
        ("politeness: {contact: me@example.org}\n", ""),
        (f"network: {{connect_to: {LAB}}}\n", ""),
        ('network: {connect_to: {"*:80": "127.0.0.1:8080"}}\n', "politeness.contact is empty"),
    ],
)
def test_links_of_a_local_crawl_lead_to_public_hosts_only_with_a_contact(tmp_path, more, outside):
    (tmp_path / "topic.yaml").write_text(f"title: {{en: solar cells}}\nseeds: [http://127.0.0.1:8000/]\n{more}")
    scope = CrawlSetup.open(tmp_path).rules().scope
    assert scope.allows("https://a.example/", 1) == outside
    assert scope.allows("http://127.0.0.1:8000/x", 1) == ""


@pytest.mark.parametrize("contact", ["me@example.org\\r\\nX: y", " ", "a\\0b"])
def test_a_contact_is_one_line_of_text(tmp_path, contact):
    (tmp_path / "topic.yaml").write_text(f'title: {{en: solar cells}}\npoliteness: {{contact: "{contact}"}}\n')
    with pytest.raises(ThresherError, match="contact"):
        CrawlSetup.open(tmp_path)


TOPICS = """
title: {en: "tea, solar cells"}
topics:
  tea: {title: {en: green tea}, seeds: [http://a.example/tea, tea.txt], pages: 10}
  solar: {title: {en: solar cells}, keywords: [perovskite]}
"""


def test_several_topics_have_a_judge_and_a_strategy_each(tmp_path):
    (tmp_path / "topic.yaml").write_text(TOPICS)
    (tmp_path / "tea.txt").write_text("http://b.example/\n")
    (tmp_path / "seeds.txt").write_text("http://c.example/\n")
    crawl = CrawlSetup.open(tmp_path)
    assert crawl.seeds() == ["http://c.example/", "http://a.example/tea", "http://b.example/"]
    assert crawl.judge_profile("tea").seeds == {"http://a.example/tea", "http://b.example/"}
    assert crawl.judge_profile("solar").seeds == frozenset()
    assert crawl.topic_profile("solar").phrases == ["solar cells", "perovskite"]
    assert list(build_judge(crawl).judges) == ["tea", "solar"]
    assert crawl.new_strategy().wanted == {"tea": 10}


def test_a_crawl_without_topics_has_one_without_a_name(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: green tea}\nkeywords: [sencha]\nseeds: [http://a.example/]\n")
    crawl = CrawlSetup.open(tmp_path)
    [(name, topic)] = crawl.config.all_topics.items()
    assert (name, topic.title, topic.keywords) == ("", {"en": "green tea"}, ["sencha"])
    assert crawl.topic_seeds(name) == crawl.seeds() == ["http://a.example/"]
    assert crawl.topic(name).title == crawl.topic().title == {"en": "green tea"}


def test_several_topics_together_have_no_targets_and_no_name(tmp_path):
    nodes = "topics: {tea: {nodes: [Sports]}, solar: {nodes: [Science]}}\ntaxonomy: {file: bundled}\n"
    (tmp_path / "topic.yaml").write_text(f"title: {{en: both}}\n{nodes}seeds: [http://a.example/]\n")
    crawl = CrawlSetup.open(tmp_path)
    assert list(crawl.config.all_topics) == ["tea", "solar"]
    assert crawl.topic().title == {"en": "both"}
    assert (crawl.targets(), crawl.targets("tea")) == (frozenset(), {"Sports"})


def test_topics_with_seeds_need_no_seeds_of_the_crawl(tmp_path):
    (tmp_path / "topic.yaml").write_text("topics: {tea: {seeds: [http://a.example/]}}\n")
    assert CrawlSetup.open(tmp_path).seeds() == ["http://a.example/"]


def test_a_topic_without_words_and_seeds_is_refused(tmp_path):
    (tmp_path / "topic.yaml").write_text("seeds: [http://a.example/]\ntopics: {tea: {}}\n")
    with pytest.raises(ThresherError, match="topic tea has no words"):
        build_judge(CrawlSetup.open(tmp_path))
