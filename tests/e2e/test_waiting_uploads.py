"""A run whose object storage is slow or away ends in time, and says what of its machine is not in the collection."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from testing.servers.chaos import chaos
from testing.servers.ports import free_port
from testing.servers.store import store_server
from tests.e2e.conftest import quick

NOT_UPLOADED = 7
UPLOAD_SECONDS = 3
BRIEF = "import thresher.runner.supervisor as s; s.UPLOAD_SECONDS = {}; from thresher.cli import main; main()"


@pytest.fixture
def crawl(site, thresher, tmp_path):
    """A crawl of eight pages."""
    site.pages = {
        f"/{number}": f'<title>solar {number}</title><p>solar cells {number}</p><a href="/{number + 1}">solar</a>'
        for number in range(8)
    }
    site.pages["/8"] = "<title>solar 8</title><p>the last of the solar cells</p>"
    thresher("new", "crawl", "--topic", "solar cells", "--seed", site.url("/0"))
    quick(tmp_path / "crawl", scope="{traps: follow, first_pages_per_host: null}")
    return tmp_path / "crawl"


@pytest.fixture
def network(s3, monkeypatch):
    """A bad network before the S3 server."""
    with chaos(urlsplit(s3.environment["AWS_ENDPOINT_URL"]).port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        yield proxy


def started(crawl, url, *more, seconds=UPLOAD_SECONDS):
    """Start a run that waits only some seconds for its last uploads."""
    words = ["run", str(crawl), "--collection", url, "--json", *more]
    command = [sys.executable, "-c", BRIEF.format(seconds), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ran(crawl, url, seconds=UPLOAD_SECONDS):
    with started(crawl, url, seconds=seconds) as process:
        out, err = process.communicate(timeout=90)
    return process.returncode, json.loads(out), err


def rows_of(crawl):
    with closing(sqlite3.connect(crawl / "pages" / "w1.db")) as db:
        return db.execute("SELECT count(*) FROM page").fetchone()[0]


@pytest.mark.parametrize("weather", [{"latency_seconds": 40.0}, {"cut": "from"}, {"cut": "to"}])
def test_a_slow_or_silent_storage_is_reported_and_the_next_run_uploads_what_waits(
    crawl, network, s3, thresher, tmp_path, weather
):
    url = s3.url(tmp_path.name)
    network.set(**weather)
    began = time.monotonic()
    code, result, err = ran(crawl, url)
    assert code == NOT_UPLOADED, err
    assert time.monotonic() - began < 30
    rows = rows_of(crawl)
    assert rows == 9
    assert f"{rows} rows and 2 files of this machine are not in the collection: {url} did not answer for" in err
    assert "The next run here uploads them, or thresher verify --repair." in err
    assert result["ended"]["exit_code"] == NOT_UPLOADED
    assert (result["not_uploaded"]["rows"], result["not_uploaded"]["files"]) == (rows, 2)
    network.set()
    status = json.loads(thresher("status", "crawl", "--json").stdout)
    assert status["ended"]["exit_code"] == NOT_UPLOADED
    assert f"{rows} rows and 2 files of this machine are not in the collection" in status["ended"]["words"]
    assert status["collection"]["waiting_rows"] == rows
    code, result, err = ran(crawl, url)
    assert (code, result["not_uploaded"]) == (0, None), err
    gathered = thresher("pull", url, "copy")
    assert gathered.returncode == 0, gathered.stderr
    assert len(thresher("export", "copy", "-f", "jsonl").stdout.splitlines()) == rows


def test_a_storage_that_is_away_during_the_whole_run_is_reported(crawl, s3, thresher, tmp_path, monkeypatch):
    url = s3.url(tmp_path.name)
    with monkeypatch.context() as away:
        away.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
        code, result, err = ran(crawl, url)
        assert code == NOT_UPLOADED, err
        assert f"{rows_of(crawl)} rows and 2 files of this machine are not in the collection: {url}" in err
        assert "does not answer" in result["not_uploaded"]["cause"]
        status = thresher("status", "crawl")
        assert status.returncode == 0
        assert f"{url} does not answer" in status.stdout
        assert "as of its last answer: 0 rows in 0 segments" in status.stdout
    repaired = thresher("verify", "crawl", "--repair")
    assert repaired.returncode == 0, repaired.stdout
    assert json.loads(thresher("status", "crawl", "--json").stdout)["collection"]["waiting_rows"] == 0


def test_a_folder_for_the_collection_that_is_none_is_reported(crawl, tmp_path):
    (tmp_path / "storage").write_text("no folder")
    code, result, err = ran(crawl, (tmp_path / "storage").as_uri())
    assert code == NOT_UPLOADED, err
    assert result["not_uploaded"]["rows"] == rows_of(crawl)
    assert "cannot be used" in result["not_uploaded"]["cause"]


def test_a_folder_of_the_collection_that_is_not_mounted_is_not_created_anew(crawl, thresher, tmp_path):
    storage = tmp_path / "disk" / "storage"
    code, _, err = ran(crawl, storage.as_uri(), seconds=60)
    assert code == 0, f"the first use creates it: {err}"
    (tmp_path / "disk").rename(tmp_path / "away")
    code, result, err = ran(crawl, storage.as_uri())
    assert code == NOT_UPLOADED, err
    assert "storage is no folder; mount its disk" in result["not_uploaded"]["cause"]
    for options in ([], ["--repair"]):
        checked = thresher("verify", "crawl", *options)
        assert "not checked: the collection and the pages of other machines: file:" in checked.stdout, options
    assert not (tmp_path / "disk").exists()
    code, _, err = ran(crawl, (tmp_path / "new").as_uri(), seconds=60)
    assert code == 0, f"another collection is new: {err}"


def test_a_run_that_could_fetch_nothing_says_so_first(site, crawl, s3, tmp_path, monkeypatch):
    site.pages.clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    code, result, err = ran(crawl, s3.url(tmp_path.name))
    assert code == 9, err
    assert result["not_uploaded"]["rows"] == 1


def test_a_second_ctrl_c_does_not_wait_for_the_storage(crawl, site, network, s3, tmp_path):
    network.set(cut="from")
    with started(crawl, s3.url(tmp_path.name), seconds=60) as process:
        while "/8" not in site.paths:
            time.sleep(0.05)
        time.sleep(3)  # all workers have left, and the run waits for its uploads
        began = time.monotonic()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 13, err
    assert time.monotonic() - began < 20
    assert "are not in the collection" in err


def test_each_machine_reports_what_it_could_not_upload(crawl, s3, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    with store_server("redis", tmp_path / "store") as store:
        owner = started(crawl, s3.url(tmp_path.name), "--store", store.url, "--workers", "0")
        words = ["join", "--store", store.url, "--crawl", "crawl", "--dir", str(tmp_path / "other"), "--json"]
        command = [sys.executable, "-c", BRIEF.format(UPLOAD_SECONDS), *words]
        joined = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        with owner:
            out, err = owner.communicate(timeout=60)
    assert joined.returncode == NOT_UPLOADED, joined.stderr
    assert json.loads(joined.stdout)["not_uploaded"]["rows"] == 9
    assert owner.returncode == NOT_UPLOADED, err
    assert (json.loads(out)["not_uploaded"]["rows"], json.loads(out)["not_uploaded"]["files"]) == (0, 2)
