"""A crawl lives in one store: its folder says in which, every command follows, and none keeps the password."""

import asyncio
import json
import shutil

import pytest

from testing.commands import called
from testing.servers import store_server
from tests.consistency.stores import ENCODED, PAGES, PASSWORD, Shell, locked, wait_until, write_crawl
from thresher.coordination.crawl_definition import Definition
from thresher.crawl import CrawlSetup
from thresher.errors import StoreLost
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.urls.store_address import StoreAddress, same_store, shown_store


@pytest.fixture
def server(tmp_path):
    with store_server("redis", tmp_path / "store") as server:
        yield server


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture
def begun(ended_in_store, tmp_path):
    """A server with a crawl of twelve pages that has ended; the folder ``solar`` alone says where it is."""
    with ended_in_store.copied(tmp_path) as server:
        yield server


@pytest.fixture
def its_site(ended_in_store):
    """The site of the crawl that has begun."""
    return ended_in_store.site


def test_a1_the_folder_records_its_store_without_the_password(site, server, shell):
    url = locked(server)
    write_crawl(site, shell.folder / "solar")
    done = shell("run", "solar", store=url)
    assert done.returncode == 0, done.stderr
    record = json.loads((shell.folder / "solar" / "store.json").read_text())
    assert (record["store"], record["name"]) == (server.url, "solar")
    for path in (path for path in (shell.folder / "solar").rglob("*") if path.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path
        assert ENCODED.encode() not in path.read_bytes(), path


def test_u16_every_command_uses_the_store_that_the_crawl_was_begun_on(begun, its_site, shell):
    status = json.loads(called("status", "solar", "--json", folder=shell.folder).stdout)
    assert status["pages"] == PAGES
    assert "never queued" not in called("why", "solar", its_site.url("/3"), folder=shell.folder).stdout
    [host] = json.loads(called("hosts", "solar", "--json", folder=shell.folder).stdout)
    assert host["pages"] == PAGES
    assert called("frontier", "solar", folder=shell.folder).returncode == 0
    labelled = called("label", "solar", "--yes", its_site.url("/1"), folder=shell.folder)
    assert labelled.returncode == 0, labelled.stderr
    assert f"{PAGES} rows" in called("verify", "solar", folder=shell.folder).stdout
    assert called("stop", "solar", folder=shell.folder).returncode == 0
    assert not (shell.folder / "solar" / "frontier.db").exists()


def test_u16_the_python_api_uses_the_store_that_the_crawl_was_begun_on(begun, shell):
    import thresher

    assert thresher.Crawl(shell.folder / "solar").status().pages == PAGES


def test_a1_a_folder_that_was_renamed_keeps_the_name_in_its_store(begun, shell):
    (shell.folder / "solar").rename(shell.folder / "moved")
    assert json.loads(called("status", "moved", "--json", folder=shell.folder).stdout)["pages"] == PAGES


def test_a1_a_command_without_the_password_says_how_to_give_it(begun, shell):
    url = locked(begun)
    for command in (("hosts", "solar"), ("run", "solar")):
        refused = shell(*command)
        assert refused.returncode == 8, refused.stderr
        assert "THRESHER_STORE=" in refused.stderr
        assert "Traceback" not in refused.stderr
    reported = shell("hosts", "solar", "--json", store=url)
    assert json.loads(reported.stdout)[0]["pages"] == PAGES


def test_a2_run_goes_on_in_the_recorded_store_when_the_variable_is_unset(begun, its_site, shell):
    again = shell("run", "solar")
    assert again.returncode == 0, again.stderr
    assert its_site.paths == []


def test_a2_another_store_than_the_recorded_one_is_refused(begun, its_site, shell):
    other = begun.url.replace("/0", "/1")
    refusals = [
        shell("run", "solar", "--store", other),
        shell("run", "solar", store=other),
        called("status", "solar", "--store", other, folder=shell.folder),
        called("status", "solar", "--store", "sqlite", folder=shell.folder),
    ]
    for refused in refusals:
        assert refused.returncode == 4, refused.stderr
        assert f"this crawl is in {begun.url}" in refused.stderr
    assert its_site.paths == []


def test_a2_a_crawl_on_this_machine_does_not_move_into_a_store(ended_here, server, shell):
    ended_here.copied(shell.folder)
    (shell.folder / "solar" / "store.json").unlink()  # as an earlier version left it
    refused = shell("run", "solar", "--store", server.url)
    assert refused.returncode == 4
    assert "frontier.db" in refused.stderr


def test_a2_the_same_store_under_another_spelling_is_the_same():
    same = ["redis://127.0.0.1:6379/0", "redis://LOCALHOST", "valkey://:pw@localhost:6379", "redis://u:p@[::1]/0"]
    assert all(same_store(one, other) for one in same for other in same)
    assert not same_store("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/1")
    assert not same_store("redis://127.0.0.1:6379/0", "redis+cluster://127.0.0.1:6379/0")


def test_a5_a_store_that_was_emptied_under_a_run_ends_it_with_words(site, server, shell):
    site.seconds = 0.3
    write_crawl(site, shell.folder / "solar", pages=400)
    with shell.started("run", "solar", "--store", server.url) as process:
        wait_until(lambda: len(site.paths) > 4)
        with server.client() as client:
            client.flushall()
        _, err = process.communicate(timeout=40)
    assert process.returncode == 8, err
    assert "has lost this crawl" in err
    assert "othing is left to fetch" not in err


def test_a5_every_later_command_reports_a_store_that_was_emptied(begun, its_site, shell):
    with begun.client() as client:
        client.flushall()
    page = its_site.url("/0")
    for command in (("status", "solar"), ("stop", "solar"), ("frontier", "solar"), ("why", "solar", page)):
        lost = called(*command, folder=shell.folder)
        assert lost.returncode == 8, (command, lost.stdout)
        assert "verify" in lost.stderr
    assert shell("run", "solar").returncode == 8
    with begun.client() as client:
        assert not client.exists("th:{solar}")  # looking writes nothing


def test_a5_verify_queues_a_lost_crawl_again_from_its_pages(begun, its_site, shell):
    with begun.client() as client:
        client.flushall()
    looked = called("verify", "solar", folder=shell.folder)
    assert looked.returncode == 1
    assert "has lost this crawl" in looked.stdout
    repaired = called("verify", "solar", "--repair", folder=shell.folder)
    assert repaired.returncode == 0, repaired.stdout
    assert shell("run", "solar").returncode == 0
    assert sum(path != "/robots.txt" for path in its_site.paths) == PAGES


def test_a5_a_frontier_file_that_was_deleted_is_reported_and_made_anew(ended_here, shell):
    ended_here.copied(shell.folder)
    for path in (shell.folder / "solar").glob("frontier.db*"):
        path.unlink()
    assert called("status", "solar", folder=shell.folder).returncode == 8
    assert shell("run", "solar").returncode == 8
    assert called("verify", "solar", folder=shell.folder).returncode == 1
    assert called("verify", "solar", "--repair", folder=shell.folder).returncode == 0
    assert shell("run", "solar").returncode == 0
    assert json.loads(called("status", "solar", "--json", folder=shell.folder).stdout)["pages"] == PAGES


def test_a5_a_worker_does_not_take_an_emptied_store_for_a_finished_crawl(server):
    async def emptied():
        first = RedisFrontier(server.url, "solar")
        crawl_id = await first.identify("one")
        await first.close()
        frontier = RedisFrontier(server.url, "solar", crawl_id=crawl_id)
        assert await frontier.seconds_to_next() is None
        with server.client() as client:
            client.flushall()
        try:
            with pytest.raises(StoreLost):
                await frontier.seconds_to_next()
        finally:
            await frontier.close()

    asyncio.run(emptied())


def test_a9_work_waits_for_a_crawl_that_does_not_exist_yet(site, server, shell):
    write_crawl(site, shell.folder / "first" / "solar")
    with shell.started("join", "--crawl", "solar", "--store", server.url, "--wait-seconds", "40") as process:
        wait_until(lambda: "Waiting up to" in process.stderr.readline(), 20)
        assert shell("run", "first/solar", "--workers", "0", "--store", server.url, timeout=60).returncode == 0
        process.communicate(timeout=40)
    assert process.returncode == 0
    assert len({path for path in site.paths if path != "/robots.txt"}) == PAGES


def test_a9_work_gives_up_waiting_after_its_limit(server, shell):
    given_up = shell("join", "--crawl", "nosuch", "--store", server.url, "--wait-seconds", "1")
    assert given_up.returncode == 4
    assert "no crawl called 'nosuch'" in given_up.stderr
    assert not (shell.folder / "nosuch").exists()


def test_a10_a_joined_folder_contains_no_password(begun, shell):
    url = locked(begun)
    joined = shell("join", "--crawl", "solar", "--dir", "here", store=url)
    assert joined.returncode == 0, joined.stderr
    for path in (path for path in (shell.folder / "here").rglob("*") if path.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path
        assert ENCODED.encode() not in path.read_bytes(), path
    assert called("status", "here", folder=shell.folder).returncode == 8


def test_a10_a_password_in_topic_yaml_does_not_reach_other_machines(site, shell):
    root = shell.folder / "solar"
    write_crawl(site, root, store=f"redis://:{PASSWORD}@127.0.0.1:6379/0")
    crawl = CrawlSetup.open(root)
    shared = Definition.of(crawl.folder, crawl.config, crawl.options).files["topic.yaml"]
    assert b"127.0.0.1:6379" in shared
    assert PASSWORD.encode() not in shared
    assert ENCODED.encode() not in shared


@pytest.mark.parametrize("password", ["plain", "p@ss", "a/b", "a#b", "a:b", "p@ss/wo#rd:?x", "%40%2F"])
def test_a11_no_part_of_a_password_is_printed(password):
    url = f"rediss://me:{password}@store.example:6380/2?ssl_cert_reqs=none"
    assert shown_store(url) == "rediss://store.example:6380/2"
    address = StoreAddress.parse(url)
    assert address.recorded == "rediss://me@store.example:6380/2?ssl_cert_reqs=none"
    assert StoreAddress.parse(address.url).password == address.password
    assert shown_store(f"redis://:{password}@") == "redis://…"


def test_a11_an_unencoded_password_opens_the_store_and_is_never_printed(begun, shell, monkeypatch):
    url = locked(begun)
    monkeypatch.setenv("THRESHER_STORE", url)
    printed = [called("status", "solar", folder=shell.folder)]
    monkeypatch.setenv("THRESHER_STORE", url.replace(PASSWORD, f"{PASSWORD}y"))
    printed += [called("status", "solar", folder=shell.folder), shell("run", "solar", store=f"{url}y")]
    monkeypatch.setenv("THRESHER_STORE", f"redis://:{PASSWORD}@")
    printed += [called("status", "--crawl", "solar", folder=shell.folder)]
    assert [one.returncode for one in printed] == [0, 8, 4, 4], printed
    for part in ("s3cr", "t/wo", "rd:x"):
        assert not any(part in one.stdout + one.stderr for one in printed)


def test_a14_a_read_only_replica_is_refused_with_words(site, server, shell, tmp_path):
    with store_server("redis", tmp_path / "replica") as replica:
        with replica.client() as client:
            client.replicaof("127.0.0.1", server.port)
        write_crawl(site, shell.folder / "solar")
        refused = shell("run", "solar", "--store", replica.url)
    assert refused.returncode == 8, refused.stderr
    assert "read-only replica" in refused.stderr
    assert not (shell.folder / "solar" / "store.json").exists()
    assert site.paths == []


def test_a14_a_store_that_becomes_a_read_only_replica_is_reported(server, monkeypatch, tmp_path):
    monkeypatch.setattr("thresher.frontier.redis.connection.READ_ONLY_SECONDS", 0.5)

    async def demoted():
        frontier = RedisFrontier(server.url, "solar")
        await frontier.counts()
        with server.client() as client:
            client.replicaof("127.0.0.1", 1)
        try:
            with pytest.raises(Exception, match="read-only replica"):
                await frontier.counts()
        finally:
            await frontier.close()

    asyncio.run(demoted())


def test_a1_a_copy_of_the_folder_looks_at_the_same_store(begun, shell):
    shutil.copytree(shell.folder / "solar", shell.folder / "copy")
    assert json.loads(called("status", "copy", "--json", folder=shell.folder).stdout)["pages"] == PAGES
