"""A new topic.yaml says what was given, and reads back as it was meant."""

from thresher.config.loading import load_config
from thresher.topics.topic import TopicDefinition
from thresher.topics.yaml_writer import topic_yaml


def test_a_written_topic_reads_back(tmp_path):
    topic = TopicDefinition.from_phrase('perovskite: "solar cells" #1; 钙钛矿', keywords=["no", "tandem cell"])
    text = topic_yaml(topic, name="no", strategy="best-first", contact="me@example.org", allow=["127.0.0.0/8"])
    (tmp_path / "topic.yaml").write_text(text, encoding="utf-8")
    config = load_config(tmp_path / "topic.yaml")
    assert config.title == {"en": 'perovskite: "solar cells" #1', "zh": "钙钛矿"}
    assert config.keywords == ["no", "tandem cell"]
    assert config.name == "no"
    assert config.politeness.contact == "me@example.org"
    assert config.network.allow == ["127.0.0.0/8"]


def test_a_topic_of_nodes_names_its_taxonomy(tmp_path):
    topic = TopicDefinition(title={"en": "Tennis"}, nodes=[[{"en": "Sports"}, {"en": "Tennis", "zh": "网球"}]])
    key = {"file": "odp: mine.taxonomy", "nodes": ["Sports/Tennis"]}
    text = topic_yaml(topic, name="tennis", strategy="best-first", contact="", taxonomy=key)
    (tmp_path / "topic.yaml").write_text(text, encoding="utf-8")
    config = load_config(tmp_path / "topic.yaml")
    assert (config.taxonomy.file, config.taxonomy.nodes) == ("odp: mine.taxonomy", ["Sports/Tennis"])
    assert config.languages == "auto"
