import pytest

from tests.contract.frontier_stores import RedisStore, server_url
from thresher.frontier.redis.frontier import RedisFrontier


@pytest.fixture
async def frontier():
    """A frontier by the store's own clock."""
    frontier = RedisFrontier(server_url("redis"), f"u{next(RedisStore.names)}")
    yield frontier
    await frontier.close()
