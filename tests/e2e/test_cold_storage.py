"""A crawl whose cold storage lost files or has damaged ones: it goes on, says what was lost, and is repaired."""

import json

import pytest

from testing.servers import store_server
from tests.e2e.conftest import quick

PAGES = 70
SCOPE = "{traps: follow, first_pages_per_host: null, max_pages_per_host: 5000, max_depth: 100}"


def truncate(path):
    path.write_bytes(path.read_bytes()[:100])


def zero(path):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    path.write_bytes(content)


def delete(path):
    path.unlink()


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The URL of a Redis server, without the number of a database."""
    with store_server("redis", tmp_path_factory.mktemp("store")) as server:
        yield server.url.rpartition("/")[0]


@pytest.fixture
def wide(site):
    """A page that links to many others, and these back to it."""
    site.pages = {
        f"/{number}": f'<title>solar {number}</title><p>solar cells {number}</p><a href="/0">solar</a>'
        for number in range(1, PAGES)
    }
    linked = " ".join(f'<a href="/{number}">solar cell {number}</a>' for number in range(1, PAGES))
    site.pages["/0"] = f"<title>solar</title><p>solar cells</p>{linked}"
    return site


@pytest.fixture
def started(wide, thresher, tmp_path):
    """Start a crawl of the site in a store and fetch its first pages; most of the others are cold."""

    def start(store, folder="crawl"):
        thresher("new", folder, "--topic", "solar cells", "--seed", wide.url("/0"))
        quick(
            tmp_path / folder,
            name="solar",
            store=store,
            scope=SCOPE,
            frontier=f"{{cold: {tmp_path / 'cold'}, hot_urls: 1}}",
        )
        ran = thresher("run", folder, "--pages", "3")
        assert ran.returncode == 0, ran.stderr

    return start


def files_in(folder):
    return sorted(folder.rglob("*.parquet"))


def fetched(thresher, folder="crawl"):
    return json.loads(thresher("status", folder, "--json").stdout)["pages"]


@pytest.mark.parametrize(("number", "damage"), [(0, truncate), (1, zero), (2, delete)])
def test_a_damaged_file_is_reported_and_what_it_lost_is_fetched_after_a_repair(
    started, stores, thresher, tmp_path, number, damage
):
    started(f"{stores}/{number}")
    files = files_in(tmp_path / "cold")
    assert files
    for path in files:
        damage(path)
    found = thresher("verify", "crawl")
    assert found.returncode == 1
    assert "1 file of the cold storage is missing or damaged, with" in found.stdout
    ended = thresher("run", "crawl")
    assert ended.returncode == 0, ended.stderr
    lost = PAGES - fetched(thresher)
    assert 0 < lost < PAGES - 3
    for output in (ended.stderr, thresher("status", "crawl").stdout):
        assert f"{lost} URLs: lost with damaged files of the cold storage; thresher verify --repair" in output
    found = thresher("verify", "crawl")
    assert found.returncode == 1
    assert f"{lost} waiting URLs were lost with missing or damaged files of the cold storage" in found.stdout
    repaired = thresher("verify", "crawl", "--repair")
    assert repaired.returncode == 0, repaired.stdout
    ended = thresher("run", "crawl")
    assert (ended.returncode, fetched(thresher)) == (0, PAGES), ended.stderr
    checked = thresher("verify", "crawl")
    assert checked.returncode == 0, checked.stdout
    assert "lost with" not in checked.stdout + thresher("status", "crawl").stdout


def test_a_repair_before_the_next_run_loses_nothing_that_a_page_links_to(started, stores, thresher, tmp_path):
    started(f"{stores}/3")
    for path in files_in(tmp_path / "cold"):
        zero(path)
    repaired = thresher("verify", "crawl", "--repair")
    assert repaired.returncode == 0, repaired.stdout
    assert "left out from now on" in repaired.stdout
    assert thresher("run", "crawl").returncode == 0
    assert fetched(thresher) == PAGES


def test_two_crawls_of_one_name_share_a_cold_storage(started, stores, thresher, tmp_path):
    started(f"{stores}/4", "one")
    before = files_in(tmp_path / "cold")
    started(f"{stores}/5", "other")
    assert {path.parent.parent for path in files_in(tmp_path / "cold")} > {path.parent.parent for path in before}
    for folder in ("other", "one"):
        assert thresher("run", folder).returncode == 0
        assert fetched(thresher, folder) == PAGES
        assert thresher("verify", folder).returncode == 0


def test_a_cold_storage_that_fails_is_named_at_the_end_of_the_run_and_nothing_is_lost(
    started, stores, thresher, tmp_path
):
    started(f"{stores}/6")
    (tmp_path / "cold").rename(tmp_path / "away")
    ended = thresher("run", "crawl", "--minutes", "0.2")
    assert "The cold storage failed within the last minute: file:" in ended.stderr, ended.stderr
    assert "is no folder. URLs that wait there were not fetched." in ended.stderr
    assert 3 < fetched(thresher) < PAGES
    found = thresher("verify", "crawl")
    assert found.returncode == 1
    assert "Traceback" not in found.stderr
    (tmp_path / "away").rename(tmp_path / "cold")
    assert thresher("run", "crawl").returncode == 0
    assert fetched(thresher) == PAGES
