"""Crawls that an earlier version left half-way go on with this one: folders, shared stores, trained models."""

import json
import tarfile
from pathlib import Path

import pytest

from testing.recording_server import recorder
from testing.servers import store_server
from tests.e2e.conftest import CommandLine
from tests.release.recorded import FORMATS, HALF, HOST, PLACEHOLDER, rewrite, site

pytestmark = pytest.mark.filterwarnings("ignore::thresher.config.renamed_keys.RenamedKeyWarning")
"""The topic.yaml of an earlier version has earlier names of keys."""

ARCHIVES = sorted(FORMATS.glob("crawls-*.tar.xz"))
MORE = 28


@pytest.fixture(scope="module")
def server():
    with recorder(site()) as server:
        yield server


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name)
def folder(request, tmp_path, server):
    """The crawls of one version, which find the site where it is now."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    for name in ("local", "layers", "shared"):
        rewrite(tmp_path / name, {"network": {"connect_to": dict(server.connect_to)}})
    return tmp_path


@pytest.fixture
def thresher(folder):
    return CommandLine(folder)


def exported(thresher, name):
    done = thresher("export", name, "-f", "jsonl")
    assert done.returncode == 0, done.stderr
    return {row["url"]: row for row in map(json.loads, done.stdout.splitlines())}


def status(thresher, name):
    done = thresher("status", name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_there_is_an_archive():
    assert ARCHIVES


def test_a_crawl_in_a_folder_goes_on_where_it_stopped(thresher, server):
    before = exported(thresher, "local")
    assert status(thresher, "local")["pages"] == HALF
    asked = len(server.hits(HOST))
    done = thresher("run", "local", "--pages", str(MORE))
    assert done.returncode == 0, done.stderr
    after = exported(thresher, "local")
    assert before.keys() < after.keys()
    fetched = [hit.path for hit in server.hits(HOST)[asked:] if hit.path != "/robots.txt"]
    assert len(fetched) == len(set(fetched))
    assert not {f"http://{HOST}{path}" for path in fetched} & before.keys()


def test_labels_still_count(thresher):
    done = thresher("why", "local", f"http://{HOST}/tea0")
    assert done.returncode == 0, done.stderr
    assert "labelled by a person" in done.stdout


def test_a_crawl_whose_parts_agreed_still_agree(thresher):
    done = thresher("verify", "local")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_trained_model_still_crawls(thresher):
    done = thresher("run", "layers", "--pages", "12")
    assert done.returncode == 0, done.stderr
    assert status(thresher, "layers")["pages"] == 12


def test_a_crawl_on_a_shared_store_goes_on_where_it_stopped(thresher, folder):
    dump = folder / "redis" / "dump.rdb"
    with store_server("redis", dump.parent, options=["--appendonly", "no"]) as store:
        address = store.url.removeprefix("redis://").partition("/")[0]
        recorded = [folder / "shared" / name for name in ("store.json", "topic.yaml")]
        for path in filter(Path.is_file, recorded):  # 0.1.0 wrote no store.json
            path.write_text(path.read_text(encoding="utf-8").replace(PLACEHOLDER, address), encoding="utf-8")
        assert status(thresher, "shared")["pages"] == HALF
        done = thresher("run", "shared", "--pages", str(MORE))
        assert done.returncode == 0, done.stderr
        assert status(thresher, "shared")["pages"] == MORE
