"""A request becomes a page, or a reason; slow ones give way, and names are resolved by the guard alone."""

import asyncio
import time

import pytest

from testing.raw_server import raw_server
from thresher.engine.dns.client import ResolvedAddresses
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import Downloader, headers_of
from thresher.engine.download.errors import AddressRefused, FetchFailed, LeaseExpired
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.records import Lease
from thresher.urls.address_policy import networks

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"


class Names:
    def __init__(self, *addresses, wait_seconds=0.0):
        self._addresses, self._wait_seconds = addresses, wait_seconds

    async def look_up(self, name):
        await asyncio.sleep(self._wait_seconds)
        return ResolvedAddresses(self._addresses, 60.0)


@pytest.fixture
async def downloading():
    made = []

    def make(*, names=("127.0.0.1",), allow=("127.0.0.0/8",), slots=10, wait_seconds=0.0):
        resolver = GuardedResolver(networks(allow), names=Names(*names, wait_seconds=wait_seconds))
        made.append(
            Downloader(resolver, SlowHostLimiter(slots), headers={"User-Agent": "a", "Accept": "b"}, max_bytes=1 << 20)
        )
        return made[-1]

    yield make
    for downloader in made:
        downloader.close()
    await asyncio.sleep(0)


def request_to(url, **changes):
    lease = Lease(url=url, host="site.test", score=1.0, fence=1, until=0.0)
    values = {"url": url, "lease": lease, "timeout_seconds": 5.0, "start_by": time.monotonic() + 60}
    return FetchRequest(**{**values, **changes})


async def fetch(downloader, url, **changes):
    async with downloader.fetch(request_to(url, **changes)) as page:
        return page


async def test_a_response_becomes_a_page(downloading):
    async with raw_server(OK) as server:
        page = await fetch(downloading(), server.url, headers={"Accept": "text/plain", "If-None-Match": '"1"'})
    assert (page.url, page.status, page.body, page.truncated) == (server.url, 200, b"ok", False)
    assert page.headers == {"content-type": "text/html", "content-length": "2"}
    assert page.header_lines == [("Content-Type", "text/html"), ("Content-Length", "2")]
    assert page.request_lines == [("User-Agent", "a"), ("Accept", "text/plain"), ("If-None-Match", '"1"')]
    assert 0.0 < page.elapsed_seconds < 5.0


def test_of_most_headers_the_first_line_counts_and_of_robots_tags_every_line():
    lines = [("Content-Type", "text/html"), ("content-type", "text/plain"), ("X-Robots-Tag", "reaper: noindex")]
    assert headers_of([*lines, ("x-robots-tag", "nofollow")]) == {
        "content-type": "text/html",
        "x-robots-tag": "reaper: noindex\nnofollow",
    }


async def test_a_request_that_waited_too_long_asks_nobody(downloading):
    async with raw_server(OK) as server:
        with pytest.raises(LeaseExpired):
            await fetch(downloading(), server.url, start_by=time.monotonic() - 0.01)
    assert server.connections == 0


@pytest.mark.parametrize(
    ("names", "reason"), [((), "no such host"), (("127.0.0.1", "10.0.0.1"), "refused: a private address")]
)
async def test_without_an_allowed_address_nothing_is_dialled(downloading, names, reason):
    async with raw_server(OK) as server:
        with pytest.raises(FetchFailed, match=reason):
            await fetch(downloading(names=names), server.url)
    assert server.connections == 0


async def test_a_private_address_is_refused(downloading):
    with pytest.raises(AddressRefused, match="refused: a private address"):
        await fetch(downloading(allow=()), "http://127.0.0.1/")


async def test_a_name_that_is_not_resolved_in_time_is_a_timeout(downloading):
    with pytest.raises(FetchFailed, match="timeout"):
        await fetch(downloading(wait_seconds=60), "http://site.test/", timeout_seconds=0.05)


async def test_a_robots_txt_has_a_limit_of_its_own(downloading):
    async with raw_server(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 10_000) as server:
        page = await fetch(downloading(), server.url, max_bytes=1000)
    assert (len(page.body), page.truncated) == (1000, True)


async def test_time_is_up_for_a_server_that_says_nothing(downloading):
    async with raw_server(b"", b"late", wait_seconds=60) as server:
        began = time.monotonic()
        with pytest.raises(FetchFailed, match="timeout"):
            await fetch(downloading(), server.url, timeout_seconds=0.2)
    assert time.monotonic() - began < 2.0


async def test_of_too_many_slow_fetches_the_oldest_is_broken_off(downloading):
    downloader = downloading(slots=5)  # one slot for slow ones
    downloader._slow_hosts.slow_seconds = 0.2
    async with raw_server(b"", b"late", wait_seconds=60) as server:
        first = asyncio.create_task(fetch(downloader, server.url))
        await asyncio.sleep(0.1)
        second = asyncio.create_task(fetch(downloader, server.url))
        with pytest.raises(FetchFailed, match="slower than others"):
            await asyncio.wait_for(first, 3)
        assert not second.done()
        second.cancel()


async def test_bodies_count_as_held_while_they_are_processed(downloading):
    downloader = downloading()
    async with raw_server(OK) as server:
        async with downloader.fetch(request_to(server.url)):
            assert downloader._held_bytes._bytes == 2
        assert downloader._held_bytes._bytes == 0
