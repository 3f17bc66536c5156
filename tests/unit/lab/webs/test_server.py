"""A frozen web answers over real sockets for all of its hosts, in the charsets of its pages."""

import asyncio
import sys

import pytest

from tests.unit.lab.small_web import SmallWeb, tea_and_solar, u
from thresher_lab.webs.server import WebServer, example_seed


async def ask(place, host, path, **more):
    address, _, port = place.rpartition(":")
    reader, writer = await asyncio.open_connection(address, int(port), **more)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().partition("content-length: ")[2].partition("\r")[0])
        return head, await reader.readexactly(length)
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def served():
    web = SmallWeb({**tea_and_solar()._pages, u("zh"): ([], "钙钛矿", []), "https://c.example/": ([], "safe", [])})
    asked = []
    server = WebServer(web, asked=asked.append)
    places = await server.start()
    yield places, asked
    await server.close()


async def test_each_host_has_its_own_pages(served):
    places, asked = served
    head, body = await ask(places["*:80"], "b.example", "/solar3")
    assert head.startswith("HTTP/1.1 200 OK")
    assert b"solar cell 3" in body
    head, _ = await ask(places["*:80"], "a.example", "/solar3")
    assert head.startswith("HTTP/1.1 404")
    assert asked == ["http://b.example/solar3", "http://a.example/solar3"]


async def test_pages_come_in_their_own_charset(served):
    places, _ = served
    head, body = await ask(places["*:80"], "a.example", "/zh")
    assert "charset=gbk" in head
    assert "钙钛矿" in body.decode("gbk")


async def test_robots_are_not_there_so_all_may_be_fetched(served):
    places, _ = served
    assert (await ask(places["*:80"], "a.example", "/robots.txt"))[0].startswith("HTTP/1.1 404")


async def test_https_pages_are_served_with_a_certificate_of_the_hour(served):
    import ssl

    places, _ = served
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    head, body = await ask(places["*:443"], "c.example", "/", ssl=context)
    assert head.startswith("HTTP/1.1 200")
    assert b"safe" in body


async def test_nonsense_is_answered_or_hung_up_on(served):
    places, _ = served
    address, _, port = places["*:80"].rpartition(":")
    reader, writer = await asyncio.open_connection(address, int(port))
    writer.write(b"\x16\x03nonsense\r\n\r\n")
    assert b"404" in await reader.readline()
    writer.close()
    await writer.wait_closed()


def test_a_page_of_a_topic_is_offered_as_a_seed():
    web = tea_and_solar()
    topic = min(web.topics())
    assert web.is_topic(example_seed(web), topic)


async def test_a_share_of_the_requests_fails_half_of_them_with_a_cut_connection():
    server = WebServer(tea_and_solar(), fault_share=0.5)
    places = await server.start()
    answers = []
    for _ in range(60):
        try:
            answers.append((await ask(places["*:80"], "b.example", "/solar3"))[0].split()[1])
        except (asyncio.IncompleteReadError, ConnectionError):
            answers.append("cut")
    await server.close()
    assert {answer: 5 <= answers.count(answer) <= 45 for answer in answers} == {"200": True, "503": True, "cut": True}


async def test_without_https_no_certificate_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    server = WebServer(tea_and_solar(), with_https=False)
    places = await server.start()
    assert (await ask(places["*:80"], "b.example", "/solar3"))[0].startswith("HTTP/1.1 200 OK")
    assert places["*:443"] == places["*:80"]
    await server.close()
