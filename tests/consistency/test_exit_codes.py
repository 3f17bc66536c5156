"""Rows U5 and U6: the exit code says whether the work was done, and every report names the reasons of failures."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from testing.servers.store import store_server
from tests.e2e.conftest import CommandLine, Site, quick, serving
from tests.faults.nameserver import name_server
from thresher.coordination.last_run import RUNNING, RunEnd, record_run_end
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard.service import CrawlService
from thresher_ui.dashboard.views import page

POLITENESS = "{delay_seconds: 0, contact: tests@example.org}"
GONE = "1 URL on 1 host: HTTP 404 ("


@pytest.fixture
def garden(site, thresher, tmp_path):
    """A site of ten pages that all link to the next, and a crawl of it."""
    site.pages = {
        f"/{number}": f'<title>solar {number}</title><p>solar cells {number}</p><a href="/{number + 1}">solar</a>'
        for number in range(10)
    }
    thresher("new", "crawl", "--topic", "solar cells", "--seed", site.url("/0"))
    quick(tmp_path / "crawl", scope="{traps: follow, first_pages_per_host: null}")
    return tmp_path / "crawl"


@dataclass(frozen=True)
class Missing:
    """A crawl whose only seed is a page that is not there, after its first run."""

    site: Site
    folder: Path
    thresher: CommandLine
    ended: CompletedProcess[str]


@pytest.fixture(scope="module")
def missing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("missing")
    command = CommandLine(folder)
    with serving() as site:
        command("new", "crawl", "--topic", "solar cells", "--seed", site.url("/missing"))
        quick(folder / "crawl")
        yield Missing(site, folder / "crawl", command, command("run", "crawl"))


@pytest.fixture
def nameless(thresher, tmp_path):
    """A crawl of two hosts of which no name server knows the addresses; three URLs."""
    seeds = ["http://a.example/1", "http://a.example/2", "http://b.example/"]
    with name_server({}) as server:
        thresher("new", "crawl", "--topic", "solar cells", *(part for seed in seeds for part in ("--seed", seed)))
        quick(tmp_path / "crawl", politeness=POLITENESS, network=f'{{name_servers: ["{server.place}"]}}')
        yield tmp_path / "crawl"


def status_of(thresher):
    return json.loads(thresher("status", "crawl", "--json").stdout)


def test_u5_a_page_limit_that_is_reached_is_success_so_that_export_follows(garden, thresher):
    ended = thresher("run", "crawl", "--pages", "3")
    assert ended.returncode == 0, ended.stderr
    assert "Stopped: the page limit is reached." in ended.stderr
    assert status_of(thresher)["ended"]["code"] == "pages"
    again = thresher("run", "crawl", "--pages", "3", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["ended"]["fetched"] == 0
    assert thresher("export", "crawl", "-f", "jsonl").returncode == 0


def test_u5_a_finished_crawl_that_is_run_again_is_success(garden, thresher):
    first = thresher("run", "crawl")
    assert first.returncode == 0, first.stderr
    assert "Finished: nothing is left to fetch." in first.stderr
    assert GONE in first.stderr  # the last page links to one that is not there
    again = thresher("run", "crawl")
    assert again.returncode == 0, again.stderr
    assert status_of(thresher)["ended"]["code"] == "done"


def test_u5_a_time_limit_and_a_limit_of_relevant_pages_are_success(garden, site, thresher, tmp_path):
    site.seconds = 0.3
    ended = thresher("run", "crawl", "--minutes", "0.05", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["ended"]["code"] == "minutes"
    quick(tmp_path / "crawl", stop="{relevant: 1}")
    ended = thresher("run", "crawl", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["ended"]["code"] == "relevant"


def test_u5_a_run_that_could_fetch_nothing_has_an_exit_code_of_its_own(missing):
    again = missing.thresher("run", "crawl")  # nothing is left to try, and still nothing was fetched
    for ended in (missing.ended, again):
        assert ended.returncode == 9, ended.stderr
        assert "Stopped: nothing could be fetched, every URL failed." in ended.stderr
    assert status_of(missing.thresher)["ended"]["exit_code"] == 9


def test_u5_a_run_that_was_killed_is_reported_as_killed(garden, thresher):
    asyncio.run(begin(garden))
    assert status_of(thresher)["ended"]["code"] == "killed"


async def begin(folder):
    """Note the beginning of a run that nobody ends."""
    frontier = CrawlSetup.open(folder).backend.frontier()
    await record_run_end(frontier, RunEnd(code=RUNNING, words=""))
    await frontier.close()


def test_u6_a_seed_that_is_missing_is_reported_with_its_reason_everywhere(missing):
    thresher, url = missing.thresher, missing.site.url("/missing")
    line = f"{GONE}127.0.0.1:{missing.site.port})"
    assert line in missing.ended.stderr
    assert line in thresher("status", "crawl").stdout
    assert [group["words"] for group in status_of(thresher)["failures"]] == [line]
    assert "Failed: HTTP 404" in thresher("why", "crawl", url).stdout
    assert asyncio.run(page_screen(missing.folder, url))["summary"].startswith("Failed: HTTP 404")


def test_u6_hosts_without_an_address_are_reported_with_the_next_try_everywhere(nameless, thresher):
    ended = thresher("run", "crawl")
    assert ended.returncode == 9, ended.stderr
    assert (
        "Stopped: nothing could be fetched, 3 URLs remain on 2 unreachable hosts (DNS lookup failed). "
        "Re-run in 10 min to retry.\n" in ended.stderr
    )
    assert "  3 URLs on 2 hosts: DNS lookup failed (a.example, b.example), next try in 10 min\n" in ended.stderr
    [group] = status_of(thresher)["failures"]
    assert (group["reason"], group["urls"], group["waiting"], group["hosts"]) == ("DNS lookup failed", 3, 3, 2)
    assert "3 URLs on 2 hosts: DNS lookup failed" in thresher("status", "crawl").stdout
    reported = " ".join(thresher("why", "crawl", "http://b.example/").stdout.splitlines()[1:])
    assert reported.startswith("Not fetched yet: DNS lookup failed (b.example, 1 failed try, the last at 20")
    assert "The next try is possible in 10 min." in reported
    assert "Waiting with score" in reported
    details = asyncio.run(page_screen(nameless, "http://b.example/"))["details"]
    assert details["trouble"] == "DNS lookup failed"
    assert 0 < details["next_try_seconds"] <= 600


def test_u6_a_shared_store_counts_the_failures_of_all_machines(site, thresher, tmp_path):
    with store_server("redis", tmp_path / "store") as server:
        thresher("new", "crawl", "--topic", "solar cells", "--seed", site.url("/missing"))
        quick(tmp_path / "crawl")
        ended = thresher("run", "crawl", "--store", server.url)
        assert ended.returncode == 9, ended.stderr
        assert GONE in ended.stderr
        reported = json.loads(thresher("status", "--store", server.url, "--crawl", "crawl", "--json").stdout)
    assert reported["ended"]["exit_code"] == 9
    assert [group["reason"] for group in reported["failures"]] == ["HTTP 404"]


async def page_screen(folder, url):
    """Return what the page screen knows."""
    service = CrawlService({"crawl": CrawlSetup.open(folder)})
    try:
        return await service.view("crawl", page.page, url=url)
    finally:
        await service.close()
