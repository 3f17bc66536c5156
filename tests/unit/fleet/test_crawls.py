"""Which crawls a store holds."""

import pytest

from thresher.errors import ConfigError
from thresher.fleet.crawls import crawls_in
from thresher.fleet.definition import Definition, DefinitionStore


async def test_every_crawl_with_a_definition_is_found_by_its_name(link):
    for name in ("solar", "a:b {c}", "钙钛矿"):
        await DefinitionStore(link, name).publish(Definition(files={"topic.yaml": b"title: {en: sun}"}))
    await link.call("SET", "th:{wind}:fleet:run", "{}")
    await link.call("SET", "other:{x}:fleet:definition", "{}")
    assert await crawls_in(link) == sorted(["solar", "a:b {c}", "钙钛矿"])


async def test_an_empty_store_holds_none(link):
    assert await crawls_in(link) == []


async def test_the_crawls_of_a_cluster_must_be_named():
    class Cluster:
        is_cluster = True

    with pytest.raises(ConfigError, match="--crawl NAME"):
        await crawls_in(Cluster())
