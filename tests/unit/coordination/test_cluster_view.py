"""Machines agree on when a run ends, and who begins one says it for all."""

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.coordination.crawl_definition import DefinitionStore
from thresher.coordination.worker_registry import Heartbeat, WorkerRegistry
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, StoreUnreachable


@pytest.fixture
def crawl(tmp_path, redis_url):  # noqa: F811 - the fixture that is imported
    (tmp_path / "topic.yaml").write_text(
        f"name: solar\ntitle: {{en: solar cells}}\nseeds: [http://127.0.0.1/]\nstore: {redis_url}\n"
    )
    return CrawlSetup.open(tmp_path)


@pytest.fixture
async def cluster(crawl):
    opened = []

    def make(*, owner):
        opened.append(crawl.backend.cluster_view(owner=owner))
        return opened[-1]

    yield make
    for each in opened:
        await each.close()


async def test_who_joins_knows_for_how_long_the_run_lasts(cluster):
    owner, other = cluster(owner=True), cluster(owner=False)
    await owner.preflight([])
    assert await owner.begin() == 0.0
    assert 0 <= await other.begin() < 10


async def test_an_owner_that_comes_back_continues_the_run_unless_it_was_stopped(cluster):
    await cluster(owner=True).begin()
    assert await cluster(owner=True).begin(continues=True) > 0.0
    await cluster(owner=True).stop("STOPPED")
    assert await cluster(owner=True).begin() == 0.0
    assert (await cluster(owner=False).snapshot([])).stop == ""


async def test_the_first_order_to_stop_holds_for_all(cluster):
    owner, other = cluster(owner=True), cluster(owner=False)
    await owner.begin()
    assert (await other.snapshot([])).stop == ""
    await other.stop("HARVEST")
    await owner.stop("STOPPED")
    assert [(await each.snapshot([])).stop for each in (owner, other)] == ["HARVEST"] * 2


async def test_workers_of_other_machines_are_counted_and_their_names_are_not_taken(crawl, cluster):
    other, connection = cluster(owner=False), crawl.backend.connection()
    for name in ("blue-w1", "red-w1"):
        await WorkerRegistry(connection, "solar").record_heartbeat(
            name, Heartbeat(host="h", mark="ffffff", pid=1, since=0.0)
        )
    await connection.close()
    assert (await other.snapshot(["blue-w1"])).others == 1
    with pytest.raises(ConfigError, match="a worker blue-w1 is running on h"):
        await other.preflight(["blue-w1"])
    await other.preflight(["green-w1"])


async def test_the_crawl_is_in_the_store_when_its_run_has_begun(crawl, cluster):
    await cluster(owner=True).begin()
    connection = crawl.backend.connection()
    assert "topic.yaml" in (await DefinitionStore(connection, "solar").fetch()).files
    await connection.close()


async def test_a_store_that_is_not_there_is_missed_before_anything_begins(tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.coordination.cluster_view.CONNECT_SECONDS", 0.2)
    (tmp_path / "topic.yaml").write_text("title: {en: solar}\nstore: redis://127.0.0.1:1/0\n")
    with pytest.raises(StoreUnreachable, match="cannot be reached"):
        await CrawlSetup.open(tmp_path).backend.cluster_view(owner=True).preflight([])
