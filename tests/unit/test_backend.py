"""A backend is chosen once, and says what callers need to know about a crawl."""

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.backend import ClusterBackend, CrawlResources, LocalBackend
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup
from thresher.errors import StoreUnreachable, ThresherError

TOPIC = "title: {en: sun}\nseeds: ['http://a.example/']\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    return tmp_path


@pytest.fixture
def local(folder):
    return CrawlSetup.open(folder).backend


@pytest.fixture
def shared(folder, redis_url):  # noqa: F811 - the fixture that is imported
    return CrawlSetup.open(folder, RunOptions(store=redis_url, name="solar")).backend


def test_the_store_decides(local, shared):
    assert isinstance(local, LocalBackend)
    assert isinstance(shared, ClusterBackend)


def test_names_of_workers_are_unique_where_there_are_several_machines(local, shared):
    assert local.worker_names(2, "blue") == ["w1", "w2"]
    assert shared.worker_names(2, "blue") == ["blue-w1", "blue-w2"]


def test_pages_are_counted_where_all_are_here(local, shared, folder):
    assert local.counted_pages == folder / "pages"
    assert CrawlSetup.open(folder, RunOptions(refresh=True)).backend.counted_pages is None
    assert shared.counted_pages is None


async def test_nobody_runs_a_new_crawl(local, shared):
    for backend in (local, shared):
        run = backend.run_view()
        assert await run.is_idle()
        assert not await run.registered_workers()
        await run.close()
    with pytest.raises(ThresherError, match="nothing to stop"):
        await local.stop_run()


async def test_what_is_opened_is_closed_together(folder):
    async with CrawlSetup.open(folder).connect() as connected:
        assert connected.frontier is connected.frontier
        assert (await connected.labels.read())[0] == []
        assert (await connected.frontier.counts()).waiting == 0


class Broken:
    closed = 0

    async def close(self):
        Broken.closed += 1
        raise StoreUnreachable("the store", "it is away")


async def test_all_is_closed_even_when_the_store_is_away(local):
    resources = CrawlResources(local)
    for _ in range(2):
        resources._opened(Broken())
    with pytest.raises(StoreUnreachable):
        await resources.close()
    assert Broken.closed == 2
