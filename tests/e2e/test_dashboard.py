"""The dashboard beside live crawls, as its user starts it: it shows them, steers them, and leaves them alone."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import yaml

from testing.crawl_process import Crawl
from testing.recording_server import running
from testing.recording_server.site import Site
from testing.recording_server.words import TOPIC_WORDS
from testing.servers import store_server

ENDLESS = Site(pages=20_000, hosts=40)
TOKEN = "t" * 43
BEARER = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
SETTINGS = {
    "name": "solar",
    "keywords": TOPIC_WORDS,
    "languages": ["en"],
    "politeness": {"delay_seconds": 0.05},
    "network": {"allow": ["127.0.0.0/8"]},
    "engine": {"timeout_seconds": 2.0, "lease_seconds": 8.0, "concurrency": 4},
}


class Dashboard:
    """A dashboard in a process of its own."""

    def __init__(self, process, address):
        self.process = process
        self.address = urlsplit(address)

    def ask(self, method, path, body=None, headers=BEARER):
        connection = http.client.HTTPConnection(self.address.netloc, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, dict(headers))
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        return answer.status, json.loads(content) if answer.headers.get_content_type().endswith("json") else content

    def status(self):
        return self.ask("GET", "/api/crawls/solar")[1]

    def until(self, check, seconds=30.0):
        """Wait until the crawl stands as wanted; return how it stands."""
        deadline = time.monotonic() + seconds
        while not check(status := self.status()):
            assert time.monotonic() < deadline, status
            time.sleep(0.1)
        return status

    def events(self, number):
        """Listen until `number` events have come; return them."""
        connection = http.client.HTTPConnection(self.address.netloc, timeout=30)
        try:
            connection.request("GET", "/api/crawls/solar/events", headers=BEARER)
            answer, reported = connection.getresponse(), []
            while len(reported) < number:
                line = answer.readline()
                if line.startswith(b"data: "):
                    reported.append(json.loads(line.removeprefix(b"data: ")))
            return reported
        finally:
            connection.close()


@contextmanager
def shown(*arguments, store=""):
    command = [sys.executable, "-m", "thresher", "ui", *map(str, arguments), "--port", "0", "--no-open"]
    environment = {**os.environ, "THRESHER_UI_TOKEN": TOKEN, "THRESHER_STORE": store}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert address, process.stderr.read()
            yield Dashboard(process, address)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            assert process.returncode == 0


@pytest.fixture
def recorder(tmp_path):
    with running(ENDLESS, tmp_path / "hits.csv") as recorder:
        yield recorder


@pytest.fixture
def crawl(tmp_path, recorder):
    crawl = Crawl(tmp_path / "solar")
    crawl.create(recorder.seed_url, SETTINGS)
    return crawl


def pages_that_stay(dashboard, *, seconds):
    """Wait until no page is added for some seconds: workers notice a pause within a second; return their number."""
    for _ in range(20):
        before = dashboard.until(lambda status: not status["counts"]["leased"])["counts"]["pages"]
        time.sleep(seconds)
        if dashboard.status()["counts"]["pages"] == before:
            return before
    raise AssertionError("pages are still added")


def test_a_crawl_is_started_watched_paused_bounded_and_stopped(crawl):
    with shown(crawl.folder) as dashboard:
        assert dashboard.status()["state"] == "stopped"
        code, begun = dashboard.ask("POST", "/api/crawls/solar/control", {"do": "start", "pages": 5000})
        assert (code, begun["state"]) == (200, "running")
        pages = [event["counts"]["pages"] for event in dashboard.events(4)]
        assert pages == sorted(pages)
        busy = dashboard.until(lambda status: status["counts"]["pages"] >= 20 and status["pages_per_second"] > 0)
        assert busy["limit"]["code"] in ("busy", "delay", "answers")
        [worker] = dashboard.ask("GET", "/api/crawls/solar/workers")[1]["workers"]
        assert worker["state"] == "working"

        assert dashboard.ask("POST", "/api/crawls/solar/control", {"do": "pause"})[1]["state"] == "paused"
        before = pages_that_stay(dashboard, seconds=1.5)
        dashboard.ask("PUT", "/api/crawls/solar/budgets", {"pages": before + 30})
        assert dashboard.ask("POST", "/api/crawls/solar/control", {"do": "resume"})[1]["state"] == "running"
        ended = dashboard.until(lambda status: status["state"] == "stopped")
        assert ended["counts"]["pages"] == before + 30

        dashboard.ask("POST", "/api/crawls/solar/control", {"do": "start"})
        dashboard.until(lambda status: status["counts"]["pages"] > before + 35)
        assert dashboard.ask("POST", "/api/crawls/solar/control", {"do": "stop"})[0] == 200
        dashboard.until(lambda status: status["state"] == "stopped")


def test_a_run_goes_on_when_the_dashboard_ends(crawl):
    with shown(crawl.folder) as dashboard:
        dashboard.ask("POST", "/api/crawls/solar/control", {"do": "start"})
        before = dashboard.until(lambda status: status["counts"]["pages"] > 5)["counts"]["pages"]
    time.sleep(0.5)
    with shown(crawl.folder) as dashboard:
        assert dashboard.until(lambda status: status["counts"]["pages"] > before)["state"] == "running"
        dashboard.ask("POST", "/api/crawls/solar/control", {"do": "stop"})
        dashboard.until(lambda status: status["state"] == "stopped")


def test_a_run_that_cannot_begin_says_why(crawl):
    topic = yaml.safe_load((crawl.folder / "topic.yaml").read_text(encoding="utf-8"))
    (crawl.folder / "topic.yaml").write_text(yaml.safe_dump({**topic, "seeds": ["none.txt"]}), encoding="utf-8")
    with shown(crawl.folder) as dashboard:
        code, printed = dashboard.ask("POST", "/api/crawls/solar/control", {"do": "start"})
        assert code == 400
        assert "none.txt" in printed["error"]


def test_the_printed_address_works_once(crawl):
    with shown(crawl.folder) as dashboard:
        path = f"{dashboard.address.path}?{dashboard.address.query}"
        assert dashboard.ask("GET", path, headers={})[0] == 303
        assert dashboard.ask("GET", path, headers={})[0] == 401
        assert dashboard.ask("GET", "/", headers={"Accept": "text/html"})[0] == 401


def test_all_crawls_of_a_store_are_shown_with_their_workers(crawl, tmp_path):
    with store_server("redis", tmp_path / "store") as store:
        run = crawl.start("--store", store.url)
        try:
            with store.client() as client:
                while not client.keys("th:*:fleet:definition"):
                    time.sleep(0.05)
            with shown(store=store.url) as dashboard:
                busy = dashboard.until(lambda status: status["counts"]["pages"] > 5)
                assert (busy["state"], busy["shared"], "start" in busy["can"]) == ("running", True, False)
                [worker] = dashboard.ask("GET", "/api/crawls/solar/workers")[1]["workers"]
                assert worker["state"] in ("working", "waiting")
                assert dashboard.ask("GET", "/api/crawls/solar/frontier")[1]["next"]
                assert dashboard.ask("GET", "/api/crawls/solar/hosts")[1]["hosts"]
                assert dashboard.ask("POST", "/api/crawls/solar/control", {"do": "pause"})[1]["state"] == "paused"
                assert dashboard.ask("POST", "/api/crawls/solar/control", {"do": "stop"})[0] == 200
                assert run.wait(30) == 11
                dashboard.until(lambda status: status["state"] == "stopped", seconds=30)
        finally:
            run.kill_all()
