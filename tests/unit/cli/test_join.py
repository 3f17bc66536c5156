"""A machine joins a crawl by its name in a store; a folder that is another's is left alone."""

import asyncio
import json
import stat

import pytest
from click.testing import CliRunner

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.cli import thresher
from thresher.cli.join import _join
from thresher.cli.stores import fetch_definition, joined
from thresher.config.run_options import RunOptions
from thresher.coordination.keys import key_of
from thresher.coordination.worker_registry import SILENT_SECONDS, Heartbeat, WorkerRegistry
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, StoreUnreachable, ThresherError


@pytest.fixture
def url(redis_url):  # noqa: F811 - the fixture that is imported
    return redis_url


@pytest.fixture
def published(tmp_path, url):
    """A crawl that was started on another machine."""
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "topic.yaml").write_text("title: {en: solar cells}\n")
    (folder / "seeds.txt").write_text("http://127.0.0.1:8000/\n")
    crawl = CrawlSetup.open(folder, RunOptions(store=url, name="solar", strategy="shark"))
    asyncio.run(begin(crawl))
    return crawl


async def begin(crawl):
    cluster = crawl.backend.cluster_view(owner=True)
    await cluster.begin()
    await cluster.close()


def call(*arguments):
    return CliRunner().invoke(thresher, [str(argument) for argument in arguments])


def test_a_folder_that_joined_knows_its_crawl_and_its_store(published, url, tmp_path):
    crawl = _join(url, "solar", tmp_path / "here")
    again = CrawlSetup.open(tmp_path / "here")
    assert (again.name, again.config.store, again.config.strategy.name) == ("solar", url, "shark")
    assert again.seeds() == crawl.seeds() == published.seeds()
    assert stat.S_IMODE((tmp_path / "here" / "joined.json").stat().st_mode) == 0o600


def test_a_folder_joins_again_and_takes_what_is_new(published, url, tmp_path):
    _join(url, "solar", tmp_path / "here")
    (tmp_path / "here" / "seeds.txt").write_text("http://old.example/\n")
    assert _join(url, "solar", tmp_path / "here").seeds() == published.seeds()


def test_a_folder_of_another_crawl_is_left_alone(published, url, tmp_path):
    with pytest.raises(ConfigError, match="holds another crawl"):
        _join(url, "solar", published.folder.root)
    assert not published.folder.joined.exists()


def test_a_crawl_that_nobody_began_cannot_be_joined(url, tmp_path):
    with pytest.raises(ConfigError, match="no crawl called 'opera'"):
        _join(url, "opera", tmp_path / "here")
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize("name", ["../solar", "/tmp/solar", ".solar", "pages"])
def test_a_name_that_is_no_folder_needs_one(url, name):
    with pytest.raises(ConfigError, match="cannot be the name of a folder"):
        _join(url, name, None)


def test_files_outside_of_the_folder_must_be_on_this_machine_too(published, url, tmp_path):
    with published.folder.topic.open("a") as file:
        file.write(f"taxonomy: {{file: {tmp_path / 'odp.taxonomy'}, nodes: [a]}}\n")
    asyncio.run(begin(CrawlSetup.open(published.folder.root, RunOptions(store=url, name="solar"))))
    with pytest.raises(ConfigError, match=r"odp\.taxonomy, outside of its folder"):
        _join(url, "solar", tmp_path / "here")


def test_where_a_crawl_was_joined_it_cannot_be_begun(published, url, tmp_path):
    _join(url, "solar", tmp_path / "here")
    done = call("run", tmp_path / "here")
    assert isinstance(done.exception, ConfigError)
    assert "started on another machine" in str(done.exception)


def test_nobody_watches_over_a_crawl_that_is_not_shared(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: solar cells}\nseeds: [http://127.0.0.1/]\n")
    done = call("run", tmp_path, "--workers", 0)
    assert isinstance(done.exception, ConfigError)


def test_a_crawl_is_looked_at_and_stopped_by_its_name(published, url):
    record_heartbeat(published)
    reported = json.loads(call("status", "--store", url, "--crawl", "solar", "--json").stdout)
    assert (reported["name"], reported["strategy"], reported["pages"]) == ("solar", "shark", 0)
    [worker] = reported["workers"]
    assert (worker["name"], worker["host"], worker["pages"], worker["state"]) == ("blue-w1", "h", 3, "working")
    assert call("stop", "--store", url, "--crawl", "solar").exit_code == 0
    assert asyncio.run(stop_order_of(published)) == b"STOPPED"


def test_a_worker_without_a_recent_heartbeat_is_called_silent(published, url):
    record_heartbeat(published, seconds_ago=SILENT_SECONDS + 60)
    lines = call("status", "--store", url, "--crawl", "solar").stdout.splitlines()
    assert any("blue-w1" in line and "silent" in line for line in lines)


def test_a_crawl_must_be_named_somehow(url):
    for arguments in (["status"], ["stop"], ["stop", "--store", url], ["status", "--crawl", "solar"]):
        assert "which crawl?" in str(call(*arguments).exception)


def test_a_run_that_is_not_under_way_cannot_be_stopped(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: solar cells}\n")
    assert isinstance(call("stop", tmp_path).exception, ThresherError)


def test_a_store_that_is_away_is_named_without_its_password(tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.cli.stores.CONNECT_SECONDS", 0.2)
    with pytest.raises(StoreUnreachable) as error:
        fetch_definition("redis://:secret@127.0.0.1:1/0", "solar")
    assert "secret" not in str(error.value)


def test_a_look_leaves_nothing_behind(published, url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert call("status", "--store", url, "--crawl", "solar").exit_code == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_joined_can_be_looked_at_by_its_folder(published, url, tmp_path):
    joined(tmp_path / "here", fetch_definition(url, "solar"), url, "solar")
    assert "There are no workers" in call("status", tmp_path / "here").stdout


def record_heartbeat(crawl, seconds_ago=0.0):
    async def go():
        connection = crawl.backend.connection()
        await WorkerRegistry(connection, "solar").record_heartbeat(
            "blue-w1", Heartbeat(host="h", mark="ffffff", pid=7, since=0.0, pages=3)
        )
        if seconds_ago:
            key = key_of("solar", "workers")
            entry = json.loads(await connection.call("HGET", key, "blue-w1"))
            await connection.call("HSET", key, "blue-w1", json.dumps({**entry, "seen": entry["seen"] - seconds_ago}))
        await connection.close()

    asyncio.run(go())


async def stop_order_of(crawl):
    connection = crawl.backend.connection()
    try:
        return await connection.call("GET", key_of("solar", "stop"))
    finally:
        await connection.close()
