"""thresher train learns from an earlier crawl, says what, and names the next command."""

import json

import pytest
from click.testing import CliRunner

from tests.unit.lab.webs.importers.test_crawl import record
from tests.unit.strategies.layers.small_source import SmallSource
from thresher.cli import thresher
from thresher.errors import ConfigError, CrawlNotFound
from thresher.judges.trained import learner
from thresher.storage.page_store import PageStoreWriter
from thresher.strategies.layers.model import LayerModel

TOPIC = "title: {en: solar cells}\nseeds: [http://a.example/]\nstrategy: {name: layers}\n"


def make_crawl(folder, *, relevant=range(10)):
    source = SmallSource()
    folder.mkdir()
    (folder / "topic.yaml").write_text(TOPIC)
    writer = PageStoreWriter(folder / "pages" / "w1.db")
    writer.write(
        [
            record(
                f"http://a.example/{page}",
                relevant=page in relevant,
                text=source.text(page),
                links=[f"http://a.example/{target}" for target, _ in source.links(page)],
            )
            for page in range(40)
        ]
    )
    writer.close()
    return folder


def run(*arguments):
    return CliRunner().invoke(thresher, ["train", *map(str, arguments)], catch_exceptions=False)


def test_layers_are_learned_from_the_crawl_itself(tmp_path):
    crawl = make_crawl(tmp_path / "solar")
    result = run(crawl)
    assert result.exit_code == 0
    assert "Learning from 40 pages, 10 of them relevant." in result.stderr
    assert f"Next: thresher run {crawl}\n" in result.stderr
    assert "solar" in result.stdout.splitlines()[1]
    assert LayerModel.load(crawl / "model" / "trained").N == 4


def test_another_crawl_can_be_learned_from(tmp_path):
    make_crawl(tmp_path / "old")
    new = make_crawl(tmp_path / "new", relevant=())
    assert run(new, "--from", tmp_path / "old").exit_code == 0
    assert (new / "model" / "trained" / "layers.json").is_file()
    assert not (tmp_path / "old" / "model").exists()


def test_json_tells_the_same(tmp_path):
    result = run(make_crawl(tmp_path / "solar"), "--json")
    layers = json.loads(result.stdout)["layers"]
    assert [layer["pages"] for layer in layers] == [10, 10, 10, 0, 0, 0]


def test_a_strategy_that_needs_none_says_so(tmp_path):
    result = run(make_crawl(tmp_path / "solar"), "--strategy", "best-first")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "best-first needs no training" in result.stderr


def test_the_strategy_of_a_flag_is_named_in_the_next_command(tmp_path):
    result = run(make_crawl(tmp_path / "solar"), "--strategy", "context-graph")
    assert "--strategy context-graph" in result.stderr


def test_a_crawl_without_relevant_pages_must_crawl_first(tmp_path):
    with pytest.raises(ConfigError, match=r"thresher run .* --strategy best-first"):
        run(make_crawl(tmp_path / "solar", relevant=()))


def test_a_folder_without_a_crawl_is_an_error(tmp_path):
    with pytest.raises(CrawlNotFound):
        run(tmp_path)


def test_without_scikit_learn_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(learner, "find_spec", lambda _: None)
    with pytest.raises(
        ConfigError, match=r'strategy layers needs scikit-learn: pip install "thresher-crawler\[learn\]"'
    ):
        run(make_crawl(tmp_path / "solar"))
