"""Machines that share nothing but a store work for one crawl, and join and leave as they like."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from testing.recording_server import running
from testing.recording_server.site import Site
from testing.recording_server.words import TOPIC_WORDS
from testing.servers import store_server
from thresher.coordination.keys import key_of
from thresher.coordination.worker_registry import WorkerRegistry
from thresher.frontier.redis.frontier import RedisFrontier

SITE = Site(pages=120, hosts=12)
ENDLESS = Site(pages=20_000, hosts=40)
NAME = "solar"
DELAY_SECONDS = 0.4
PAGES_OF_A_LONG_RUN = 800
"""Enough that it lasts until a process has been started again."""


class Machines:
    """Runs commands as several machines would: each in a folder of its own, against one store."""

    def __init__(self, store, folder):
        self.store = store
        self.folder = folder
        self.processes = []

    def start(self, machine, *arguments):
        (self.folder / machine).mkdir(exist_ok=True)
        with (self.folder / f"{machine}.out").open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "thresher", *map(str, arguments)],
                cwd=self.folder / machine,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, "THRESHER_STORE": self.store.url},
            )
        self.processes.append(process)
        return process

    def run(self, *options):
        return self.start("first", "run", NAME, *options)

    def work(self, machine, *options):
        return self.start(machine, "join", "--crawl", NAME, *options)

    def call(self, *arguments):
        command = [sys.executable, "-m", "thresher", *map(str, arguments)]
        environment = {**os.environ, "THRESHER_STORE": self.store.url}
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, env=environment)

    def status(self):
        return asyncio.run(self._look())

    async def _look(self):
        frontier = RedisFrontier(self.store.url, crawl=NAME)
        counts = asdict(await frontier.counts())
        workers = await WorkerRegistry(frontier.connection, NAME).workers()
        await frontier.close()
        return {
            **counts,
            "workers": [{"name": one.name, **asdict(one.heartbeat)} for one in workers if not one.is_silent],
        }

    def started(self):
        with self.store.client() as client:
            return json.loads(client.get(key_of(NAME, "run")))["since"]

    def ended(self):
        done = self.call("status", "--crawl", NAME, "--json")
        assert not done.returncode, done.stderr
        return json.loads(done.stdout)["ended"]["code"]

    def await_status(self, condition, seconds=40.0):
        deadline = time.monotonic() + seconds
        while not condition(reported := self.status()):
            assert time.monotonic() < deadline, (reported, self.words())
            time.sleep(0.05)
        return reported

    def await_words(self, *names, words, seconds=40.0):
        deadline = time.monotonic() + seconds
        while not all(words in self.words().get(name, "") for name in names):
            assert time.monotonic() < deadline, self.words()
            time.sleep(0.05)

    def words(self):
        return {path.stem: path.read_text()[-1500:] for path in self.folder.glob("*.out")}

    def exported(self, machine):
        done = self.call("export", Path(machine) / NAME, "-f", "jsonl")
        assert not done.returncode, done.stderr
        return [json.loads(line)["url"] for line in done.stdout.splitlines()]


@pytest.fixture
def machines(tmp_path):
    with store_server("redis", tmp_path / "store") as store:
        machines = Machines(store, tmp_path)
        yield machines
        for process in machines.processes:
            process.kill()
            process.wait(10)


def write_crawl(folder, recorder, **more):
    settings = {
        "title": {"en": "perovskite solar cells"},
        "keywords": list(TOPIC_WORDS) if not isinstance(TOPIC_WORDS, str) else [TOPIC_WORDS],
        "languages": ["en"],
        "seeds": ["seeds.txt"],
        "strategy": {"name": "breadth-first"},
        "scope": {"first_pages_per_host": None, "traps": "follow", "max_pages_per_host": 100_000},
        "politeness": {"delay_seconds": 0.05, "contact": "tests@example.org"},
        "engine": {"concurrency": 4, "timeout_seconds": 2.0, "lease_seconds": 8.0},
        "network": {"allow": ["127.0.0.0/8"]},
        **more,
    }
    folder.mkdir(parents=True)
    (folder / "topic.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "seeds.txt").write_text(recorder.seed_url + "\n", encoding="utf-8")


@pytest.fixture
def small(tmp_path):
    with running(SITE, tmp_path / "hits.csv") as recorder:
        # slow enough that a machine which looks for the crawl every two seconds still finds pages
        politeness = {"delay_seconds": DELAY_SECONDS, "contact": "tests@example.org"}
        write_crawl(tmp_path / "first" / NAME, recorder, politeness=politeness)
        yield recorder


@pytest.fixture
def endless(tmp_path):
    with running(ENDLESS, tmp_path / "hits.csv") as recorder:
        write_crawl(
            tmp_path / "first" / NAME, recorder, politeness={"delay_seconds": 0.5, "contact": "tests@example.org"}
        )
        yield recorder


def test_machines_that_share_a_store_fetch_every_page_once_and_politely(small, machines):
    workers = [machines.work("second"), machines.work("third")]
    machines.await_words("second", "third", words="Waiting")  # for the crawl, so that both are there
    watcher = machines.run("--workers", 0)
    codes = [process.wait(90) for process in (watcher, *workers)]
    assert codes == [0, 0, 0], machines.words()
    report = small.report(delay_seconds=DELAY_SECONDS)
    assert (report.open_at_once, report.violations) == (1, 0)
    there = [machines.exported("second"), machines.exported("third")]
    assert min(map(len, there)) > 0
    assert machines.status()["pages"] == SITE.pages
    collect(machines.folder / "third" / NAME, machines.folder / "second" / NAME)
    together = machines.exported("second")
    assert sorted(together) == sorted({*there[0], *there[1]})
    fetched = [hit.path for hit in small.hits() if hit.path != "/robots.txt"]
    assert len(fetched) == SITE.pages
    assert len(small.hits()) == SITE.pages + SITE.hosts  # a host's rules are read once for all machines
    with machines.store.client() as client:  # what both have learned is there for all
        assert len({place.split()[0] for place in client.hkeys(key_of(NAME, "learned", "judge"))}) == 2


def collect(source, target):
    """Copy a machine's segments to another, as a user would."""
    for segment in (source / "pages").glob("*.db"):
        shutil.copy(segment, target / "pages")


def test_a_machine_may_leave_alone_and_an_order_to_stop_reaches_all(endless, machines):
    owner = machines.run()
    machines.await_status(lambda reported: reported["pages"] > 0)
    second, third = machines.work("second"), machines.work("third", "--workers", 2, "--name", "blue")
    reported = machines.await_status(lambda reported: len(reported["workers"]) == 4)
    assert {"blue-w1", "blue-w2"} <= {worker["name"] for worker in reported["workers"]}
    second.send_signal(signal.SIGINT)
    assert second.wait(40) == 11, machines.words()
    assert len(machines.status()["workers"]) == 3
    stopped = machines.call("stop", "--crawl", NAME)
    assert stopped.returncode == 0, stopped.stderr
    assert (owner.wait(40), third.wait(40)) == (0, 0), machines.words()
    reported = machines.status()
    assert (reported["leased"], reported["workers"]) == (0, [])
    late = machines.work("second")
    assert late.wait(30) == 0
    assert machines.status()["pages"] == reported["pages"]


def test_workers_outlive_a_restarted_owner_which_continues_the_same_run(endless, machines):
    owner = machines.run("--workers", 0, "--pages", PAGES_OF_A_LONG_RUN)
    machines.await_status(lambda reported: reported["waiting"])
    worker = machines.work("second")
    machines.await_status(lambda reported: reported["pages"] > 10)
    started = machines.started()
    owner.send_signal(signal.SIGTERM)
    assert owner.wait(40) == 11, machines.words()
    assert "This machine left, others continue" in machines.words()["first"]
    pages = machines.status()["pages"]
    machines.await_status(lambda reported: reported["pages"] > pages + 5)  # the worker goes on
    owner = machines.run("--workers", 0, "--pages", PAGES_OF_A_LONG_RUN)
    assert [owner.wait(90), worker.wait(90)] == [0, 0], machines.words()
    assert machines.started() == started  # minutes are counted from the first start
    assert machines.status()["pages"] == PAGES_OF_A_LONG_RUN
    assert machines.ended() == "pages"


def test_the_last_machine_records_the_end_of_a_run_whose_owner_left(endless, machines):
    owner = machines.run("--workers", 0, "--pages", 60)
    machines.await_status(lambda reported: reported["waiting"])
    worker = machines.work("second")
    machines.await_status(lambda reported: reported["pages"] > 10)
    owner.send_signal(signal.SIGTERM)
    assert (owner.wait(40), worker.wait(90)) == (11, 0), machines.words()
    assert machines.ended() == "pages"


def test_the_page_limit_holds_over_all_machines_also_when_its_owner_was_killed(endless, machines):
    owner = machines.run("--workers", 0, "--pages", 100)
    machines.await_status(lambda reported: reported["waiting"])
    processes = [machines.work("second"), machines.work("third")]
    machines.await_status(lambda reported: reported["pages"] > 10)
    owner.kill()
    assert [process.wait(60) for process in processes] == [0, 0], machines.words()
    assert machines.status()["pages"] == 100


def test_nobody_is_asked_while_the_store_is_away_and_a_second_signal_ends_workers_at_once(endless, machines):
    owner = machines.run("--workers", 1)
    machines.await_status(lambda reported: reported["pages"] > 0)
    second = machines.work("second")
    machines.await_status(lambda reported: len(reported["workers"]) == 2)
    machines.store.kill()
    time.sleep(2.0)  # leases that were in hand are begun
    asked = endless.ended()
    time.sleep(1.0)
    assert endless.ended() == asked
    for number in (1, 2):
        owner.send_signal(signal.SIGTERM)
        second.send_signal(signal.SIGTERM)
        time.sleep(0.3 * number)
    assert (owner.wait(30), second.wait(30)) == (13, 13), machines.words()
    assert endless.ended() == asked
