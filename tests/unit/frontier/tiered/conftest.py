import pytest

from tests.contract.frontier_stores import RedisStore, server_url
from tests.contract.lua_faults import plant  # noqa: F401
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.tiered.frontier import TieredFrontier
from thresher.objects.base import FolderObjects


@pytest.fixture
def objects(tmp_path):
    return FolderObjects(tmp_path / "cold", durable=False)


@pytest.fixture(params=["redis", "valkey"])
def server(request):
    return server_url(request.param)


@pytest.fixture
async def open_tiers(server, objects, clock):
    """Open frontiers of one crawl: three hot URLs per host, and URLs are moved before a call returns."""
    crawl, opened = f"tiers{next(RedisStore.names)}", []

    def open_tiers(**settings):
        defaults = {"objects": objects, "hot_urls": 1, "least_hot": 3, "background": False, "clock": clock}
        opened.append(TieredFrontier(server, crawl, **{**defaults, **settings}))
        return opened[-1]

    yield open_tiers
    for frontier in opened:
        await frontier.close()


@pytest.fixture
async def plain(server, clock):
    frontier = RedisFrontier(server, f"plain{next(RedisStore.names)}", clock=clock)
    yield frontier
    await frontier.close()
