"""The pages of all machines are in one collection: a lost disk loses none for good, and any machine sees all."""

import json
import shutil
import time

import pytest

from testing.processes import kill_family
from testing.recording_server import running
from testing.servers import store_server
from tests.e2e.test_many_machines import NAME, SITE, Machines, write_crawl
from thresher.coordination.worker_registry import SILENT_SECONDS
from thresher.search.index import SearchIndex

URL = "s3://thresher/solar"


@pytest.fixture
def machines(tmp_path, s3):
    with store_server("redis", tmp_path / "store") as store:
        machines = Machines(store, tmp_path)
        yield machines
        for process in machines.processes:
            kill_family(process.pid)
            process.wait(10)


def urls_of(text):
    return sorted(json.loads(line)["url"] for line in text.splitlines())


def fetched(recorder):
    return sorted({hit.path for hit in recorder.hits() if hit.path != "/robots.txt"})


def test_what_a_lost_machine_held_is_found_and_fetched_again(machines, tmp_path):
    url = f"{URL}-lost"
    with running(SITE, tmp_path / "hits.csv") as recorder:
        write_crawl(tmp_path / "first" / NAME, recorder, collection=url)
        third = machines.work("third")  # alone, so that it holds the first pages
        watcher = machines.run("--workers", 0)
        machines.await_status(lambda status: status["pages"] >= 20)  # the first upload is 15 s after a page
        kill_family(third.pid)
        silent_at = time.monotonic() + SILENT_SECONDS + 1
        third.wait(10)
        shutil.rmtree(tmp_path / "third")
        other = machines.work("second")
        assert watcher.wait(90) == 0, machines.words()
        assert other.wait(60) == 0, machines.words()
        time.sleep(max(0.0, silent_at - time.monotonic()))  # before, the machine may be running
        found = machines.call("verify", "first/solar", "--json")
        assert found.returncode == 1, found.stdout
        lost = [each for each in json.loads(found.stdout)["findings"] if each["part"] == "collection"]
        assert lost[0]["number"] > 0
        repaired = machines.call("verify", "first/solar", "--repair", "--json")
        assert repaired.returncode == 0, repaired.stdout + repaired.stderr
        assert machines.run("--workers", 1).wait(60) == 0, machines.words()
        clean = machines.call("verify", "first/solar", "--json")
        assert clean.returncode == 0, clean.stdout
        there = machines.call("pull", url, "fifth")
        assert there.returncode == 0, there.stderr
        exported = urls_of(machines.call("export", "fifth", "-f", "jsonl").stdout)
        assert len(exported) == len({*exported}) == SITE.pages
        with SearchIndex(tmp_path / "fifth", tmp_path / "fifth" / "pages") as index:
            assert index.catch_up() == 0  # the machines that fetched the pages indexed them
            assert index.pages() == SITE.pages
        assert machines.status()["pages"] == SITE.pages
        assert len(fetched(recorder)) == SITE.pages
