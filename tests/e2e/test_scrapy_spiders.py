"""Spiders as people write them, with the add-on: redirects, errors, forms, callbacks of every kind, rules."""

import asyncio
import json
import subprocess
import sys
import textwrap

import pytest

from thresher.crawl import CrawlSetup

TOPIC = {
    "title": {"en": "green tea"},
    "politeness": {"delay_seconds": 0},
    "engine": {"timeout_seconds": 2, "lease_seconds": 8},
    "network": {"allow": ["127.0.0.0/8"]},
}
TEA = "<p>Green tea from green leaves, and how to brew green tea.</p>"


def page(*paths):
    links = "".join(f'<a href="{path}">tea {path}</a>' for path in paths)
    return f"<html><head><title>Tea</title></head><body>{TEA}{links}</body></html>"


@pytest.fixture
def crawl_with(site, tmp_path):
    """Run a spider, given as the body of a module, to its end; return its items and what it logged."""
    (tmp_path / "topic.yaml").write_text(json.dumps(TOPIC), encoding="utf-8")

    def crawl(body, **settings):
        spider = tmp_path / "spider.py"
        spider.write_text(f"BASE = {site.url('')!r}\n{textwrap.dedent(body)}", encoding="utf-8")
        printed = {
            "ADDONS": '{"thresher_scrapy.addon.TopicalAddon": 300}',
            "THRESHER_TOPIC": "topic.yaml",
            **settings,
        }
        command = [sys.executable, "-m", "scrapy", "runspider", str(spider), "-O", "items.jsonl"]
        command += [part for name, value in printed.items() for part in ("-s", f"{name}={value}")]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert ended.returncode == 0, ended.stderr
        lines = (tmp_path / "items.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines], ended.stderr

    return crawl


async def standing(folder, *urls):
    frontier = CrawlSetup.open(folder).backend.frontier()
    try:
        return {url: await frontier.find(url) for url in urls}, await frontier.counts()
    finally:
        await frontier.close()


KINDS_OF_PAGES = {
    "/": page(),
    "/moved": (302, {"Location": "/target"}, ""),
    "/target": page(),
    "/gone": (404, {}, "gone"),
    "/asked": (404, {"Content-Type": "text/html"}, "gone"),
    "/broken": page(),
    "/early": page(),
    "/data": (200, {"Content-Type": "application/json"}, '{"green": "tea"}'),
    "/again": page(),
    "/lambda": page(),
    "/lambda-moved": (302, {"Location": "/lambda"}, ""),
    "/after-gone": page(),
}
KINDS_OF_CALLBACKS = """
import scrapy

class Kinds(scrapy.Spider):
    name = "kinds"
    start_urls = [BASE + "/"]

    async def start(self):
        yield {"kind": "an item of start"}
        for url in self.start_urls:
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response):
        follow = response.follow
        yield follow("/moved", self.parse_kind, cb_kwargs={"kind": "moved"})
        yield follow("/gone", self.parse_kind, errback=self.failed, cb_kwargs={"kind": "never"})
        see_404 = {"handle_httpstatus_list": [404]}
        yield follow("/asked", self.parse_kind, meta=see_404, cb_kwargs={"kind": "asked"})
        yield follow("/broken", self.parse_broken)
        yield follow("/early", self.parse_early)
        yield follow("/data", self.parse_kind, cb_kwargs={"kind": "data"})
        yield follow("/again", self.parse_kind, cb_kwargs={"kind": "again"}, dont_filter=True)
        yield follow("/again", self.parse_kind, cb_kwargs={"kind": "again"}, dont_filter=True)
        yield follow("/lambda-moved", lambda response: {"kind": "lambda", "url": response.url})
        yield follow("ftp://127.0.0.1/", self.parse_kind)

    def parse_kind(self, response, kind):
        yield {"kind": kind, "status": response.status, "known": sorted(response.meta["thresher"])}

    def parse_broken(self, response):
        yield {"kind": "before it broke"}
        raise ValueError("broken on purpose")

    def parse_early(self, response):
        raise ValueError("broken at once")

    def failed(self, failure):
        yield {"kind": "failed", "status": failure.value.response.status}
        yield scrapy.Request(BASE + "/after-gone", self.parse_kind, cb_kwargs={"kind": "after gone"})
"""
KINDS_OF_ITEMS = [
    "an item of start",
    "moved",
    "failed",
    "asked",
    "before it broke",
    "data",
    "again",
    "again",
    "lambda",
    "after gone",
]


def test_spiders_of_many_kinds_go_on_as_they_did(crawl_with, site, tmp_path):
    site.pages.update(KINDS_OF_PAGES)
    items, log = crawl_with(KINDS_OF_CALLBACKS)
    assert sorted(item["kind"] for item in items) == sorted(KINDS_OF_ITEMS)
    assert {item["kind"]: item.get("status") for item in items}["asked"] == 404
    assert next(item for item in items if item["kind"] == "moved")["known"][:3] == ["depth", "language", "relevance"]
    assert "waits in memory, and is lost if this process is killed" in log
    assert "'thresher/in_memory': 3" in log
    assert "'thresher/left_out/no http or https URL': 1" in log
    assert site.paths.count("/again") == 2
    broken, early = site.url("/broken"), site.url("/early")
    states, counts = asyncio.run(standing(tmp_path / ".thresher" / "kinds", broken, early, site.url("/moved")))
    assert "ValueError: broken on purpose" in str(states[broken].reason)
    assert "ValueError: broken at once" in str(states[early].reason)
    assert str(states[site.url("/moved")].state) == "done"
    assert (counts.waiting, counts.leased) == (0, 0)


def test_a_crawl_spider_with_rules_stays_on_its_site(crawl_with, site):
    site.pages.update({"/": page("/list", "http://127.0.0.9:1/off"), "/list": page("/item/1", "/item/2")})
    site.pages.update({"/item/1": page("/list"), "/item/2": page()})
    items, log = crawl_with(
        """
        from scrapy.linkextractors import LinkExtractor
        from scrapy.spiders import CrawlSpider, Rule

        class Shop(CrawlSpider):
            name = "shop"
            allowed_domains = ["127.0.0.1"]
            start_urls = [BASE + "/"]
            rules = [
                Rule(LinkExtractor(allow="/item/"), callback="parse_item"),
                Rule(LinkExtractor(), follow=True),
            ]

            def parse_item(self, response):
                return {"url": response.url, "words": response.meta["link_text"]}
        """
    )
    assert {item["url"].rpartition("/")[2] for item in items} == {"1", "2"}, log
    assert "'thresher/left_out/offsite': 1" in log
    assert "thresher/in_memory" not in log


def test_a_busy_server_is_asked_again_later_and_robots_are_obeyed(crawl_with, site):
    answers = iter([(503, {"Retry-After": "1"}, ""), page()])

    class Moody(dict):
        def get(self, path, default=None):
            return next(answers) if path == "/moody" else super().get(path, default)

    site.pages = Moody({"/": page("/moody", "/secret"), "/robots.txt": "User-agent: *\nDisallow: /secret\n"})
    items, _ = crawl_with(
        """
        import scrapy

        class Patient(scrapy.Spider):
            name = "patient"
            start_urls = [BASE + "/"]

            def parse(self, response):
                yield {"url": response.url}
                yield from response.follow_all(css="a")
        """
    )
    assert [item["url"].rpartition("/")[2] for item in items] == ["", "moody"]
    assert site.paths.count("/moody") == 2
    assert "/secret" not in site.paths


def test_a_start_outside_is_logged_when_nobody_can_be_written_to(crawl_with, site):
    items, log = crawl_with(
        """
        import scrapy

        class Away(scrapy.Spider):
            name = "away"
            start_urls = ["https://a.example/"]

            def parse(self, response):
                yield {}
        """
    )
    assert items == []
    assert "left out https://a.example/" in log
