import time

import pytest
import redis

from testing.servers import KINDS, cluster_servers, store_server


@pytest.fixture(params=KINDS)
def server(request, tmp_path):
    with store_server(request.param, tmp_path) as server:
        yield server


def test_a_server_answers_and_keeps_small_things_compact(server):
    with server.client() as client:
        assert client.ping()
        assert client.config_get("hash-max-listpack-value")["hash-max-listpack-value"] == "2048"
        assert client.config_get("appendfsync")["appendfsync"] == "everysec"


def test_a_killed_server_comes_back_at_its_place_with_what_was_on_disk(server):
    port = server.port
    with server.client() as client:
        client.set("a", "1")
    server.kill()
    assert not server.is_running
    server.restart()
    with server.client() as client:
        assert (server.port, client.get("a")) == (port, "1")


def test_a_stopped_server_is_silent_until_it_goes_on(server):
    with server.client(seconds=0.2) as client:
        client.ping()
        server.stop()
        with pytest.raises(redis.TimeoutError):
            client.ping()
    server.cont()
    with server.client() as client:
        assert client.ping()


def test_starting_takes_a_blink(server):
    server.kill()
    start = time.monotonic()
    server.restart()
    assert time.monotonic() - start < 5


def test_every_test_finds_the_shared_store_empty(store_url):
    with redis.Redis.from_url(store_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


@pytest.mark.parametrize("turn", [1, 2])
def test_every_test_finds_the_shared_cluster_empty_and_whole(cluster_url, cluster_of_session, turn):
    for number, node in enumerate(cluster_of_session.nodes):
        with node.client() as client:
            assert client.dbsize() == 0
            assert client.execute_command("CLUSTER COUNTKEYSINSLOT", 5461 * number) == 0


def test_a_cluster_serves_every_slot(tmp_path):
    with cluster_servers(tmp_path) as cluster:
        client = redis.RedisCluster.from_url(cluster.url.replace("redis+cluster", "redis"))
        for number in range(100):
            client.set(f"key{number}", number)
        assert sum(node.client().dbsize() for node in cluster.nodes) == 100
        client.close()
