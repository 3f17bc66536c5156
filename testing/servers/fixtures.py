"""Fixtures that other suites import: one server of each kind for a whole session, empty before each test.

In the conftest.py of a suite::

    from testing.servers.fixtures import store_server_of_session, store_url  # noqa: F401

and then a test asks for ``store_url``, and is run once on Redis and once on Valkey.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testing.servers.cluster import Cluster, cluster_servers
from testing.servers.s3 import S3Server, s3_server
from testing.servers.store import KINDS, ServerMissing, StoreServer, store_server


def shared_server(kind: str, factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    """Run a server; without one on this machine, tests are skipped, and say so."""
    try:
        with store_server(kind, factory.mktemp(kind)) as server:
            yield server
    except ServerMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=KINDS)
def store_server_of_session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Redis, then Valkey."""
    yield from shared_server(request.param, tmp_path_factory)


@pytest.fixture(scope="session")
def redis_server_of_session(tmp_path_factory: pytest.TempPathFactory):
    """Redis only."""
    yield from shared_server("redis", tmp_path_factory)


@pytest.fixture(scope="session")
def cluster_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes of Redis."""
    try:
        with cluster_servers(tmp_path_factory.mktemp("cluster")) as cluster:
            yield cluster
    except ServerMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def s3_server_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """SeaweedFS."""
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(s3_server_of_session: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """An S3 server that this process, and those that it starts, find by their environment."""
    for name, value in s3_server_of_session.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server_of_session


@pytest.fixture
def store_url(store_server_of_session: StoreServer) -> str:
    """The address of an empty store, once for each kind."""
    return emptied(store_server_of_session)


@pytest.fixture
def redis_url(redis_server_of_session: StoreServer) -> str:
    """The address of an empty Redis."""
    return emptied(redis_server_of_session)


@pytest.fixture
def cluster_url(cluster_of_session: Cluster) -> str:
    """The address of an empty cluster."""
    cluster_of_session.flush()
    return cluster_of_session.url


def emptied(server: StoreServer) -> str:
    """Empty a server of data and scripts, and return its address."""
    with server.client() as client:
        client.flushall()
        client.script_flush()
    return server.url
