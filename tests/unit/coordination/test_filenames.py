"""Only files that define a crawl come from a store, and none of them leads out of the folder."""

import pytest

from thresher.config.folder import CrawlFolder
from thresher.config.schema import CrawlConfig, TaxonomyConfig
from thresher.coordination.crawl_definition import checked_name, files_elsewhere, shared_files
from thresher.errors import StoreError


@pytest.mark.parametrize(
    "name",
    ["topic.yaml", "seeds.txt", "seeds/more.txt", "钙钛矿.txt", "model/trained/layers/model.json", "odp.taxonomy"],
)
def test_a_plain_name_is_taken(name):
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../topic.yaml", "a/../../b", "/etc/passwd", "a//b", "./topic.yaml", "a/./b", "a/", "~/x/..",
        ".ssh/authorized_keys", ".lock", ".machine", "seeds/.hidden", "a\\b", "C:x", "a\0b", "a\nb", "a\x1b[2Jb",
        "x" * 201, "a/" * 9 + "b", "joined.json", "frontier.db-wal",
        "pages/w1.db", "PAGES/w1.db", "archive/x.warc.gz", "frontier.db", "crawl.log.jsonl",
        "model/judge/w1/sample-en", "model", None, 7, b"topic.yaml",
    ],
)  # fmt: skip
def test_any_other_name_is_refused(name):
    with pytest.raises(StoreError, match="none of a crawl's own"):
        checked_name(name)


def test_the_files_of_a_crawl_are_those_that_topic_yaml_names_and_what_was_trained(tmp_path):
    for name in ("topic.yaml", "seeds.txt", "tokens.tsv", "own.taxonomy", "model/trained/m.json", "model/judge/w1/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    config = CrawlConfig(
        seeds=["seeds.txt", "http://a.example/", "/srv/seeds.txt"],
        taxonomy=TaxonomyConfig(file="own.taxonomy", nodes=["a"]),
    )
    shared = list(shared_files(CrawlFolder(tmp_path), config))
    assert shared == ["topic.yaml", "seeds.txt", "own.taxonomy", "tokens.tsv", "model/trained/m.json"]
    assert files_elsewhere(config) == ["/srv/seeds.txt"]


@pytest.mark.parametrize("file", ["~/odp.taxonomy", "../odp.taxonomy", "/srv/odp.taxonomy"])
def test_a_taxonomy_outside_of_the_folder_is_not_shared(tmp_path, file):
    config = CrawlConfig(seeds=[], taxonomy=TaxonomyConfig(file=file, nodes=["a"]))
    assert list(shared_files(CrawlFolder(tmp_path), config)) == ["topic.yaml"]
    assert files_elsewhere(config) == [file]


def test_the_bundled_taxonomy_is_on_every_machine(tmp_path):
    config = CrawlConfig(seeds=[], taxonomy=TaxonomyConfig(file="bundled", nodes=["Sports"]))
    assert list(shared_files(CrawlFolder(tmp_path), config)) == ["topic.yaml"]
    assert files_elsewhere(config) == []
