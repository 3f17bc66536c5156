"""The politeness of topic.yaml over real sockets, for the workers that do not run a crawl."""

import json
import subprocess
import sys
from itertools import pairwise

import pytest

from tests.e2e.conftest import quick

SOLAR = "<title>Solar</title><p>Perovskite solar cells: perovskite layers make solar cells cheap.</p>"
NO_TRAINING = (200, {"Content-Type": "text/plain"}, "User-agent: *\nContent-Signal: ai-train=no\n")
DELAY = 0.5
SPIDER = """
import scrapy

class Solar(scrapy.Spider):
    name = "solar"
    start_urls = [{url!r}]

    def parse(self, response):
        yield {{"url": response.url}}
"""


@pytest.fixture
def crawl(thresher, site):
    site.pages = dict.fromkeys(["/", "/a"], SOLAR)
    thresher("new", "solar", "--topic", "perovskite solar cells", "--seed", site.url("/"))

    def crawl(politeness):
        quick(thresher.folder / "solar", politeness=politeness, network='{allow: ["127.0.0.0/8"]}')
        return thresher.folder / "solar"

    return crawl


def tried(thresher, *urls):
    return json.loads(thresher("try", "solar", *urls, "--no-seeds", "--json").stdout)


def test_a_page_is_not_tried_where_robots_txt_opts_out_of_ai_uses(crawl, thresher, site):
    crawl("{delay_seconds: 0, ai_optout: obey}")
    site.pages["/robots.txt"] = NO_TRAINING
    [page] = tried(thresher, site.url("/a"))
    assert (page["judged"], page["reason"]) == (False, "opted out: ai-train")
    assert site.paths == ["/robots.txt"]


@pytest.mark.parametrize("headers", [{"X-Robots-Tag": "noai"}, {"TDM-Reservation": "1"}])
def test_a_page_that_opts_out_is_not_judged(crawl, thresher, site, headers):
    crawl("{delay_seconds: 0, ai_optout: obey}")
    site.pages["/a"] = (200, {"Content-Type": "text/html", **headers}, SOLAR)
    [page] = tried(thresher, site.url("/a"))
    assert page["reason"].startswith("opted out: ")


def test_pages_that_opt_out_are_no_seeds(crawl, thresher, site, tmp_path):
    crawl("{delay_seconds: 0, ai_optout: obey}")
    site.pages["/robots.txt"] = NO_TRAINING
    (tmp_path / "list.txt").write_text(f"{site.url('/a')}\n")
    thresher("seeds", "--into", "solar", "--source", "bookmarks=list.txt", "--yes")
    assert set(site.paths) <= {"/robots.txt"}


def test_hosts_of_one_address_are_tried_one_at_a_time(crawl, thresher, site):
    crawl(f"{{delay_seconds: {DELAY}, serialize_by: ip, robots: ignore}}")
    assert len(tried(thresher, site.url("/a"), site.url("/a", "localhost"))) == 2
    times = [at for at, path, _ in site.requests]
    assert [path for path in site.paths if path == "/a"] == ["/a", "/a"]
    assert min(later - earlier for earlier, later in pairwise(times)) >= DELAY * 0.9


@pytest.mark.parametrize("opt_out", ["robots", "page"])
def test_a_spider_does_not_get_pages_that_opt_out(crawl, thresher, site, opt_out):
    folder = crawl("{delay_seconds: 0, ai_optout: obey}")
    if opt_out == "robots":
        site.pages["/robots.txt"] = NO_TRAINING
    else:
        site.pages["/a"] = (200, {"Content-Type": "text/html", "X-Robots-Tag": "noai"}, SOLAR)
    assert items_of_spider(folder, site.url("/a")) == ""
    assert ("/a" in site.paths) == (opt_out == "page")
    assert "AI opt-out" in thresher("why", folder / ".thresher" / "solar", site.url("/a")).stdout


def test_a_page_of_a_spider_has_the_usage_signals_of_its_host(crawl, thresher, site):
    folder = crawl("{delay_seconds: 0}")
    site.pages["/robots.txt"] = NO_TRAINING
    assert site.url("/a") in items_of_spider(folder, site.url("/a"))
    explained = thresher("why", folder / ".thresher" / "solar", site.url("/a"), "--details").stdout
    assert "robots.txt    content-signal: ai-train=no" in explained


def items_of_spider(folder, url):
    """Run a spider for one page, and return the items that it wrote."""
    (folder / "spider.py").write_text(SPIDER.format(url=url), encoding="utf-8")
    settings = {"ADDONS": '{"thresher_scrapy.addon.TopicalAddon": 300}', "THRESHER_TOPIC": "topic.yaml"}
    command = [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-O", "items.jsonl"]
    command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    return (folder / "items.jsonl").read_text()
