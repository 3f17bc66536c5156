"""TLS and HTTP/2 against nginx: what is negotiated, and what becomes of certificates that are not valid."""

import asyncio
import gzip
import json
import os
import time
from dataclasses import replace
from unittest.mock import patch

import pytest

from tests.faults.live import crawl
from tests.realweb import nginx
from thresher.config.schema import NetworkConfig
from thresher.crawl import CrawlSetup
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import Downloader
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.records import Lease

pytestmark = pytest.mark.skipif(not nginx.NGINX, reason="nginx is not installed")

SEEDS = [
    "https://good.test/",
    "http://plain.test/",
    "https://shop.test/",
    "https://expired.test/",
    "https://wrong.test/",
    "https://own.test/",
    "https://tls12.test/",
    "https://tls10.test/",
]
SETTINGS = {"engine": {"timeout_seconds": 5.0, "lease_seconds": 20.0}, "output": {"warc": True}}
PROBLEMS = {"expired.test": "has expired", "wrong.test": "is for another host", "own.test": "is self-signed"}


@pytest.fixture(scope="module")
def server():
    with nginx.serving() as server:
        yield server


def crawled(server, tls):
    with patch.dict(os.environ, {"SSL_CERT_FILE": str(server.authorities)}):
        return crawl(server, SEEDS, {**SETTINGS, "network": {"tls": tls}}, seconds=20)


@pytest.fixture(scope="module")
def verified(server):
    return crawled(server, "verify")


@pytest.fixture(scope="module")
def recorded(server):
    return crawled(server, "record")


def reason_of(result, host):
    """Return why a host has no page: that of its page, or of its robots.txt."""
    return result.hosts[host]["parked"] or asyncio.run(_reason(result, host))


async def _reason(result, host):
    frontier = CrawlSetup.open(result.folder).backend.frontier()
    try:
        return str((await frontier.find(f"https://{host}/")).reason)
    finally:
        await frontier.close()


def test_http2_is_spoken_where_it_is_offered(server, verified):
    protocols = {(host, protocol) for host, protocol, *_ in server.requests()}
    assert {("good.test", "HTTP/2.0"), ("tls12.test", "HTTP/1.1")} <= protocols
    assert ("good.test", "HTTP/1.1") not in protocols
    assert "https://good.test/second.html" in verified.urls


def test_tls_1_2_is_enough(server, verified):
    assert "https://tls12.test/" in verified.urls
    assert ["tls12.test", "HTTP/1.1", "TLSv1.2", "200", "/", "gzip"] in server.requests()


@pytest.mark.parametrize("tls", ["verified", "recorded"])
def test_older_versions_of_tls_are_refused_with_that_reason(request, tls):
    result = request.getfixturevalue(tls)
    assert reason_of(result, "tls10.test").endswith("no TLS version or cipher in common: its own are too old")


def test_bodies_are_packed_over_http2(server, verified):
    assert ["good.test", "HTTP/2.0", "TLSv1.3", "200", "/", "gzip"] in server.requests()
    assert {page["title"] for page in verified.pages if page["url"] == "https://good.test/"} == {"good.test"}


def test_redirects_to_https_and_to_www_are_followed(verified):
    assert {"https://plain.test/", "https://www.shop.test/"} <= verified.urls


@pytest.mark.parametrize("host", PROBLEMS)
def test_a_certificate_that_is_not_valid_fails_its_host(server, verified, host):
    assert not any(url.startswith(f"https://{host}") for url in verified.urls)
    expected = f"its certificate {PROBLEMS[host]}; network.tls: record accepts it"
    assert reason_of(verified, host) == f"robots.txt cannot be read: {expected}"


@pytest.mark.parametrize("host", PROBLEMS)
def test_a_certificate_that_is_not_valid_is_recorded_with_the_page(recorded, host):
    assert f"https://{host}/second.html" in recorded.urls
    assert f"its certificate {PROBLEMS[host]}" in recorded.why(f"https://{host}/")


def test_nothing_is_recorded_with_pages_whose_certificate_is_valid(recorded):
    assert "certificate" not in recorded.why("https://good.test/")


def test_archived_responses_of_http2_can_be_read(verified):
    from warcio.archiveiterator import ArchiveIterator

    heads = {}
    for path in verified.folder.rglob("*.warc.gz"):
        with gzip.open(path) as file, path.open("rb") as packed:
            assert b"HTTP/2" not in file.read()
            for record in ArchiveIterator(packed):
                if record.rec_type == "response":
                    heads[record.rec_headers["WARC-Target-URI"]] = record.http_headers
                    record.content_stream().read()
    assert (heads["https://good.test/"].protocol, heads["https://good.test/"].get_statuscode()) == ("HTTP/1.1", "200")


@pytest.fixture
async def downloader(server, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(server.authorities))
    network = NetworkConfig.model_validate({"allow": ["127.0.0.0/8"], "connect_to": server.connect_to})
    downloader = Downloader(GuardedResolver.of(network), SlowHostLimiter(1), headers={}, max_bytes=1 << 20)
    yield downloader
    downloader.close()
    await asyncio.sleep(0)


def request_to(url, tries=0):
    lease = Lease(url=url, host="good.test", score=1.0, fence=1, until=0.0, tries=tries)
    return FetchRequest(url=url, lease=lease, timeout_seconds=5.0, start_by=time.monotonic() + 60)


async def test_a_page_that_did_not_change_is_answered_with_304(downloader):
    wanted = request_to("https://good.test/")
    async with downloader.fetch(wanted) as page:
        again = replace(wanted, headers={"If-None-Match": page.headers["etag"]})
    async with downloader.fetch(again) as unchanged:
        assert (page.status, unchanged.status, unchanged.body) == (200, 304, b"")


async def test_a_url_is_tried_again_by_http_1(downloader, server):
    for tries in (0, 1):
        async with downloader.fetch(request_to(f"https://good.test/?tries={tries}", tries)) as page:
            assert page.status == 200
    protocols = {path: protocol for _, protocol, _, _, path, _ in server.requests()}
    assert (protocols["/?tries=0"], protocols["/?tries=1"]) == ("HTTP/2.0", "HTTP/1.1")


def test_status_counts_agree(verified):
    assert json.loads(verified.thresher("status", "--json"))["pages"] == len(verified.urls)
