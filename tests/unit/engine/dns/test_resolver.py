"""Nothing is dialled that the address guard refuses; the connector here only records."""

import pytest
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred

from testing.clock import Clock
from thresher.engine.dns.client import ResolvedAddresses
from thresher.engine.dns.resolver import MOST_ADDRESSES, MOST_AHEAD, GuardedResolver, host_and_port
from thresher.urls.address_policy import networks


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
    assert resolver.why(f"http://[{name}]/" if ":" in name else f"http://{name}/")


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
    assert resolver.why("http://a.example:6379/") == "port 6379"
    assert resolver.why("http://a.example/") == ""


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


class Slow:
    """Names whose answers come when the test says so."""

    def __init__(self):
        self.asked = []

    def look_up(self, name):
        self.asked.append((name, Deferred()))
        return self.asked[-1][1]

    def say(self, *addresses, seconds=60.0):
        self.asked[-1][1].callback(ResolvedAddresses(addresses, seconds))


def slow_resolver(allow=()):
    names, clock = Slow(), Clock(now=0.0)
    return GuardedResolver(Reactor(None), networks(allow), names=names, clock=clock), names, clock


def dialled(resolver, name="a.example", port=80):
    receiver = Receiver()
    resolver.resolveHostName(receiver, name, port)
    return receiver


def test_an_answer_holds_for_its_time_and_is_checked_again_when_renewed():
    resolver, names, clock = slow_resolver()
    first = dialled(resolver)
    names.say("93.184.216.34", seconds=10.0)
    clock.now = 9.9
    assert first.addresses == dialled(resolver).addresses == ["93.184.216.34"]
    clock.now = 10.1
    last = dialled(resolver)
    names.say("127.0.0.1")
    assert (last.addresses, last.complete, len(names.asked)) == ([], True, 2)
    assert resolver.why("http://a.example/") == "a private address"


def test_all_who_wait_for_a_name_share_one_question():
    resolver, names, _ = slow_resolver()
    waiting = [dialled(resolver), dialled(resolver, port=8080)]
    names.say("93.184.216.34")
    assert [receiver.addresses for receiver in waiting] == [["93.184.216.34"]] * 2
    assert len(names.asked) == 1


def test_a_reason_is_forgotten_when_the_name_may_be_dialled_again():
    resolver, names, clock = slow_resolver()
    dialled(resolver)
    names.say("10.0.0.1", seconds=1.0)
    assert resolver.why("http://a.example/")
    clock.now = 2.0
    dialled(resolver)
    names.say("93.184.216.34")
    assert resolver.why("http://a.example/") == ""


def test_of_many_addresses_all_are_checked_and_few_are_dialled():
    resolver, names, _ = slow_resolver()
    many = dialled(resolver)
    names.say(*(f"93.184.216.{n}" for n in range(200)), *(f"2600::{n}" for n in range(1, 200)))
    assert len(many.addresses) == 2 * MOST_ADDRESSES
    bad = dialled(resolver, "b.example")
    names.say(*(f"93.184.216.{n}" for n in range(200)), "127.0.0.1")
    assert bad.addresses == []


def test_names_are_looked_up_ahead_so_that_nobody_waits_for_them():
    resolver, names, _ = slow_resolver()
    assert resolver.prefetch([("a.example", 80), ("127.0.0.1", 80), ("localhost", 80), ("b.example", 25)]) == 1
    names.say("93.184.216.34")
    assert dialled(resolver).addresses == ["93.184.216.34"]
    assert resolver.prefetch([("a.example", 80)]) == 0
    assert resolver.prefetch((f"h{n}.example", 80) for n in range(500)) == MOST_AHEAD


def test_a_lookup_that_breaks_leaves_nobody_waiting():
    resolver, names, _ = slow_resolver()
    receiver = dialled(resolver)
    names.asked[-1][1].errback(OSError("no network"))
    assert (receiver.addresses, receiver.complete) == ([], True)


def test_an_international_name_is_asked_for_as_the_url_spells_it():
    resolver, names, _ = slow_resolver()
    dialled(resolver, "b\u00fccher.example")
    assert names.asked[0][0] == "xn--bcher-kva.example"
    assert dialled(resolver, "\uff11\uff12\uff17.0.0.1").addresses == []


def test_the_place_of_a_url_is_its_name_and_port():
    assert host_and_port("http://a.example/") == ("a.example", 80)
    assert host_and_port("https://[::1]/") == ("::1", 443)
    assert host_and_port("http://a.example:0/") == ("a.example", 0)


@pytest.mark.parametrize(
    ("name", "connect_to", "places", "why"),
    [
        ("a.example", {}, [("93.184.216.34", 80)], ""),
        ("A.example.", {}, [("93.184.216.34", 80)], ""),
        ("b.example", {}, [], "a private address"),
        ("10.0.0.1", {}, [], "a private address"),
        ("169.254.169.254", {}, [], "a link-local or metadata address"),
        ("::1", {}, [], "a private address"),
        ("localhost", {}, [], "a private name"),
        ("a.example", {"a.example:80": "93.184.216.35:8080"}, [("93.184.216.35", 8080)], ""),
        ("a.example", {"a.example:80": "127.0.0.1:8080"}, [], "a private address"),
    ],
)
async def test_whoever_dials_by_itself_gets_places_from_the_same_guard(name, connect_to, places, why):
    table = {"a.example": ["93.184.216.34"], "b.example": ["93.184.216.34", "10.0.0.1"]}
    resolver = GuardedResolver(Reactor(Names(table)), [], connect_to=connect_to)
    assert await resolver.places(name, 80) == (places, why)
