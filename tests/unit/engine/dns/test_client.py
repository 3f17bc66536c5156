"""Answers of name servers, with how long they hold; what only this machine can know is left to the system."""

import asyncio
import socket
import struct

import pytest
from dns.exception import DNSException
from dns.message import make_query
from dns.rdatatype import RdataType
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.nameserver import NXDOMAIN, SERVFAIL, Says, name_server
from thresher.engine.dns import client
from thresher.engine.dns.client import (
    MISSING_SECONDS,
    SYSTEM_SECONDS,
    DnsClient,
    NameServers,
    ResolvedAddresses,
    hosts_file_names,
    listed_servers,
)

NAME = "a.example"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(client, "TRY_SECONDS", (0.1, 0.1))
    monkeypatch.setattr(client, "TCP_SECONDS", 0.5)


async def look_up(says, name=NAME, **more):
    with name_server({NAME: says, **more}) as server:
        return await NameServers([("127.0.0.1", server.port)]).look_up(name)


async def test_both_kinds_of_addresses_are_found():
    assert await look_up(Says(["1.2.3.4", "2600::1"], ttl=30)) == ResolvedAddresses(("1.2.3.4", "2600::1"), 30.0)


async def test_an_alias_is_followed_by_the_server():
    assert (await look_up(Says(["1.2.3.4"], alias="b.example"))).addresses == ("1.2.3.4",)


@pytest.mark.parametrize(("ttl", "seconds"), [(0, 1.0), (1, 1.0), (299, 299.0), (86_400, 300.0)])
async def test_a_time_to_live_is_kept_within_bounds(ttl, seconds):
    assert (await look_up(Says(["1.2.3.4"], ttl=ttl))).seconds == seconds


async def test_one_kind_is_enough_when_the_other_fails():
    class OnlyOld(NameServers):
        async def query(self, name, kind):
            return await super().query(name, kind) if kind == RdataType.A else None

    with name_server({NAME: Says(["1.2.3.4"])}) as server:
        assert (await OnlyOld([("127.0.0.1", server.port)]).look_up(NAME)).addresses == ("1.2.3.4",)


async def test_a_name_that_does_not_exist_is_soon_asked_for_again():
    assert await look_up(Says(code=NXDOMAIN)) == ResolvedAddresses((), MISSING_SECONDS)
    assert await look_up(Says()) == ResolvedAddresses((), MISSING_SECONDS)


async def test_servers_that_fail_or_are_silent_say_nothing():
    assert await look_up(Says(code=SERVFAIL)) is None
    assert await look_up(Says(silent=True)) is None


async def test_an_answer_that_is_cut_is_asked_for_again_over_tcp():
    many = [f"1.2.3.{number}" for number in range(200)]
    assert (await look_up(Says(many, cut=True))).addresses == tuple(many)


async def test_an_answer_that_is_cut_there_too_or_too_long_is_none():
    assert await look_up(Says(["1.2.3.4"], always_cut=True)) is None
    assert await look_up(Says(["1.2.3.4"] * 3000, cut=True)) is None


async def test_the_next_server_is_asked_when_one_is_silent():
    with name_server({NAME: Says(silent=True)}) as silent, name_server({NAME: Says(["1.2.3.4"])}) as good:
        servers = [("127.0.0.1", silent.port), ("127.0.0.1", good.port)]
        assert (await NameServers(servers).look_up(NAME)).addresses == ("1.2.3.4",)


async def test_a_lookup_has_an_end(monkeypatch):
    monkeypatch.setattr(client, "LOOK_UP_SECONDS", 0.05)
    with pytest.raises(TimeoutError):
        await look_up(Says(silent=True))


class System:
    """The machine's own way: knows every name, and remembers who asked."""

    def __init__(self):
        self.asked = []

    async def __call__(self, name):
        self.asked.append(name)
        return ["1.1.1.1"]


class Servers:
    def __init__(self, found):
        self.found = found

    async def look_up(self, name):
        return self.found


async def names_find(name, found, *, only_servers=False):
    system = System()
    return await DnsClient(Servers(found), only_servers=only_servers, system=system).look_up(name), system.asked


async def test_a_public_name_is_asked_for_at_the_servers_alone():
    found = ResolvedAddresses(("1.2.3.4",), 60.0)
    assert await names_find("a.example", found) == (found, [])
    assert await names_find("a.example", ResolvedAddresses((), 5.0)) == (ResolvedAddresses((), 5.0), [])


@pytest.mark.parametrize("name", ["localhost", "intranet", "db.internal"])
async def test_names_that_only_this_machine_can_know_are_left_to_the_system(name):
    found = ResolvedAddresses(("1.1.1.1",), SYSTEM_SECONDS)
    assert await names_find(name, ResolvedAddresses((), 5.0)) == (found, [name])


async def test_the_system_is_asked_when_no_server_answers():
    assert (await names_find("a.example", None))[1] == ["a.example"]


async def test_nobody_but_the_servers_that_the_user_chose_is_asked():
    assert await names_find("a.example", None, only_servers=True) == (ResolvedAddresses((), MISSING_SECONDS), [])
    assert (await names_find("intranet", None, only_servers=True))[1] == []


async def test_the_system_knows_this_machine():
    assert await DnsClient().look_up("localhost") in (
        ResolvedAddresses(("127.0.0.1",), SYSTEM_SECONDS),
        ResolvedAddresses(("::1", "127.0.0.1"), SYSTEM_SECONDS),
        ResolvedAddresses(("127.0.0.1", "::1"), SYSTEM_SECONDS),
        ResolvedAddresses(("::1",), SYSTEM_SECONDS),
    )


def test_a_file_of_hosts_is_read(tmp_path):
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n# 1.2.3.4 no\n10.0.0.1 Wiki.Example wiki # mine\n")
    assert hosts_file_names(tmp_path / "hosts") == {"localhost", "wiki.example", "wiki"}
    assert hosts_file_names(tmp_path / "none") == frozenset()


def test_a_list_of_name_servers_is_read(tmp_path):
    (tmp_path / "resolv").write_text("search example\nnameserver 127.0.0.53 # local\nnameserver ::1\nnameserver\n")
    assert listed_servers(tmp_path / "resolv") == [("127.0.0.53", 53), ("::1", 53)]
    assert listed_servers(tmp_path / "none") == [("127.0.0.1", 53)]


def test_the_list_is_read_again_after_a_minute(tmp_path, monkeypatch, clock):
    file = tmp_path / "resolv"
    monkeypatch.setattr(client, "RESOLV_CONF", file)
    file.write_text("nameserver 127.0.0.2\n")
    servers = NameServers(clock=clock)
    assert servers._current_servers() == [("127.0.0.2", 53)]
    file.write_text("nameserver 127.0.0.3\n")
    clock.now += 59.0
    assert servers._current_servers() == [("127.0.0.2", 53)]
    clock.now += 1.0
    assert servers._current_servers() == [("127.0.0.3", 53)]


QUERY = make_query(NAME, RdataType.A, use_edns=False, id=7)
POINTER, CNAME = b"\xc0\x0c", RdataType.CNAME


def record(data, kind=RdataType.A, ttl=60, name=POINTER):
    return name + struct.pack("!2HIH", kind, 1, ttl, len(data)) + data


def message(*records, asked=QUERY, flags=0x8180, number=7, count=None):
    header = struct.pack("!6H", number, flags, 1, len(records) if count is None else count, 0, 0)
    return header + asked.to_wire()[12:] + b"".join(records)


GOOD = message(record(bytes([1, 2, 3, 4])))


async def answer(*datagrams, asked=QUERY):
    """Return what is read from a server that sends these datagrams one after another."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.setblocking(False)
        answering = asyncio.create_task(client._answer(asked, server.getsockname(), 2.0))
        _, sender = await asyncio.get_running_loop().sock_recvfrom(server, 512)
        for datagram in datagrams:
            server.sendto(datagram, sender)
        return await answering


@pytest.mark.parametrize("name", ["a..b", "x" * 64 + ".example", ".".join(["abcdefg"] * 40)])
async def test_what_is_not_a_name_is_not_asked_for(name):
    with pytest.raises(DNSException):
        await NameServers([("127.0.0.1", 1)]).query(name, RdataType.A)


async def test_the_shortest_ttl_of_all_records_counts():
    found = await answer(message(record(b"\x01b" + POINTER, CNAME, 30), record(bytes([1, 2, 3, 4]), ttl=90)))
    assert client._both([found]) == ResolvedAddresses(("1.2.3.4",), 30.0)


async def test_a_ttl_that_looks_negative_is_zero():
    found = await answer(message(record(bytes(4), ttl=1 << 31)))
    assert client._both([found]).seconds == client.MIN_TTL_SECONDS


async def test_addresses_of_another_kind_than_the_asked_one_are_left_out():
    asked = make_query(NAME, RdataType.AAAA, use_edns=False, id=7)
    address = bytes.fromhex("2600" + "00" * 13 + "01")
    found = await answer(message(record(address, RdataType.AAAA), record(bytes(4)), asked=asked), asked=asked)
    assert client._both([found]).addresses == ("2600::1",)


@pytest.mark.parametrize(
    "datagram",
    [
        b"",
        message(number=8),
        message(flags=0x0100),
        message(asked=make_query("b.example", RdataType.A)),
        message(asked=make_query(NAME, RdataType.AAAA)),
        message(record(bytes(4)), count=2),
        message(record(bytes(3))),
        GOOD[:-1],
        message(record(bytes(4), name=b"\x80x")),
        message(record(bytes(4), name=b"\xc0\xff")),
        message(record(bytes(4), name=b"\xc0\x1b")),
    ],
    ids=["nothing", "number", "query", "name", "kind", "missing", "short", "cut", "label", "far pointer", "loop"],
)
async def test_what_does_not_answer_the_query_is_ignored(datagram):
    assert client._both([await answer(datagram, GOOD)]).addresses == ("1.2.3.4",)


async def test_the_case_of_the_question_does_not_matter():
    assert client._both([await answer(GOOD.replace(b"example", b"EXAMPLE"))]).addresses == ("1.2.3.4",)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_nothing_that_arrives_raises_another_error(noise):
    async def read():
        return await answer(noise, GOOD[:29] + noise, message(count=3) + noise, GOOD)

    assert asyncio.run(read()) is not None
