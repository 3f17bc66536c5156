"""Real servers start with our redis.conf, and do what its comments say."""

import shlex
import subprocess
import time
from contextlib import contextmanager

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from testing.servers.ports import ADDRESS, free_port
from testing.servers.store import KINDS, ServerMissing, binary
from tests.unit.deploy.files import DEPLOY, manifests, text, yaml_of

PASSWORD = "0123456789abcdef"
CONF = DEPLOY / "redis.conf"
SIZES = {"maxmemory": 2 << 30, "auto-aof-rewrite-min-size": 256 << 20}
"""Settings that the server tells back in bytes."""


def settings():
    """Return what the file sets, by name."""
    lines = [line.split(None, 1) for line in text("redis.conf").splitlines() if line and not line.startswith("#")]
    return {name: rest.strip('"') for name, rest in lines}


@contextmanager
def server(kind, folder):
    """Run a server as deploy/ does, but on loopback only."""
    port = free_port()
    given = [binary(kind), str(CONF), "--bind", ADDRESS, "--port", str(port), "-"]
    process = subprocess.Popen(
        given, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    process.stdin.write(f"requirepass {PASSWORD}\n".encode())
    process.stdin.close()
    try:
        yield connected(port, process)
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def connected(port, process):
    client = redis.Redis(host=ADDRESS, port=port, password=PASSWORD, decode_responses=True)
    for _ in range(500):
        try:
            client.ping()
        except redis.ConnectionError:
            assert process.poll() is None, process.stdout.read().decode()
            time.sleep(0.01)
        else:
            return client
    raise TimeoutError("the server did not answer")


@pytest.fixture(scope="module", params=KINDS)
def client(request, tmp_path_factory):
    try:
        with server(request.param, tmp_path_factory.mktemp(request.param)) as running:
            yield running
            running.close()
    except ServerMissing as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", sorted(settings().keys() - {"bind", "port", *SIZES}))
def test_the_server_took_every_setting(client, name):
    assert client.config_get(name)[name] == settings()[name]


@pytest.mark.parametrize("name", SIZES)
def test_the_server_took_every_size(client, name):
    assert client.config_get(name)[name] == str(SIZES[name])


def test_nobody_comes_in_without_the_password(client):
    port = client.connection_pool.connection_kwargs["port"]
    once = Retry(NoBackoff(), 0)
    with redis.Redis(host=ADDRESS, port=port, retry=once) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.get("th:x")


def test_a_host_of_512_long_urls_stays_compact(client):
    client.hset("h", mapping={f"/{number}": "x" * 2048 for number in range(512)})
    assert client.object("encoding", "h") == "listpack"
    client.hset("h", "/one more", "x")
    assert client.object("encoding", "h") == "hashtable"


def test_known_urls_stay_plain_numbers(client):
    client.sadd("s", *range(16384))
    assert client.object("encoding", "s") == "intset"


def test_the_index_of_a_host_stays_compact(client):
    client.zadd("z", {str(number): number for number in range(128)})
    assert client.object("encoding", "z") == "listpack"


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_is_there_after_a_stop(kind, tmp_path):
    try:
        binary(kind)
    except ServerMissing as error:
        pytest.skip(str(error))
    with server(kind, tmp_path) as client:
        client.set("th:x", "kept")
        client.close()
    assert (tmp_path / "appendonlydir").is_dir()
    with server(kind, tmp_path) as client:
        assert client.get("th:x") == "kept"
        client.close()


def test_compose_and_kubernetes_start_the_store_as_it_is_tested_here():
    [compose] = yaml_of("compose.yaml")["services"]["store"]["command"]
    [kubernetes] = [
        entry for entry in manifests() if (entry["kind"], entry["metadata"]["name"]) == ("StatefulSet", "store")
    ]
    [container] = kubernetes["spec"]["template"]["spec"]["containers"]
    assert compose.replace("$$", "$") == container["args"][0]
    command, password, _ = compose.splitlines()
    assert shlex.split(command.partition("<<")[0]) == ["exec", "valkey-server", "/etc/thresher/redis.conf", "-"]
    assert password == "requirepass $$STORE_PASSWORD"


def test_the_container_has_room_for_the_fork():
    assert yaml_of("compose.yaml")["services"]["store"]["mem_limit"] == "3g"
    assert settings()["maxmemory"] == "2gb"
