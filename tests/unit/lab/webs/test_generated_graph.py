"""The plan of a generated web: every page has its place, and links respect the tunnels."""

from itertools import pairwise

import pytest

from thresher_lab.webs.generated_graph import DEAD, MIN_ISLAND_PAGES, Layout, PageRole, host_starts


def layout(*, pages=2_000, hosts=12, seed=1, **knobs):
    defaults = {
        "topics": ("A", "B", "C"),
        "languages": ("en", "zh"),
        "locality": 0.6,
        "hub_share": 0.1,
        "tunnel_depth": 2,
        "dead_links": 0.05,
        "links_per_page": 10,
    }
    knobs = {**defaults, **knobs}
    return Layout(seed=seed, starts=host_starts(pages, hosts, knobs["tunnel_depth"]), **knobs)


def test_every_page_has_one_place():
    plan = layout()
    found = {page: block for block in plan.blocks() for page in range(block.first, block.end)}
    fronts = {plan.front(host) for host in range(plan.hosts)}
    assert set(found) | fronts == set(range(2_000))
    assert not set(found) & fronts
    assert all(plan.block_of(page) == block for page, block in found.items())
    assert all(plan.block_of(page) is None for page in fronts)


def test_some_hosts_are_large_and_none_is_too_small():
    starts = host_starts(10_000, 100, 3)
    sizes = [end - start for start, end in pairwise(starts)]
    assert sizes[0] > 3 * sizes[-1]
    assert min(sizes) >= 1 + 3 + MIN_ISLAND_PAGES


def test_too_many_hosts_are_refused():
    with pytest.raises(ValueError, match="too few for 100 hosts"):
        host_starts(500, 100, 3)


def test_an_island_begins_with_its_hubs():
    plan = layout(hub_share=0.1)
    block = next(plan.blocks())
    kinds = [plan.kind(page, block) for page in range(block.first, block.end)]
    hubs = kinds.count(PageRole.HUB)
    assert kinds == [PageRole.TUNNEL] * 2 + [PageRole.HUB] * hubs + [PageRole.CONTENT] * (len(kinds) - 2 - hubs)
    assert hubs == -(-(len(kinds) - 2) // 10)


def test_topics_come_in_the_order_of_their_frequency():
    plan = layout(pages=40_000, hosts=400)
    topics = [block.topic for block in plan.blocks()]
    assert topics.count("A") > topics.count("B") > topics.count("C") > 0
    assert 0.3 < topics.count("") / len(topics) < 0.5


def test_the_share_of_links_that_stay_is_the_locality():
    plan = layout(locality=0.7, dead_links=0.0, hub_share=0.0)
    stay = leave = 0
    for block in plan.blocks():
        for page in range(block.island, block.end):
            inside = [block.island <= link < block.end for link in plan.links(page)]
            stay, leave = stay + sum(inside), leave + len(inside) - sum(inside)
    assert stay / (stay + leave) == pytest.approx(0.7, abs=0.05)


def test_the_share_of_dead_links_is_as_wanted():
    plan = layout(dead_links=0.2)
    links = [link for page in range(plan.pages) for link in plan.links(page)]
    assert links.count(DEAD) / len(links) == pytest.approx(0.2, abs=0.04)


def test_hubs_link_to_their_island_and_have_more_links():
    plan = layout(dead_links=0.0)
    block = next(block for block in plan.blocks() if block.end - block.island > 10)
    links = plan.links(block.island)
    assert all(block.island <= link < block.end for link in links)
    assert len(links) >= 2 * plan.links_per_page


def test_nobody_enters_an_island_but_through_its_tunnel():
    plan = layout(tunnel_depth=3)
    for page in range(plan.pages):
        here = plan.block_of(page)
        for link in (link for link in plan.links(page) if link != DEAD):
            there = plan.block_of(link)
            if there is not None and there != here:
                assert link == there.first
            if there is not None and there == here and link >= there.island:
                assert page >= there.island - 1


@pytest.mark.parametrize("tunnel_depth", [0, 1, 3])
def test_every_page_can_be_reached_from_every_front_page(tunnel_depth):
    plan = layout(tunnel_depth=tunnel_depth, dead_links=0.3, links_per_page=4)
    seen, waiting = set(), [plan.front(5)]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            waiting += [plan.front(plan.host_of(page)), *(link for link in plan.links(page) if link != DEAD)]
    assert seen == set(range(plan.pages))


def test_another_seed_is_another_web():
    one, same, other = layout(seed=1), layout(seed=1), layout(seed=2)
    assert [one.links(page) for page in range(50)] == [same.links(page) for page in range(50)]
    assert [one.links(page) for page in range(50)] != [other.links(page) for page in range(50)]
    assert [block.topic for block in one.blocks()] != [block.topic for block in other.blocks()]


TREE = ("A/one", "A/two", "B/three")


def links_between_blocks(plan):
    """The topics at both ends of the links from pages with a topic to other blocks."""
    for block in plan.blocks():
        for page in range(block.first, block.end) if block.topic else ():
            for link in plan.links(page):
                there = plan.block_of(link) if link != DEAD else None
                if there and there != block:
                    yield block.topic, there.topic


def test_links_follow_the_taxonomy_as_far_as_wanted():
    shares = []
    for strength in (0.0, 0.5, 1.0):
        pairs = list(links_between_blocks(layout(topics=TREE, taxonomy_strength=strength)))
        shares.append(sum(a[:1] == b[:1] for a, b in pairs) / len(pairs))
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.9


def test_a_topic_without_siblings_links_to_itself():
    pairs = list(links_between_blocks(layout(topics=TREE, taxonomy_strength=1.0)))
    assert sum(b == "B/three" for a, b in pairs if a == "B/three") > 0.8 * sum(a == "B/three" for a, _ in pairs)


def test_blocks_are_filed_under_the_upper_labels_or_the_whole_path():
    plan = layout(pages=40_000, hosts=100, topics=TREE, taxonomy_strength=0.5)
    labels = [tuple(plan.path_labels(block)) for block in plan.blocks() if block.topic == "A/one"]
    assert set(labels) == {(), ("A",), ("A", "one")}
    assert labels.count(()) / len(labels) == pytest.approx(0.5, abs=0.1)
    assert all(not plan.path_labels(block) for block in plan.blocks() if not block.topic)


def test_without_taxonomy_nothing_is_filed():
    plan = layout(topics=TREE)
    assert not any(plan.path_labels(block) for block in plan.blocks())


def test_without_topics_all_pages_are_about_nothing():
    assert {block.topic for block in layout(topics=()).blocks()} == {""}
