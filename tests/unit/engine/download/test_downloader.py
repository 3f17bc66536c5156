"""A request becomes a page, or a reason; slow ones give way, and names are resolved by the guard alone."""

import asyncio
import time

import certifi
import pytest

from testing.forward_proxy import forward_proxy, trusted_certificate
from testing.raw_server import raw_server
from thresher.config.access import AccessTable
from thresher.config.schema import AccessConfig
from thresher.config.secrets import Secret
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.engine.dns.client import ResolvedAddresses
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import CurlClient, Downloader, headers_of
from thresher.engine.download.errors import (
    AddressRefused,
    CertificateInvalid,
    FetchFailed,
    LeaseExpired,
    WorkerStopped,
)
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.engine.download.transfer import BodyMemoryLimit, Transfer, TransferRequest, _authorities
from thresher.records import Lease
from thresher.urls.address_policy import networks

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
LAST = OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n", 1)  # the client closes its connection, or its tunnel


class Names:
    def __init__(self, *addresses, wait_seconds=0.0):
        self._addresses, self._wait_seconds = addresses, wait_seconds

    async def look_up(self, name):
        await asyncio.sleep(self._wait_seconds)
        return ResolvedAddresses(self._addresses, 60.0)


@pytest.fixture
async def downloading():
    made = []

    def make(*, names=("127.0.0.1",), allow=("127.0.0.0/8",), slots=10, wait_seconds=0.0, proxy=None, **more):
        resolver = GuardedResolver(networks(allow), names=Names(*names, wait_seconds=wait_seconds), proxy=proxy)
        headers = {"User-Agent": "a", "Accept": "b"}
        limiter = SlowHostLimiter(slots)
        made.append(Downloader(resolver, limiter, headers=headers, max_bytes=1 << 20, **more))
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


@pytest.mark.parametrize("stopped_seconds", [1.0, 2.5], ids=["shorter than libcurl waits", "longer"])
async def test_a_worker_that_was_stopped_past_its_lease_does_not_blame_the_host(downloading, stopped_seconds):
    async with raw_server(b"", b"late", wait_seconds=60) as server:
        start_by = time.monotonic() + 0.2
        fetching = asyncio.create_task(fetch(downloading(), server.url, timeout_seconds=0.5, start_by=start_by))
        await asyncio.sleep(0.1)
        time.sleep(stopped_seconds)  # nothing runs, as after SIGSTOP
        with pytest.raises(WorkerStopped):
            await fetching


async def test_a_worker_that_was_stopped_before_its_request_was_sent_does_not_blame_the_host(downloading):
    sent = []
    async with raw_server(OK) as server:
        start_by = time.monotonic() + 0.3
        downloader = downloading(on_send=sent.append)
        fetching = asyncio.create_task(fetch(downloader, server.url, timeout_seconds=0.5, start_by=start_by))
        while not sent:
            await asyncio.sleep(0)
        time.sleep(1.5)
        with pytest.raises(WorkerStopped):
            await fetching
        assert not server.requests


async def test_a_worker_that_was_stopped_while_a_name_was_resolved_does_not_blame_the_host(downloading):
    fetching = asyncio.create_task(fetch(downloading(wait_seconds=60), "http://site.test/", timeout_seconds=0.5))
    await asyncio.sleep(0.1)
    time.sleep(1.0)
    with pytest.raises(WorkerStopped):
        await fetching


async def test_time_in_which_a_worker_was_stopped_does_not_count_for_a_host_within_its_lease(downloading):
    async with raw_server(b"", OK, wait_seconds=1.6) as server:
        fetching = asyncio.create_task(fetch(downloading(), server.url, timeout_seconds=1.0))
        await asyncio.sleep(0.1)
        time.sleep(1.2)
        page = await fetching
    assert (page.body, page.truncated) == (b"ok", False)


async def test_a_busy_worker_still_finds_that_a_host_is_silent(downloading):
    async with raw_server(b"", b"late", wait_seconds=60) as server:
        fetching = asyncio.create_task(
            fetch(downloading(), server.url, timeout_seconds=0.6, start_by=time.monotonic() + 9)
        )
        await asyncio.sleep(0.1)
        time.sleep(0.4)
        with pytest.raises(FetchFailed, match="timeout"):
            await asyncio.wait_for(fetching, 3)


async def test_the_lease_of_a_page_is_reported_before_its_server_is_connected_to(downloading):
    sent = []
    downloader = downloading(on_send=lambda lease: sent.append((lease.url, len(server.requests))))
    async with raw_server(OK) as server:
        await fetch(downloader, server.url)
        await fetch(downloader, f"{server.url}robots.txt", is_robots=True)
    assert sent == [(server.url, 0)]


async def test_a_name_that_is_not_resolved_is_no_request(downloading):
    sent = []
    with pytest.raises(FetchFailed, match="timeout"):
        await fetch(downloading(wait_seconds=60, on_send=sent.append), "http://site.test/", timeout_seconds=0.05)
    assert sent == []


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
            assert downloader._body_memory._bytes == 2
        assert downloader._body_memory._bytes == 0


def by_token(tmp_path, monkeypatch, host, **more):
    monkeypatch.setenv("TOKEN", "Bearer t0ken-s3cret")
    entry = {"host": host, "headers": {"Authorization": {"env": "TOKEN"}}, **more}
    return AccessTable.of([AccessConfig.model_validate(entry)], tmp_path)


async def test_a_secret_is_sent_and_not_kept(downloading, tmp_path, monkeypatch):
    echo = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=t0ken-s3cret\r\nContent-Length: 12\r\n\r\nt0ken-s3cret"
    async with raw_server(echo) as server:
        access = by_token(tmp_path, monkeypatch, f"site.test:{server.port}", allow_http=True)
        page = await fetch(downloading(access=access), server.url, headers={"authorization": "none"})
        other = await fetch(downloading(access=access), f"http://other.test:{server.port}/")
    assert b"Authorization: Bearer t0ken-s3cret\r\n" in server.requests[0]
    assert server.requests[0].lower().count(b"authorization") == 1
    assert ("Authorization", "[redacted]") in page.request_lines
    assert "t0ken-s3cret" not in repr(page)
    assert b"t0ken" not in server.requests[1]
    assert "t0ken-s3cret" in repr(other)


async def test_a_secret_is_sent_over_tls_only_after_the_certificate_was_verified(downloading, tmp_path, monkeypatch):
    context, trusted = trusted_certificate(tmp_path, "site.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    async with raw_server(OK, certificate=context) as server:
        url = f"https://site.test:{server.port}/"
        access = by_token(tmp_path, monkeypatch, f"site.test:{server.port}")
        downloader = downloading(access=access, records_certificates=True)
        assert (await fetch(downloading(records_certificates=True), url)).status == 200
        with pytest.raises(FetchFailed, match="its certificate is self-signed; so no secret was sent"):
            await fetch(downloader, url)
        assert len(server.requests) == 1
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        assert (await fetch(downloader, url)).status == 200
    assert b"t0ken-s3cret" in server.requests[1]


async def test_a_certificate_that_is_not_valid_fails_the_page_or_is_recorded_with_it(downloading, tmp_path):
    context, _ = trusted_certificate(tmp_path, "site.test")
    async with raw_server(OK, certificate=context) as server:
        url = f"https://site.test:{server.port}/"
        with pytest.raises(
            CertificateInvalid, match=r"its certificate is self-signed; network\.tls: record accepts it"
        ):
            await fetch(downloading(), url)
        assert server.requests == []
        recording = downloading(records_certificates=True)
        pages = [await fetch(recording, url) for _ in range(3)]
    assert [page.certificate for page in pages] == ["is self-signed"] * 3
    assert server.connections == 3  # two that failed to be verified, and one that was kept


async def test_a_valid_certificate_has_no_problem(downloading, tmp_path, monkeypatch):
    context, trusted = trusted_certificate(tmp_path, "site.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    async with raw_server(OK, certificate=context) as server:
        for recording in (False, True):
            page = await fetch(downloading(records_certificates=recording), f"https://site.test:{server.port}/")
            assert (page.status, page.certificate) == (200, "")


async def test_without_authorities_on_the_machine_those_of_certifi_are_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert _authorities(str(tmp_path / "none.pem"), str(tmp_path)) == (certifi.where(), "")


async def test_cookies_of_a_lease_are_sent_after_configured_ones_and_not_kept(downloading, tmp_path, monkeypatch):
    monkeypatch.setenv("SESSION", "abc")
    async with raw_server(OK) as server:
        host = f"site.test:{server.port}"
        entry = {"host": host, "cookies": {"own": {"env": "SESSION"}}, "allow_http": True}
        access = AccessTable.of([AccessConfig.model_validate(entry)], tmp_path)
        page = await fetch(downloading(access=access), server.url, cookies=Secret("a=1; b=2"))
        other = await fetch(downloading(access=access), f"http://other.test:{server.port}/", cookies=Secret("a=1"))
    assert b"Cookie: own=abc; a=1; b=2\r\n" in server.requests[0]
    assert b"Cookie: a=1\r\n" in server.requests[1]
    assert ("Cookie", "[redacted]") in page.request_lines
    assert ("Cookie", "[redacted]") in other.request_lines


def proxied(proxy, password="", **more):
    user, _, word = password.partition(":")
    secrets = {"user": Secret(user), "password": Secret(word)} if password else {}
    return UpstreamProxy(host="127.0.0.1", port=proxy.port, **secrets, **more)


async def test_http_and_https_go_through_the_proxy(downloading, tmp_path, monkeypatch):
    context, trusted = trusted_certificate(tmp_path, "site.test")
    places = {"site.test": "127.0.0.1"}
    with forward_proxy("me:p4ss", places) as proxy:
        upstream = proxied(proxy, "me:p4ss")
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
        downloader = downloading(names=("93.184.216.34",), allow=(), proxy=upstream)
        async with raw_server(OK) as server, raw_server(LAST, certificate=context) as secure:
            page = await fetch(downloader, server.url)
            tunnelled = await fetch(downloader, f"https://site.test:{secure.port}/")
            await asyncio.wait_for(secure.closed.wait(), 5)
            await asyncio.sleep(0.2)
    assert (page.status, page.body, tunnelled.body) == (200, b"ok", b"ok")
    assert proxy.targets == [f"GET {server.url}", f"CONNECT site.test:{secure.port}"]
    assert "x-proxy" not in tunnelled.headers
    assert "User-Agent: a" not in proxy.heads[1]
    assert b"Proxy" not in b"".join([*server.requests, *secure.requests])
    assert "p4ss" not in repr(page)


async def test_a_secret_goes_through_the_tunnel_and_not_to_the_proxy(downloading, tmp_path, monkeypatch):
    context, trusted = trusted_certificate(tmp_path, "site.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with forward_proxy("", {"site.test": "127.0.0.1"}) as proxy:
        async with raw_server(LAST, certificate=context) as server:
            access = by_token(tmp_path, monkeypatch, f"site.test:{server.port}")
            downloader = downloading(names=("93.184.216.34",), allow=(), proxy=proxied(proxy), access=access)
            await fetch(downloader, f"https://site.test:{server.port}/")
            await asyncio.wait_for(server.closed.wait(), 5)
            await asyncio.sleep(0.2)
    assert b"t0ken-s3cret" in server.requests[0]
    assert "t0ken" not in "".join(proxy.heads)


@pytest.mark.parametrize("resolves_names", [False, True])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "localhost", "wiki", "a.internal"]
)
async def test_the_proxy_is_not_asked_for_a_private_host(downloading, host, scheme, resolves_names):
    with forward_proxy() as proxy:
        upstream = proxied(proxy, resolves_names=resolves_names)
        with pytest.raises(AddressRefused):
            await fetch(downloading(names=("93.184.216.34",), allow=(), proxy=upstream), f"{scheme}://{host}/")
    assert proxy.heads == []


async def test_names_are_checked_here_before_the_proxy_gets_them(downloading):
    with forward_proxy(places={"site.test": "127.0.0.1"}) as proxy:
        async with raw_server(OK) as server:
            rebound = downloading(names=("93.184.216.34", "10.0.0.1"), allow=(), proxy=proxied(proxy))
            with pytest.raises(AddressRefused):
                await fetch(rebound, server.url)
            with pytest.raises(FetchFailed, match="no such host"):
                await fetch(downloading(names=(), allow=(), proxy=proxied(proxy)), server.url)
            assert proxy.heads == []
            unresolved = downloading(names=(), allow=(), proxy=proxied(proxy, resolves_names=True))
            assert (await fetch(unresolved, server.url)).status == 200


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_refuses_or_is_away_is_named(downloading, scheme):
    with forward_proxy("me:p4ss") as proxy, pytest.raises(FetchFailed, match="the proxy answered http 407"):
        await fetch(downloading(proxy=proxied(proxy)), f"{scheme}://site.test/")
    with pytest.raises(FetchFailed, match="the proxy cannot be reached"):
        await fetch(downloading(proxy=proxied(proxy)), f"{scheme}://site.test/")


async def test_no_tunnel_is_asked_for_after_the_end_of_a_fetch(downloading):
    with forward_proxy() as proxy:
        wanted = TransferRequest(
            url="https://site.test/",
            lines=[],
            endpoints=[("127.0.0.1", proxy.port)],
            refusal=lambda address: "",
            max_bytes=1,
            timeout_seconds=0.0,
            proxy=proxied(proxy),
        )
        transfer = Transfer(wanted, BodyMemoryLimit())
        client = CurlClient()
        with pytest.raises(FetchFailed, match="timeout"):
            await client.run(transfer)
        client.close()
    assert proxy.heads == []
