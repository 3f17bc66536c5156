"""The example project, an ordinary Scrapy one, over a made-up web on loopback: topical, durable, polite, unchanged."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.crawl import CrawlSetup
from thresher.operations.explain import explain
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import host_key
from thresher_lab.webs.generator import generate
from thresher_lab.webs.server import WebServer

EXAMPLE = Path(__file__).parents[2] / "examples" / "scrapy-project"
TOPIC = "Arts/Music"


@dataclass
class Served:
    """A web behind a socket, and what was asked of it, when."""

    web: object
    places: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[float, str]] = field(default_factory=list)

    @property
    def pages(self) -> list[str]:
        return [url for _, url in self.asked if not url.endswith("/robots.txt")]

    def start(self, number: int = 2) -> str:
        """Return a good page and a front page somewhere, as one argument of the spider."""
        return ",".join([self.web.url_of(min(self.web.targets(TOPIC))), self.web.url_of(0)][:number])


@contextmanager
def served(web, *, latency_seconds=0.0):
    """Serve a web from a thread of its own for as long as the block lasts."""
    site, ready = Served(web), threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve():
        noted = {"asked": lambda url: site.asked.append((time.monotonic(), url))}
        server = WebServer(web, latency_seconds=latency_seconds, **noted)
        site.places.update(await server.start())
        ready.set()
        await over.wait()
        await server.close()
        if conversations := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(conversations, timeout=5)  # the clients have gone
        await asyncio.sleep(0.05)  # until the last connection is closed

    thread = threading.Thread(target=loop.run_until_complete, args=[serve()])
    thread.start()
    ready.wait()
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


@dataclass(frozen=True)
class Project:
    """A copy of the example project, pointed at a web on loopback."""

    folder: Path

    def set(self, **sections) -> None:
        path = self.folder / "topic.yaml"
        document = {**yaml.safe_load(path.read_text(encoding="utf-8")), **sections}
        path.write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML

    def command(self, start: str, **settings) -> list[str]:
        settings = {"DOWNLOAD_VERIFY_CERTIFICATES": "False", **settings}  # of the made-up web, made for the hour
        printed = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        return [sys.executable, "-m", "scrapy", "crawl", "pages", "-a", f"start={start}", *printed]

    def crawl(self, start: str, **settings) -> str:
        """Run the spider to its end; return what it logged."""
        ended = subprocess.run(
            self.command(start, **settings),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stderr

    @property
    def items(self) -> list[dict]:
        path = self.folder / "pages.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def state(self) -> Path:
        return self.folder / ".thresher" / "pages"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder)
    return Project(folder)


def point_at(project, site, **politeness):
    project.set(
        network={"allow": ["127.0.0.0/8"], "connect_to": site.places},
        politeness={"delay_seconds": 0, "robots": "ignore", **politeness},
        engine={"concurrency": 4, "timeout_seconds": 2, "lease_seconds": 8},
    )


def plain(site):
    """Return settings that take the add-on away; the made-up web is still where names lead."""
    return {
        "ADDONS": "{}",
        "TWISTED_DNS_RESOLVER": "thresher_scrapy.twisted_adapter.ReactorResolver",
        "THRESHER_NETWORK_ALLOW": "127.0.0.0/8",
        "THRESHER_CONNECT_TO": json.dumps(site.places),
        "CONCURRENT_REQUESTS": 1,
    }


def area(web, urls):
    """Return the mean share of pages on topic over all beginnings of a crawl."""
    found, shares = 0, []
    for number, url in enumerate(urls, start=1):
        found += web.is_topic(url, TOPIC)
        shares.append(found / number)
    return sum(shares) / len(shares)


@pytest.fixture(scope="module")
def web():
    return generate(7, pages=4_000, hosts=60, tunnel_depth=0)


@pytest.fixture(scope="module")
def small_web():
    return generate(5, pages=140, hosts=8, tunnel_depth=0)


def test_pages_about_the_topic_come_clearly_earlier_than_without_the_add_on(project, web):
    with served(web) as site:
        point_at(project, site)
        project.crawl(site.start(), CLOSESPIDER_PAGECOUNT=100, CONCURRENT_REQUESTS=1)
        topical, items = site.pages[:100], project.items
    with served(web) as site:
        project.crawl(site.start(), CLOSESPIDER_PAGECOUNT=100, PAGES_FILE="plain.jsonl", **plain(site))
        usual = site.pages[:100]
    ours, theirs = area(web, topical), area(web, usual)
    print(f"area with the add-on {ours:.3f}, without {theirs:.3f}")
    assert ours > 2 * theirs
    assert all(0 <= item["relevance"] <= 1 for item in items)


@pytest.fixture(scope="module")
def everything(small_web, tmp_path_factory):
    """What an undisturbed crawl of the small web brings."""
    folder = tmp_path_factory.mktemp("undisturbed") / "project"
    shutil.copytree(EXAMPLE, folder)
    project = Project(folder)
    with served(small_web) as site:
        point_at(project, site)
        project.crawl(site.start())
    return project


def test_every_page_comes_once_and_pipelines_and_items_are_as_ever(everything, small_web, project):
    urls = [item["url"] for item in everything.items]
    assert len(urls) == len(set(urls))
    with served(small_web) as site:
        project.crawl(site.start(), PAGES_FILE="plain.jsonl", **plain(site))
    usual = (project.folder / "plain.jsonl").read_text(encoding="utf-8").splitlines()
    ours = {item["url"]: item["title"] for item in everything.items}
    assert ours == {item["url"]: item["title"] for item in map(json.loads, usual)}


def test_what_was_fetched_can_be_looked_at_by_the_commands(everything):
    crawl = CrawlSetup.open(everything.state)
    with PageStoreReader(crawl.folder.pages) as collection:
        pages = list(collection.ranked(duplicates=True))
    assert {page.url for page in pages} == {item["url"] for item in everything.items}
    deep = max(pages, key=lambda page: page.depth)
    why = asyncio.run(explain(crawl, deep.url))
    assert why.path[-1].record.url == deep.url
    assert why.path[0].record.depth == 0
    assert any(hop.anchor for hop in why.path)


def test_a_second_crawl_finds_everything_done(everything, small_web):
    before = len(everything.items)
    with served(small_web) as site:
        everything.set(network={"allow": ["127.0.0.0/8"], "connect_to": site.places})
        everything.crawl(site.start())
        assert site.asked == []
    assert len(everything.items) == before


def test_killed_and_started_again_nothing_is_lost_and_little_comes_twice(project, everything, small_web):
    kills, in_flight = 2, 4
    with served(small_web, latency_seconds=0.02) as site:
        point_at(project, site)
        for kill in range(kills):
            process = subprocess.Popen(project.command(site.start()), cwd=project.folder, stderr=subprocess.DEVNULL)
            until = time.monotonic() + 60
            while len(project.items) < 25 * (kill + 1) and time.monotonic() < until:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait()
        project.crawl(site.start())
    came = Counter(item["url"] for item in project.items)
    assert set(came) == {item["url"] for item in everything.items}
    print(f"{sum(came.values()) - len(came)} of {len(came)} items came twice after {kills} kills")
    assert sum(came.values()) - len(came) <= kills * in_flight


def test_a_spider_reports_its_requests_before_they_are_answered(project, small_web):
    with served(small_web, latency_seconds=1.0) as site:
        point_at(project, site)
        process = subprocess.Popen(project.command(site.start()), cwd=project.folder, stderr=subprocess.DEVNULL)
        reported, until = [], time.monotonic() + 60
        while not reported and time.monotonic() < until:
            time.sleep(0.02)
            reported = _reported(project.state / "frontier.db")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert reported


def _reported(path):
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return db.execute("SELECT fence FROM lease JOIN begun USING (fence)").fetchall()
    except sqlite3.OperationalError:  # it is being made
        return []


def gaps_of(site):
    """Return the seconds between each request to a host and the next one."""
    hosts: dict[str, list[float]] = {}
    for at, url in site.asked:
        hosts.setdefault(host_key(url), []).append(at)
    return [later - earlier for times in hosts.values() for earlier, later in pairwise(times)]


def test_every_host_has_its_pause(project, small_web):
    delay = 0.3
    with served(small_web) as site:
        point_at(project, site, delay_seconds=delay, robots="obey")
        project.crawl(site.start(), CLOSESPIDER_PAGECOUNT=40)
    gaps = gaps_of(site)
    assert len(gaps) > 20
    print(f"smallest of {len(gaps)} gaps: {min(gaps):.3f} s")
    assert min(gaps) >= delay
    assert any(url.endswith("/robots.txt") for _, url in site.asked)


def test_a_spider_that_is_stopped_gives_its_leases_back(project, small_web):
    with served(small_web) as site:
        point_at(project, site)
        project.crawl(site.start(), CLOSESPIDER_ITEMCOUNT=5)
    counts = asyncio.run(_counts(project.state))
    assert counts.leased == 0
    assert counts.waiting > 0


async def _counts(folder):
    frontier = CrawlSetup.open(folder).backend.frontier()
    try:
        return await frontier.counts()
    finally:
        await frontier.close()


def test_two_processes_do_not_share_one_folder(project, small_web):
    with served(small_web, latency_seconds=0.2) as site:
        point_at(project, site)
        first = subprocess.Popen(project.command(site.start()), cwd=project.folder, stderr=subprocess.DEVNULL)
        while not site.asked:
            time.sleep(0.02)
        assert "is under way" in project.crawl(site.start())
        first.send_signal(signal.SIGKILL)
        first.wait()


def test_machines_that_share_a_store_share_the_work_and_the_pauses(project, small_web, redis_url, tmp_path):  # noqa: F811 - a fixture
    other, delay = Project(tmp_path / "other"), 0.2
    shutil.copytree(EXAMPLE, other.folder)
    with served(small_web) as site:
        for each in (project, other):
            point_at(each, site, delay_seconds=delay)
            each.set(name="shared", store=redis_url)
        command = other.command(site.start(), CLOSESPIDER_ITEMCOUNT=15)
        beside = subprocess.Popen(command, cwd=other.folder, stderr=subprocess.DEVNULL)
        project.crawl(site.start(), CLOSESPIDER_ITEMCOUNT=15)
        beside.wait(60)
    urls = [item["url"] for item in project.items + other.items]
    assert len(urls) == len(set(urls)) >= 30
    assert min(gaps_of(site)) >= delay
