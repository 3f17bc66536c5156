"""Answers of name servers, with how long they hold; what only this machine can know is left to the system."""

import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.defer import fail, succeed
from twisted.internet.task import Clock
from twisted.names import dns
from twisted.names.error import DNSNameError, DNSServerError

from thresher.engine.dns.client import (
    MISSING_SECONDS,
    SYSTEM_SECONDS,
    DnsClient,
    NameServers,
    ResolvedAddresses,
    hosts_file_names,
)


def record(payload, ttl):
    return dns.RRHeader(b"a.example", payload.TYPE, ttl=ttl, payload=payload)


class Client:
    def __init__(self, old, new):
        self.lookupAddress = lambda name: old
        self.lookupIPV6Address = lambda name: new


def look_up(old, new):
    servers = NameServers(Clock(), [("127.0.0.1", 53)])
    servers._client = Client(old, new)
    found = []
    servers.look_up("a.example").addCallback(found.append)
    return found[0]


def answer(*records):
    return succeed((list(records), [], []))


def test_both_kinds_of_addresses_are_found_and_hold_for_the_shortest_time():
    alias = dns.RRHeader(b"a.example", dns.CNAME, ttl=30, payload=dns.Record_CNAME(b"b.example", 30))
    found = look_up(answer(alias, record(dns.Record_A("1.2.3.4"), 90)), answer(record(dns.Record_AAAA("2600::1"), 60)))
    assert found == ResolvedAddresses(("1.2.3.4", "2600::1"), 30.0)


@pytest.mark.parametrize(("ttl", "seconds"), [(0, 1.0), (1, 1.0), (299, 299.0), (86_400, 300.0)])
def test_a_time_to_live_is_kept_within_bounds(ttl, seconds):
    assert look_up(answer(record(dns.Record_A("1.2.3.4"), ttl)), answer()).seconds == seconds


def test_one_kind_is_enough_when_the_other_fails():
    assert look_up(answer(record(dns.Record_A("1.2.3.4"), 60)), fail(DNSServerError())).addresses == ("1.2.3.4",)


def test_a_name_that_does_not_exist_is_soon_asked_for_again():
    assert look_up(fail(DNSNameError()), fail(DNSNameError())) == ResolvedAddresses((), MISSING_SECONDS)
    assert look_up(answer(), answer()) == ResolvedAddresses((), MISSING_SECONDS)


def test_servers_that_fail_say_nothing():
    assert look_up(fail(DNSServerError()), fail(DNSServerError())) is None


class System:
    """The machine's own way: knows every name, and remembers who asked."""

    def __init__(self):
        self.asked = []

    def resolveHostName(self, receiver, name, port):
        self.asked.append(name)
        receiver.addressResolved(IPv4Address("TCP", "1.1.1.1", 0))
        receiver.resolutionComplete()


class Servers:
    def __init__(self, found):
        self.found = found

    def look_up(self, name):
        return succeed(self.found)


def names_find(name, found, *, only_servers=False):
    system, result = System(), []
    DnsClient(system, Servers(found), only_servers=only_servers).look_up(name).addCallback(result.append)
    return result[0], system.asked


def test_a_public_name_is_asked_for_at_the_servers_alone():
    found = ResolvedAddresses(("1.2.3.4",), 60.0)
    assert names_find("a.example", found) == (found, [])
    assert names_find("a.example", ResolvedAddresses((), 5.0)) == (ResolvedAddresses((), 5.0), [])


@pytest.mark.parametrize("name", ["localhost", "intranet", "db.internal"])
def test_names_that_only_this_machine_can_know_are_left_to_the_system(name):
    assert names_find(name, ResolvedAddresses((), 5.0)) == (ResolvedAddresses(("1.1.1.1",), SYSTEM_SECONDS), [name])


def test_the_system_is_asked_when_no_server_answers():
    assert names_find("a.example", None)[1] == ["a.example"]


def test_nobody_but_the_servers_that_the_user_chose_is_asked():
    assert names_find("a.example", None, only_servers=True) == (ResolvedAddresses((), MISSING_SECONDS), [])
    assert names_find("intranet", None, only_servers=True)[1] == []


def test_a_file_of_hosts_is_read(tmp_path):
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n# 1.2.3.4 no\n10.0.0.1 Wiki.Example wiki # mine\n")
    assert hosts_file_names(tmp_path / "hosts") == {"localhost", "wiki.example", "wiki"}
    assert hosts_file_names(tmp_path / "none") == frozenset()
