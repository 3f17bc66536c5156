"""Which crawls a store holds."""

import pytest

from thresher.coordination.crawl_definition import Definition, DefinitionStore
from thresher.coordination.crawls import crawls_in
from thresher.errors import ConfigError


async def test_every_crawl_with_a_definition_is_found_by_its_name(connection):
    for name in ("solar", "a:b {c}", "钙钛矿"):
        await DefinitionStore(connection, name).publish(Definition(files={"topic.yaml": b"title: {en: sun}"}))
    await connection.call("SET", "th:{wind}:fleet:run", "{}")
    await connection.call("SET", "other:{x}:fleet:definition", "{}")
    assert await crawls_in(connection) == sorted(["solar", "a:b {c}", "钙钛矿"])


async def test_an_empty_store_holds_none(connection):
    assert await crawls_in(connection) == []


async def test_the_crawls_of_a_cluster_must_be_named():
    class Cluster:
        is_cluster = True

    with pytest.raises(ConfigError, match="--crawl NAME"):
        await crawls_in(Cluster())
