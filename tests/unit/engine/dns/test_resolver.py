"""Nothing is dialled that the address guard refuses; nothing is dialled here at all."""

import asyncio

import pytest

from testing.clock import Clock
from thresher.engine.dns.client import ResolvedAddresses
from thresher.engine.dns.resolver import MAX_ADDRESSES, MAX_PREFETCHED, GuardedResolver, host_and_port
from thresher.urls.address_policy import networks


class Names:
    """A name server of our own: answers from a table, counts how often it is asked."""

    def __init__(self, table):
        self.table, self.asked = table, []

    async def look_up(self, name):
        self.asked.append(name)
        return ResolvedAddresses(tuple(self.table.get(name, ())), 60.0)


async def dialled(resolver, name="a.example", port=80):
    endpoints, _ = await resolver.resolve_endpoints(name, port)
    return [address for address, _ in endpoints]


async def look_up(name, table=None, *, port=80, allow=()):
    names = Names(table or {})
    resolver = GuardedResolver(networks(allow), names=names)
    endpoints, why = await resolver.resolve_endpoints(name, port)
    return [address for address, _ in endpoints], why, names


async def test_a_public_name_is_dialled_at_the_address_that_was_checked():
    addresses, _, _ = await look_up("a.example", {"a.example": ["93.184.216.34"]})
    assert addresses == ["93.184.216.34"]


@pytest.mark.parametrize("name", ["127.0.0.1", "::1", "169.254.169.254", "10.1.2.3"])
async def test_a_private_literal_is_not_dialled(name):
    addresses, why, _ = await look_up(name)
    assert addresses == []
    assert why


async def test_one_bad_address_among_good_ones_refuses_the_name():
    addresses, _, _ = await look_up("a.example", {"a.example": ["93.184.216.34", "127.0.0.1"]})
    assert addresses == []


async def test_a_private_name_is_not_even_looked_up():
    _, _, names = await look_up("localhost", {"localhost": ["127.0.0.1"]})
    assert names.asked == []


async def test_a_listed_network_is_dialled():
    addresses, _, _ = await look_up("localhost", {"localhost": ["127.0.0.1"]}, allow=["127.0.0.0/8"])
    assert addresses == ["127.0.0.1"]


async def test_a_bad_port_is_refused_on_any_host():
    addresses, why, names = await look_up("a.example", {"a.example": ["93.184.216.34"]}, port=6379)
    assert (addresses, names.asked, why) == ([], [], "port 6379")


async def test_an_answer_is_kept_and_not_asked_for_again():
    names = Names({"a.example": ["93.184.216.34"]})
    resolver = GuardedResolver([], names=names)
    await dialled(resolver)
    names.table["a.example"] = ["127.0.0.1"]  # a rebinding name server changes its mind
    assert await dialled(resolver) == ["93.184.216.34"]
    assert names.asked == ["a.example"]


async def elsewhere(connect_to, allow=("127.0.0.0/8",), port=80):
    names = Names({})
    resolver = GuardedResolver(networks(allow), names=names, connect_to=connect_to)
    return await dialled(resolver, port=port), names.asked


async def test_a_host_can_be_dialled_elsewhere_without_looking_it_up():
    assert await elsewhere({"*:80": "127.0.0.1:8080"}) == (["127.0.0.1"], [])
    assert await elsewhere({"a.example:80": "127.0.0.2:1"}) == (["127.0.0.2"], [])


async def test_the_guard_looks_at_that_place_too():
    assert await elsewhere({"*:80": "127.0.0.1:8080"}, allow=["10.0.0.0/8"]) == ([], [])


class Slow:
    """Names whose answers come when the test says so."""

    def __init__(self):
        self.asked = []

    def look_up(self, name):
        self.asked.append((name, asyncio.get_running_loop().create_future()))
        return self.asked[-1][1]

    def say(self, *addresses, seconds=60.0):
        self.asked[-1][1].set_result(ResolvedAddresses(addresses, seconds))


def slow_resolver(allow=()):
    names, clock = Slow(), Clock(now=0.0)
    return GuardedResolver(networks(allow), names=names, clock=clock), names, clock


async def started(resolver, name="a.example", port=80):
    lookup = asyncio.create_task(resolver.resolve_endpoints(name, port))
    for _ in range(3):
        await asyncio.sleep(0)
    return lookup


async def test_an_answer_holds_for_its_time_and_is_checked_again_when_renewed():
    resolver, names, clock = slow_resolver()
    first = await started(resolver)
    names.say("93.184.216.34", seconds=10.0)
    clock.now = 9.9
    assert await first == await resolver.resolve_endpoints("a.example", 80) == ([("93.184.216.34", 80)], "")
    clock.now = 20.0
    last = await started(resolver)
    names.say("127.0.0.1")
    assert await last == ([], "a private address")
    assert len(names.asked) == 2


async def test_all_who_wait_for_a_name_share_one_question():
    resolver, names, _ = slow_resolver()
    waiting = [await started(resolver), await started(resolver, port=8080)]
    names.say("93.184.216.34")
    assert [(await lookup)[0] for lookup in waiting] == [[("93.184.216.34", 80)], [("93.184.216.34", 8080)]]
    assert len(names.asked) == 1


async def test_one_who_waits_no_longer_takes_the_answer_from_nobody():
    resolver, names, _ = slow_resolver()
    gone, waiting = await started(resolver), await started(resolver)
    gone.cancel()
    await asyncio.sleep(0)
    names.say("93.184.216.34")
    assert await waiting == ([("93.184.216.34", 80)], "")


async def test_of_many_addresses_all_are_checked_and_few_are_dialled():
    resolver, names, _ = slow_resolver()
    many = await started(resolver)
    names.say(*(f"93.184.216.{n}" for n in range(200)), *(f"2600::{n}" for n in range(1, 200)))
    assert len((await many)[0]) == 2 * MAX_ADDRESSES
    bad = await started(resolver, "b.example")
    names.say(*(f"93.184.216.{n}" for n in range(200)), "127.0.0.1")
    assert (await bad)[0] == []


async def test_names_are_looked_up_ahead_so_that_nobody_waits_for_them():
    resolver, names, _ = slow_resolver()
    assert resolver.prefetch([("a.example", 80), ("127.0.0.1", 80), ("localhost", 80), ("b.example", 25)]) == 1
    await asyncio.sleep(0)
    names.say("93.184.216.34")
    assert await dialled(resolver) == ["93.184.216.34"]
    assert resolver.prefetch([("a.example", 80)]) == 0
    assert resolver.prefetch((f"h{n}.example", 80) for n in range(500)) == MAX_PREFETCHED


async def test_a_lookup_that_breaks_leaves_nobody_waiting():
    resolver, names, _ = slow_resolver()
    lookup = await started(resolver)
    names.asked[-1][1].set_exception(OSError("no network"))
    assert await lookup == ([], "")


async def test_an_international_name_is_asked_for_as_the_url_spells_it():
    resolver, names, _ = slow_resolver()
    await started(resolver, "b\u00fccher.example")
    assert names.asked[0][0] == "xn--bcher-kva.example"
    assert await dialled(resolver, "\uff11\uff12\uff17.0.0.1") == []


def test_the_place_of_a_url_is_its_name_and_port():
    assert host_and_port("http://a.example/") == ("a.example", 80)
    assert host_and_port("https://[::1]/") == ("::1", 443)
    assert host_and_port("http://a.example:0/") == ("a.example", 0)


@pytest.mark.parametrize(
    ("name", "connect_to", "endpoints", "why"),
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
async def test_a_caller_that_dials_by_itself_gets_places_from_the_same_guard(name, connect_to, endpoints, why):
    table = {"a.example": ["93.184.216.34"], "b.example": ["93.184.216.34", "10.0.0.1"]}
    resolver = GuardedResolver([], names=Names(table), connect_to=connect_to)
    assert await resolver.resolve_endpoints(name, 80) == (endpoints, why)
