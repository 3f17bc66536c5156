import os
import time

import pytest
import redis

from testing.servers import chaos, store_server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with store_server("redis", tmp_path_factory.mktemp("store")) as server:
        yield server


@pytest.fixture
def proxy(server):
    with chaos(server.port) as proxy:
        yield proxy


@pytest.fixture
def direct(server):
    with server.client() as client:
        client.flushall()
        yield client


def dial(proxy, seconds=1.0):
    """Have a client that waits for so long; on a busy machine an answer may well take a tenth of it."""
    return redis.Redis("127.0.0.1", proxy.port, socket_timeout=seconds, retry=None, decode_responses=True)


def test_fine_weather_lets_everything_pass(proxy):
    with dial(proxy, 10.0) as client:
        client.set("a", "x" * 1_000_000)
        assert len(client.get("a")) == 1_000_000


def test_latency_is_added_to_every_round_trip(proxy):
    with dial(proxy, 10.0) as client:
        client.ping()
        proxy.set(latency_seconds=0.2)
        start = time.monotonic()
        client.ping()
        assert 0.2 <= time.monotonic() - start < 5.0


def test_a_cut_is_silence_and_what_was_sent_into_it_arrives_late(proxy, direct):
    with dial(proxy) as client:
        client.ping()
        proxy.set(cut="both")
        with pytest.raises(redis.TimeoutError):
            client.set("late", "1")
        assert direct.get("late") is None
    proxy.set()
    assert eventually(lambda: direct.get("late") == "1")
    assert proxy.counts().late_bytes > 0


def test_a_cut_on_the_way_back_loses_only_the_answer(proxy, direct):
    with dial(proxy) as client:
        client.ping()
        proxy.set(cut="from")
        with pytest.raises(redis.TimeoutError):
            client.set("a", "1")
        assert direct.get("a") == "1"


def test_a_cut_on_the_way_there_loses_the_request(proxy, direct):
    with dial(proxy) as client:
        client.ping()
        proxy.set(cut="to")
        with pytest.raises(redis.TimeoutError):
            client.set("a", "1")
        assert direct.get("a") is None


def test_new_connections_meet_the_cut_too(proxy):
    proxy.set(cut="both")
    with dial(proxy) as client, pytest.raises(redis.TimeoutError):
        client.ping()


def test_a_cut_can_be_for_one_process_alone(proxy):
    with dial(proxy) as client:
        proxy.set(cut="both", pids=[1])
        assert client.ping()
        proxy.set(cut="both", pids=[1, os.getpid()])
        with pytest.raises(redis.TimeoutError):
            client.ping()


def test_a_flapping_cut_comes_and_goes(proxy):
    proxy.set(cut="both", flap_seconds=0.15)
    with dial(proxy, 0.05) as client:
        assert eventually(lambda: answers(client), seconds=20)
        assert eventually(lambda: not answers(client), seconds=20)
        assert eventually(lambda: answers(client), seconds=20)


def test_a_share_of_requests_meets_a_reset_and_half_of_these_were_carried_out(proxy, direct):
    proxy.set(reset_share=0.2)
    lost = 0
    for _ in range(300):
        with dial(proxy, 10.0) as client:
            try:
                client.incr("count")
            except redis.ConnectionError:
                lost += 1
    resets = proxy.counts().resets
    assert 15 < resets < 300
    assert 300 - lost < int(direct.get("count")) < 300
    assert eventually(lambda: proxy.counts().open == 0), proxy.counts()


def answers(client):
    try:
        return bool(client.ping())
    except redis.TimeoutError:
        return False


def eventually(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return met
