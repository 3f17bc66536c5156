"""A real store, emptied for each test."""

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.coordination.connection import connect_store


@pytest.fixture
async def connection(redis_url):  # noqa: F811 - the fixture that is imported
    connection = connect_store(redis_url, patience_seconds=5.0)
    yield connection
    await connection.close()
