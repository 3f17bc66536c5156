"""Nothing is dialled that the address guard refuses; the connector here only records."""

import pytest
from twisted.internet.address import IPv4Address, IPv6Address

from thresher.engine.resolver import GuardedResolver
from thresher.urls.addresses import networks


class Receiver:
    def __init__(self):
        self.addresses, self.complete = [], False

    def resolutionBegan(self, resolution):
        self.began = resolution

    def addressResolved(self, address):
        self.addresses.append(address.host)

    def resolutionComplete(self):
        self.complete = True


class Names:
    """A name server of our own: answers from a table, counts how often it is asked."""

    def __init__(self, table):
        self.table, self.asked = table, []

    def resolveHostName(self, receiver, name, port=0, addressTypes=None, transportSemantics="TCP"):
        self.asked.append(name)
        receiver.resolutionBegan(None)
        for address in self.table.get(name, [name]):
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address, port))
        receiver.resolutionComplete()


class Reactor:
    def __init__(self, names):
        self.nameResolver = names

    def installNameResolver(self, resolver):
        self.nameResolver = resolver


def look_up(name, table=None, *, port=80, allow=()):
    names = Names(table or {})
    resolver = GuardedResolver(Reactor(names), networks(allow))
    receiver = Receiver()
    resolver.resolveHostName(receiver, name, port)
    assert receiver.complete
    return receiver.addresses, resolver, names


def test_a_public_name_is_dialled_at_the_address_that_was_checked():
    addresses, _, _ = look_up("a.example", {"a.example": ["93.184.216.34"]})
    assert addresses == ["93.184.216.34"]


@pytest.mark.parametrize("name", ["127.0.0.1", "::1", "169.254.169.254", "10.1.2.3"])
def test_a_private_literal_is_not_dialled(name):
    addresses, resolver, _ = look_up(name)
    assert addresses == []
    assert resolver.guard.refused[name]


def test_one_bad_address_among_good_ones_refuses_the_name():
    addresses, _, _ = look_up("a.example", {"a.example": ["93.184.216.34", "127.0.0.1"]})
    assert addresses == []


def test_a_private_name_is_not_even_looked_up():
    _, _, names = look_up("localhost", {"localhost": ["127.0.0.1"]})
    assert names.asked == []


def test_a_listed_network_is_dialled():
    addresses, _, _ = look_up("localhost", {"localhost": ["127.0.0.1"]}, allow=["127.0.0.0/8"])
    assert addresses == ["127.0.0.1"]


def test_a_bad_port_is_refused_on_any_host():
    addresses, resolver, names = look_up("a.example", {"a.example": ["93.184.216.34"]}, port=6379)
    assert (addresses, names.asked) == ([], [])
    assert resolver.guard.refused["a.example"] == "port 6379"


def test_an_answer_is_kept_and_not_asked_for_again():
    _, resolver, names = look_up("a.example", {"a.example": ["93.184.216.34"]})
    names.table["a.example"] = ["127.0.0.1"]  # a rebinding name server changes its mind
    again = Receiver()
    resolver.resolveHostName(again, "a.example", 80)
    assert again.addresses == ["93.184.216.34"]
    assert names.asked == ["a.example"]


def elsewhere(connect_to, allow=("127.0.0.0/8",), port=80):
    names = Names({})
    resolver = GuardedResolver(Reactor(names), networks(allow), connect_to=connect_to)
    receiver = Receiver()
    resolver.resolveHostName(receiver, "a.example", port)
    return receiver.addresses, names.asked


def test_a_host_can_be_dialled_elsewhere_without_looking_it_up():
    assert elsewhere({"*:80": "127.0.0.1:8080"}) == (["127.0.0.1"], [])
    assert elsewhere({"a.example:80": "127.0.0.2:1"}) == (["127.0.0.2"], [])


def test_the_guard_looks_at_that_place_too():
    assert elsewhere({"*:80": "127.0.0.1:8080"}, allow=["10.0.0.0/8"]) == ([], [])
