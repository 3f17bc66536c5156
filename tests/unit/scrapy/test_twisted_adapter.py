"""Scrapy's responses and errors become records of ours, and Twisted dials what the guard allows."""

import asyncio

import pytest
import scrapy
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadFailedError, DownloadTimeoutError
from scrapy.http import Response
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError, ResponseNeverReceived

from thresher.engine.dns.client import ResolvedAddresses
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.errors import LeaseExpired
from thresher.urls.address_policy import networks
from thresher_scrapy.twisted_adapter import ReactorResolver, failure_of, fetched_page

URL = "http://a.example/"


def test_of_most_headers_the_first_line_counts_and_of_robots_tags_every_line():
    headers = {"Content-Type": ["text/html", "text/plain"], "X-Robots-Tag": ["reaper: noindex", "nofollow"]}
    page = fetched_page(Response(URL, headers=headers, request=scrapy.Request(URL)), URL)
    assert page.headers == {"content-type": "text/html", "x-robots-tag": "reaper: noindex\nnofollow"}


def not_http():
    error = DownloadFailedError("wrapped")
    error.__cause__ = ResponseNeverReceived([Failure(ParseError("no status line", b""))])
    return error


@pytest.mark.parametrize(
    ("error", "reason", "retry"),
    [
        (DownloadTimeoutError(), "timeout", True),
        (DownloadConnectionRefusedError(), "connection refused", True),
        (DownloadFailedError(), "connection failed", True),
        (not_http(), "does not speak HTTP", False),
        (ZeroDivisionError(), "ZeroDivisionError", True),
    ],
)
def test_errors_have_the_reasons_of_the_engine(error, reason, retry):
    failed = failure_of(error, URL)
    assert (str(failed.reason), failed.retry) == (reason, retry)


def test_a_failure_of_ours_stays_as_it_is():
    error = LeaseExpired()
    assert failure_of(error, URL) is error


class Receiver:
    def __init__(self):
        self.addresses, self.complete = [], asyncio.Event()

    def resolutionBegan(self, resolution):
        self.began = resolution

    def addressResolved(self, address):
        self.addresses.append((address.host, address.port))

    def resolutionComplete(self):
        self.complete.set()


class Names:
    def __init__(self, *addresses):
        self._addresses = addresses

    async def look_up(self, name):
        return ResolvedAddresses(self._addresses, 0.0)


async def dialled(resolver, name="a.example", port=80):
    receiver = Receiver()
    resolver.resolveHostName(receiver, name, port)
    await asyncio.wait_for(receiver.complete.wait(), 5)
    return receiver.addresses


async def test_twisted_is_given_all_addresses_of_a_name_or_none():
    resolver = ReactorResolver(None, GuardedResolver(networks([]), names=Names("93.184.216.34", "2600::1")))
    assert await dialled(resolver) == [("93.184.216.34", 80), ("2600::1", 80)]
    assert resolver.why(URL) == ""
    refused = ReactorResolver(None, GuardedResolver(networks([]), names=Names("93.184.216.34", "127.0.0.1")))
    assert await dialled(refused) == []
    assert refused.why(URL) == "a private address"
    assert refused.why("http://b.example/") == ""


async def test_a_reason_is_forgotten_when_the_name_may_be_dialled_again():
    names = Names("10.0.0.1")
    resolver = ReactorResolver(None, GuardedResolver(networks([]), names=names))
    await dialled(resolver)
    assert resolver.why(URL)
    names._addresses = ("93.184.216.34",)
    assert await dialled(resolver) == [("93.184.216.34", 80)]
    assert resolver.why(URL) == ""


async def test_an_international_name_is_asked_for_as_the_url_spells_it():
    resolver = ReactorResolver(None, GuardedResolver(networks([]), names=Names("127.0.0.1")))
    await dialled(resolver, "b\u00fccher.example")
    assert resolver.why("http://xn--bcher-kva.example/") == "a private address"
