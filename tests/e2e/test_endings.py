"""A run ends as it was instructed to, says why, and leaves nothing held."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.e2e.conftest import quick

EVERYTHING = "{traps: follow, first_pages_per_host: null, max_pages_per_host: 5000, max_depth: 100}"
"""Without it, a site of pages that are so much alike is left after some twenty of them."""


@pytest.fixture
def endless(site, thresher, tmp_path):
    """A site whose every page links to the next two, and a crawl that follows them all."""
    site.seconds = 0.05
    site.pages = {
        f"/{number}": f"<title>solar {number}</title><p>solar cells {number}</p>"
        f'<a href="/{2 * number + 1}">solar</a> <a href="/{2 * number + 2}">solar</a>'
        for number in range(5000)
    }
    thresher("new", "crawl", "--topic", "solar cells", "--seed", site.url("/0"))
    quick(tmp_path / "crawl", scope=EVERYTHING)
    return tmp_path / "crawl"


def waiting_and_leased(thresher):
    status = json.loads(thresher("status", "crawl", "--json").stdout)
    return status["waiting"], status["leased"]


def test_the_time_limit_ends_a_run(endless, thresher):
    ended = thresher("run", "crawl", "--minutes", "0.05")
    assert ended.returncode == 0, ended.stderr
    assert "Stopped: the time limit is reached." in ended.stderr
    waiting, leased = waiting_and_leased(thresher)
    assert waiting > 0
    assert leased == 0


def test_the_wanted_number_of_relevant_pages_ends_a_run(endless, thresher, tmp_path):
    quick(tmp_path / "crawl", scope=EVERYTHING, stop="{relevant: 5}")
    ended = thresher("run", "crawl", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["ending"] == "relevant"
    assert json.loads(ended.stdout)["relevant"] >= 5


def test_a_second_ctrl_c_stops_at_once_and_gives_leases_back(endless, site, thresher, tmp_path):
    site.seconds = 1.5
    command = [sys.executable, "-m", "thresher", "run", "crawl"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while len(site.requests) < 2:  # robots.txt, and then a page that takes its time
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 13, stderr
    assert waiting_and_leased(thresher)[1] == 0


def test_two_runs_of_one_crawl_do_not_mix(endless, site, thresher, tmp_path):
    command = [sys.executable, "-m", "thresher", "run", "crawl"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        while not site.requests:
            time.sleep(0.02)
        second = thresher("run", "crawl")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    assert second.returncode == 1
    assert "a run of crawl is under way" in second.stderr
    assert process.returncode == 11


def test_workers_leave_when_their_supervisor_is_killed(endless, site, tmp_path):
    command = [sys.executable, "-m", "thresher", "run", "crawl"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        while len(site.requests) < 5:
            time.sleep(0.02)
        process.kill()
    quiet_since, seen = time.monotonic(), len(site.requests)
    while time.monotonic() - quiet_since < 2.0:
        time.sleep(0.1)
        if len(site.requests) != seen:
            quiet_since, seen = time.monotonic(), len(site.requests)
    assert seen < 500


def test_a_run_does_not_wait_for_a_host_whose_rules_cannot_be_read(site, thresher, tmp_path):
    site.pages = {"/robots.txt": (503, {}, "")}
    thresher("new", "crawl", "--topic", "solar cells", "--seed", site.url("/0"))
    quick(tmp_path / "crawl")
    ended = thresher("run", "crawl", "--json")
    assert ended.returncode == 9, ended.stderr
    assert json.loads(ended.stdout)["ending"] == "resting"
    assert "1 URL remains on 1 busy host (robots.txt cannot be read (HTTP 503))" in ended.stderr
    assert site.paths == ["/robots.txt"]
    [host] = json.loads(thresher("hosts", "crawl", "--json").stdout)
    assert host["parked"] == "robots.txt cannot be read: http 503"
