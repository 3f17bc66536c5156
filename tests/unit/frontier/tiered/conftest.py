import pytest

from tests.contract.frontier_stores import RedisStore, server_url
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.tiered.frontier import TieredFrontier
from thresher.objects.folder import FolderObjects


@pytest.fixture
def objects(tmp_path):
    return FolderObjects(tmp_path / "cold", durable=False)


@pytest.fixture
async def open_tiers(objects, clock):
    """Open frontiers of one crawl: three hot URLs per host, and URLs are moved before a call returns."""
    crawl, opened = f"tiers{next(RedisStore.names)}", []

    def open_tiers(**settings):
        defaults = {"objects": objects, "hot_urls": 1, "least_hot": 3, "background": False, "clock": clock}
        opened.append(TieredFrontier(server_url("redis"), crawl, **{**defaults, **settings}))
        return opened[-1]

    yield open_tiers
    for frontier in opened:
        await frontier.close()


@pytest.fixture
async def plain(clock):
    frontier = RedisFrontier(server_url("redis"), f"plain{next(RedisStore.names)}", clock=clock)
    yield frontier
    await frontier.close()
