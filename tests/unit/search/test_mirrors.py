"""Hosts that have the same pages are distinguished from hosts that share a few."""

import random

from tests.unit.search.conftest import page


def text(seed):
    return " ".join(random.Random(seed).choices([f"word{number}" for number in range(3_000)], k=80))


def site(host, texts, **more):
    return [page(f"http://{host}/{number}", text(each), **more) for number, each in enumerate(texts)]


def test_of_a_text_on_twenty_hosts_one_is_shown(world):
    for number in range(20):
        world.keep(*site(f"m{number}.example", range(6)), worker=f"w{number % 2}")
    for each in range(6):
        assert len(world.find(f'"{" ".join(text(each).split()[:5])}"')) == 1
    assert len(world.index.mirrors()) == 190


def test_a_mirror_that_lacks_a_page_or_has_one_more_is_still_a_mirror(world):
    world.keep(*site("a.example", range(10)), *site("b.example", [*range(1, 10), 77]))
    [mirror] = world.index.mirrors() if world.index.catch_up() else []
    assert (mirror.host, mirror.other, mirror.common, mirror.share) == ("a.example", "b.example", 9, 0.9)


def test_hosts_that_share_a_few_pages_are_no_mirrors(world):
    world.keep(*site("a.example", range(10)), *site("b.example", range(4, 20)))
    world.index.catch_up()
    assert world.index.mirrors() == []


def test_one_common_notice_makes_no_mirror(world):
    world.keep(*(page(f"http://h{number}.example/", "It works!") for number in range(30)))
    world.index.catch_up()
    assert world.index.mirrors() == []
