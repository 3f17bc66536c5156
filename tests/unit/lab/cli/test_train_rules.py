"""thresher train for rules: from the fetched example pages of a taxonomy's classes."""

import json

import pytest
from click.testing import CliRunner

from tests.unit.lab.webs.importers.test_crawl import record
from tests.unit.strategies.layers.small_source import SmallSource
from thresher.cli import thresher
from thresher.errors import ConfigError
from thresher.storage.page_store import PageStoreWriter
from thresher.strategies.rules.table import RuleTable

TOPIC = """\
title: {en: solar cells}
seeds: [http://a.example/]
strategy: {name: rules}
"""
NODES = """\
taxonomy: {file: tree.jsonl, nodes: [Energy/Solar], least_urls: 5}
"""
CLASSES = {
    "Energy/Solar": range(10),
    "Lists/Hubs": range(10, 20),
    "News/Fronts": range(20, 30),
    "Food/Tea": range(30, 40),
}


@pytest.fixture
def make_crawl(tmp_path):
    source = SmallSource()

    def make(*, nodes=NODES, fetched=range(40)):
        folder = tmp_path / "solar"
        folder.mkdir()
        (folder / "topic.yaml").write_text(TOPIC + nodes)
        tree = tmp_path / "tree.jsonl"
        rows = [{"path": path, "url": f"http://a.example/{page}"} for path, pages in CLASSES.items() for page in pages]
        tree.write_text("".join(json.dumps(row) + "\n" for row in rows))
        runner("topics", "import", tree, "-o", folder / "tree.jsonl")
        writer = PageStoreWriter(folder / "pages" / "w1.db")
        writer.write(
            [
                record(
                    f"http://a.example/{page}",
                    relevant=page in range(10),
                    text=source.text(page),
                    links=[f"http://a.example/{target}" for target, _ in source.links(page)],
                )
                for page in fetched
            ]
        )
        writer.close()
        return folder

    return make


def runner(*arguments):
    return CliRunner().invoke(thresher, list(map(str, arguments)), catch_exceptions=False)


def test_rules_are_learned_from_fetched_example_pages(make_crawl):
    crawl = make_crawl()
    result = runner("train", crawl)
    assert "Learning from 40 pages, 40 of them examples of 4 classes." in result.stderr
    assert f"Next: thresher run {crawl}" in result.stderr
    assert result.stdout.splitlines() == [
        "4 rules between 4 classes, from 40 linked pages",
        "2 classes lead to Energy/Solar in at most 2 links:",
        "  1.000  Lists/Hubs → Energy/Solar (1.00)",
        "  0.500  News/Fronts → Lists/Hubs (0.50) → Energy/Solar (1.00)",
    ]
    assert RuleTable.load(crawl / "model" / "trained").targets == {"Energy/Solar"}


def test_json_tells_the_same(make_crawl):
    found = json.loads(runner("train", make_crawl(), "--json").stdout)
    assert found["scores"] == {"Lists/Hubs": 1.0, "News/Fronts": 0.5}
    assert found["examples"]["Food/Tea"] == 10


def test_without_a_taxonomy_the_user_is_told_what_to_do(make_crawl):
    with pytest.raises(ConfigError, match="--web WEB --topic T"):
        runner("train", make_crawl(nodes=""))


def test_a_crawl_that_fetched_no_examples_must_crawl_first(make_crawl):
    with pytest.raises(ConfigError, match=r"0 example pages .* thresher run .* --strategy soft-focus"):
        runner("train", make_crawl(fetched=()))
