"""The proxy lets pages through to where the guard lets them, and nobody else to anywhere."""

import asyncio
from contextlib import suppress

import pytest

from testing.forward_proxy import forward_proxy
from thresher.config.secrets import Secret
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.engine.browser.proxy import GuardedProxy, dial
from thresher.engine.browser.quota import NetworkQuota

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Server:
    """A server on loopback that answers each connection once, and keeps what it was sent."""

    patience_seconds = 0.1

    def __init__(self, answer=ANSWER):
        self.answer = answer
        self.received = []

    async def serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        self.received.append(head)
        writer.write(self.answer)
        await writer.drain()
        with suppress(TimeoutError):
            self.received.append(await asyncio.wait_for(reader.read(100), self.patience_seconds))
        writer.close()


class World:
    """A proxy, a server behind it, a guard that knows one name, and a record of who was dialled."""

    def __init__(self, server):
        self.server = server
        self.dialled = []
        self.asked = []
        self.proxy = GuardedProxy(self.resolve_endpoints, dial=self.dial)
        self.page = NetworkQuota(max_connections=3, max_bytes=10_000)

    async def resolve_endpoints(self, name, port):
        self.asked.append((name, port))
        return ([("127.0.0.1", self.port)], "") if name == "a.example" else ([], "a private address")

    async def dial(self, address, port):
        self.dialled.append((address, port))
        return await dial(address, port)

    async def start(self):
        self._listener = await asyncio.start_server(self.server.serve, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]
        await self.proxy.start()
        self.proxy.admit(self.page)
        self.page.expect("a.example", 80)
        self.page.expect("inside.example", 80)

    async def close(self):
        self.proxy.close()
        self._listener.close()
        await asyncio.wait([*(asyncio.all_tasks() - {asyncio.current_task()}), asyncio.ensure_future(asyncio.sleep(0))])

    async def open(self, request, *, secret=True):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy.port)
        proof = f"Proxy-Authorization: {self.page.authorization}\r\n" if secret else ""
        writer.write(request.replace("\n", "\r\n").encode() + f"\r\n{proof}\r\n".encode())
        return reader, writer

    async def ask(self, request, **more):
        reader, writer = await self.open(request, **more)
        async with asyncio.timeout(5):
            answer = await reader.read()
        writer.close()
        return answer


@pytest.fixture
async def world():
    world = World(Server())
    await world.start()
    yield world
    await world.close()


async def test_a_page_is_answered_by_the_address_that_was_checked(world):
    answer = await world.ask("GET http://a.example/x HTTP/1.1\nHost: a.example")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"\r\n\r\nhello")
    assert world.dialled == [("127.0.0.1", world.port)]
    assert world.server.received[0].startswith(b"GET /x HTTP/1.1\r\nHost: a.example\r\n")
    assert b"roxy" not in world.server.received[0]


async def test_a_client_that_does_not_know_the_secret_is_asked_for_it_and_goes_nowhere(world):
    for request in ("GET http://a.example/ HTTP/1.1", "CONNECT a.example:80 HTTP/1.1"):
        answer = await world.ask(request, secret=False)
        assert answer.startswith(b"HTTP/1.1 407 ")
    assert world.asked == world.dialled == []


async def test_a_secret_ends_with_its_page(world):
    world.proxy.dismiss(world.page)
    assert (await world.ask("GET http://a.example/ HTTP/1.1")).startswith(b"HTTP/1.1 407 ")
    assert world.dialled == []


async def test_a_place_that_the_guard_refuses_is_not_dialled_and_looks_like_nobody(world):
    assert await world.ask("GET http://inside.example/ HTTP/1.1") == b""
    assert await world.ask("CONNECT inside.example:80 HTTP/1.1") == b""
    assert world.dialled == []
    assert world.page.refused == ["inside.example:80: a private address"] * 2


async def test_a_place_that_the_page_did_not_ask_for_is_not_even_looked_up(world):
    assert await world.ask("CONNECT a.example:443 HTTP/1.1") == b""
    assert world.asked == []
    assert world.page.refused == ["a.example:443: not requested by the page"]


@pytest.mark.parametrize("asked", ["GET / HTTP/1.1", "nonsense", "POST http://a.example/ HTTP/1.1\nContent-Length: x"])
async def test_what_is_no_request_to_a_proxy_is_refused(world, asked):
    assert (await world.ask(asked)).startswith(b"HTTP/1.1 400 ")
    assert world.dialled == []


async def test_a_tunnel_carries_bytes_both_ways(world):
    reader, writer = await world.open("CONNECT a.example:80 HTTP/1.1")
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 200 Connection established\r\n\r\n"
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await reader.readexactly(len(ANSWER)) == ANSWER
    writer.write(b"more")
    assert await reader.read() == b""
    writer.close()
    assert world.server.received == [b"GET / HTTP/1.1\r\n\r\n", b"more"]


async def test_nothing_follows_the_body_of_a_request(world):
    reader, writer = await world.open("POST http://a.example/ HTTP/1.1\nContent-Length: 3")
    writer.write(b"abcGET http://inside.example/ HTTP/1.1\r\n\r\n")
    await reader.read()
    writer.close()
    assert world.server.received[1] == b"abc"


async def test_a_page_that_has_had_its_bytes_is_cut_off():
    world = World(Server(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000))
    await world.start()
    assert len(await world.ask("GET http://a.example/ HTTP/1.1")) < 11_000
    assert world.page.is_spent
    await world.close()


async def test_a_page_has_a_limited_number_of_connections(world):
    answers = [await world.ask("GET http://a.example/ HTTP/1.1") for _ in range(4)]
    assert [bool(answer) for answer in answers] == [True, True, True, False]


async def test_what_a_page_has_open_is_cut_when_it_ends(world):
    world.server.patience_seconds = 60.0
    reader, writer = await world.open("CONNECT a.example:80 HTTP/1.1")
    await reader.readuntil(b"\r\n\r\n")
    world.proxy.dismiss(world.page)
    with suppress(ConnectionResetError):  # an orderly end is as good
        assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()


async def test_an_endless_head_is_not_read(world):
    reader, writer = await asyncio.open_connection("127.0.0.1", world.proxy.port)
    writer.write(b"GET http://a.example/ HTTP/1.1\r\nX: " + b"x" * 600_000)
    async with asyncio.timeout(5):
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
    writer.close()
    assert world.dialled == []


async def test_interim_answers_are_passed_over():
    world = World(Server(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ANSWER))
    await world.start()
    assert (await world.ask("GET http://a.example/ HTTP/1.1")).startswith(b"HTTP/1.1 200 OK\r\n")
    await world.close()


async def test_with_an_upstream_proxy_requests_and_tunnels_go_through_it():
    """The guard decides about the name; what is dialled is the upstream proxy."""
    server = Server()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    with forward_proxy("me:p4ss", {"a.example": "127.0.0.1"}) as upstream:
        secrets = {"user": Secret("me"), "password": Secret("p4ss")}
        world = World(server)
        chosen = UpstreamProxy(host="127.0.0.1", port=upstream.port, **secrets)
        world.proxy = GuardedProxy(world.resolve_endpoints, upstream=chosen, dial=world.dial)
        await world.start()
        world.port = upstream.port
        world.page.expect("a.example", port)
        answer = await world.ask(f"GET http://a.example:{port}/x?y HTTP/1.1\nHost: a.example:{port}")
        reader, writer = await world.open(f"CONNECT a.example:{port} HTTP/1.1\nHost: a.example")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET /inside HTTP/1.1\r\n\r\n")
        assert await reader.readuntil(b"hello")
        writer.close()
        assert await world.ask("GET http://inside.example/ HTTP/1.1\nHost: inside.example") == b""
        listener.close()
        await world.close()
    assert answer.endswith(b"hello")
    assert upstream.targets == [f"GET http://a.example:{port}/x?y", f"CONNECT a.example:{port}"]
    assert set(world.dialled) == {("127.0.0.1", upstream.port)}
    assert world.page.authorization not in "".join(upstream.heads)
    assert b"Proxy-Authorization" not in b"".join(server.received)
