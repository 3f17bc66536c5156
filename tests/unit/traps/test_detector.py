"""The watch leaves traps alone, shares what it left, and asks hosts once for a page that cannot exist."""

from dataclasses import replace

import pytest

from testing.recording_server.words import SENTENCES
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Lease, Link, ParsedPage, RequestKind
from thresher.traps.detector import (
    FIRST_PAGES,
    PROBE_AT,
    PROBE_KNOWN_AT,
    TrapDetector,
    forget_left,
    left_alone,
)
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

SITE = "http://a.example"
LEASE = Lease(url=SITE + "/", host="a.example", score=0.5, fence=1, until=1, host_pages=FIRST_PAGES)


def counted(number):
    return ParsedPage(url=f"{SITE}/list?page={number}", text=f"results {number} of many")


async def show(watch, pages, **lease):
    """Show pages; return the first reason to park their host."""
    for number, page in enumerate(pages):
        if reason := await watch.observe(
            replace(LEASE, parent=number // 5, **lease), page, relevant=False, duplicate=False
        ):
            return reason
    return ""


@pytest.fixture
def frontier():
    return MemoryFrontier()


async def test_a_host_that_gave_nothing_else_is_parked(frontier):
    reason = await show(TrapDetector(frontier), map(counted, range(40)))
    assert str(reason) == "16 of 16 pages like /list?page brought nothing new"


async def test_a_host_with_harvest_elsewhere_loses_the_part_alone(frontier):
    watch = TrapDetector(frontier)
    assert str(watch.skip_reason(f"{SITE}/list?page=99")) == ""
    assert await show(watch, map(counted, range(40)), host_relevant=1) == ""
    assert str(watch.skip_reason(f"{SITE}/list?page=99")) == "16 of 16 pages like /list?page brought nothing new"
    assert str(watch.skip_reason(f"{SITE}/list")) == str(watch.skip_reason("http://b.example/list?page=99")) == ""


async def test_what_one_worker_left_all_leave_and_a_release_ends_it(frontier):
    await show(TrapDetector(frontier), map(counted, range(40)), host_relevant=1)
    other = TrapDetector(frontier)
    await show(other, [counted(1)], host_relevant=1)
    assert other.skip_reason(f"{SITE}/list?page=99")
    assert await left_alone(frontier, "a.example") == {
        "/list?page": Reason.of(ReasonKind.NOTHING_NEW, 16, 16, "/list?page")
    }
    assert await forget_left(frontier, "a.example")
    assert await left_alone(frontier, "a.example") == {}
    assert not await forget_left(frontier, "a.example")


async def test_the_first_pages_of_a_host_cost_nothing(frontier):
    watch = TrapDetector(frontier)
    assert await show(watch, map(counted, range(100)), host_pages=FIRST_PAGES - 1) == ""
    assert not watch._hosts


async def test_a_maze_in_one_section_of_a_good_host_is_left(frontier):
    watch = TrapDetector(frontier)
    pages = [
        ParsedPage(
            url=f"{SITE}/maze/{'x' * n}",
            text=SENTENCES[n],
            links=tuple(Link(url=f"{SITE}/maze/{name}{'y' * n}") for name in "abcd"),
        )
        for n in range(1, 40)
    ]
    assert await show(watch, pages, host_relevant=3) == ""
    assert str(watch.skip_reason(f"{SITE}/maze/anything")).startswith("a maze")
    assert str(watch.skip_reason(f"{SITE}/news/anything")) == ""


async def test_memory_is_bounded_by_hosts(frontier):
    watch = TrapDetector(frontier)
    for number in range(2_050):
        await show(watch, [counted(1)], host=f"h{number}.example")
    assert len(watch._hosts) == 2_000


async def test_a_host_is_probed_once(frontier):
    watch = TrapDetector(frontier)
    assert [len(watch.probe(replace(LEASE, host_pages=pages))) for pages in range(PROBE_AT + 3)].count(1) == 1
    [first] = watch.probe(replace(LEASE, host_pages=PROBE_AT - 1))
    [again] = watch.probe(replace(LEASE, host_pages=PROBE_AT - 1, url=f"{SITE}/elsewhere"))
    assert first.url == again.url
    assert first.url.startswith(f"{SITE}/no-such-page-")
    assert first.kind is RequestKind.PROBE


async def test_pages_like_the_answer_for_nothing_are_missing(frontier):
    watch, other = TrapDetector(frontier), TrapDetector(frontier)
    missing = "Sorry there is no page called {} here so please look elsewhere for what you want to find"
    lease = replace(LEASE, host_pages=PROBE_KNOWN_AT)
    words = await watch.take_probe(lease, ParsedPage(url=SITE + "/no", text=missing.format("/no")))
    assert str(words) == "pages that are not there have a page"
    page = ParsedPage(url=SITE + "/yes", text=missing.format("/yes"))
    assert await watch.is_missing(lease, page)
    assert await other.is_missing(lease, page)
    assert not await watch.is_missing(lease, ParsedPage(url=SITE + "/yes", text=SENTENCES[0]))


async def test_a_host_that_refuses_the_probe_misses_nothing(frontier):
    watch = TrapDetector(frontier)
    lease = replace(LEASE, host_pages=PROBE_KNOWN_AT)
    assert await watch.take_probe(lease, None) == Reason(ReasonKind.PROBE)
    assert not await watch.is_missing(lease, ParsedPage(url=SITE + "/", text=""))
