"""thresher lab train learns a model from a frozen web, for a crawl."""

import json

import pytest
from click.testing import CliRunner

from tests.unit.lab.cli.test_lab import pages
from thresher.cli import thresher
from thresher.errors import ConfigError
from thresher_lab.webs.importers.pagefile import write_web
from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.strategies.rules.table import RuleTable

TOPIC = "title: {en: tea}\nseeds: [http://tea.example/]\nstrategy: {name: layers}\n"


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    (tmp_path / "webs").mkdir()
    write_web(tmp_path / "webs" / "small.pages.jsonl.zst", pages())
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path / "webs"))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tea").mkdir()
    (tmp_path / "tea" / "topic.yaml").write_text(TOPIC)
    return tmp_path / "tea"


def run(*arguments):
    words = ["lab", "train", *map(str, arguments)]
    return CliRunner().invoke(thresher, words, catch_exceptions=False)


def test_layers_are_learned_around_the_pages_of_a_topic(crawl):
    result = run(crawl, "--web", "small", "--topic", "tea")
    assert result.exit_code == 0, result.output
    assert "Learning from 33 pages, 11 of them of the topic." in result.stderr
    assert f"Next: thresher run {crawl}\n" in result.stderr
    assert LayerModel.load(crawl / "model" / "trained").N == 4


def test_the_topics_of_a_web_are_the_classes_of_rules(crawl):
    result = run(crawl, "--web", "small", "--topic", "tea", "--strategy", "rules", "--json")
    assert json.loads(result.stdout)["targets"] == ["tea"]
    assert RuleTable.load(crawl / "model" / "trained").targets == {"tea"}


def test_an_unknown_topic_is_named_with_the_known_ones(crawl):
    with pytest.raises(ConfigError, match="no topic 'milk'; its topics are ships, solar, tea"):
        run(crawl, "--web", "small", "--topic", "milk")
