"""Signed requests against nginx: by HTTP/2, and not where the server is not known to be the right one."""

import asyncio
import time

import pytest

from testing.request_signatures import Verifier
from tests.realweb import nginx
from thresher.config.identity import KEY_VARIABLE, Identity, directory, new_key
from thresher.config.schema import NetworkConfig
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import Downloader
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.records import Lease

pytestmark = pytest.mark.skipif(not nginx.NGINX, reason="nginx is not installed")

AGENT = "https://crawler.example.org"


@pytest.fixture(scope="module")
def server():
    with nginx.serving() as server:
        yield server


@pytest.fixture
def key(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "identity.pem"))
    return new_key(tmp_path / "identity.pem")


@pytest.fixture
async def fetched(server, key, monkeypatch):
    """Fetch URLs one after the other; gives what nginx logged of each."""
    monkeypatch.setenv("SSL_CERT_FILE", str(server.authorities))
    network = NetworkConfig.model_validate({"allow": ["127.0.0.0/8"], "connect_to": server.connect_to})
    downloader = Downloader(
        GuardedResolver.of(network),
        SlowHostLimiter(1),
        headers={},
        max_bytes=1 << 20,
        identity=Identity.of(AGENT),
        records_certificates=True,
    )

    async def fetch(*urls):
        before = len(server.signed())
        for url in urls:
            lease = Lease(url=url, host="good.test", score=1.0, fence=1, until=0.0)
            async with downloader.fetch(
                FetchRequest(url=url, lease=lease, timeout_seconds=5.0, start_by=time.monotonic() + 60)
            ):
                pass
        return server.signed()[before:]

    yield fetch
    downloader.close()
    await asyncio.sleep(0)


async def test_requests_by_http2_are_verified(fetched, key):
    verifier = Verifier(directory([key]), AGENT)
    requests = await fetched("https://good.test/", "https://good.test/second.html?a=b%20c", "https://shop.test/x")
    assert [each["protocol"] for each in requests] == ["HTTP/2.0"] * 3
    assert [verifier.trouble("GET", each["url"], each["headers"]) for each in requests] == ["", "", ""]


async def test_the_target_of_a_redirect_has_a_signature_of_its_own(fetched, key):
    first, second = await fetched("https://shop.test/", "https://www.shop.test/")
    assert first["headers"]["signature"] != second["headers"]["signature"]
    assert Verifier(directory([key]), AGENT).trouble("GET", second["url"], first["headers"]) == "a false signature"


@pytest.mark.parametrize("url", ["http://plain.test/", "https://expired.test/", "https://wrong.test/"])
async def test_nothing_is_signed_for_a_server_that_is_not_verified(fetched, url):
    assert [set(each["headers"].values()) for each in await fetched(url)] == [{""}]
