"""A real store, emptied for each test."""

import pytest

from tests.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.fleet.links import store_link


@pytest.fixture
async def link(redis_url):  # noqa: F811 - the fixture that is imported
    link = store_link(redis_url, patience_seconds=5.0)
    yield link
    await link.close()
