"""Copies are known by their text, or by the page that they name as the one to keep."""

import pytest

from thresher.pipeline.outcomes import DuplicateFinder, content_hash
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, ParsedPage, Settlement
from thresher.urls.canonical import fingerprint
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


class World:
    def __init__(self):
        self.frontier = MemoryFrontier()
        self.copies = DuplicateFinder(self.frontier)

    async def bring(self, url, text, canonical=""):
        """Settle a page; return whose copy it is."""
        await self.frontier.add([Candidate(url=url, score=0)])
        [lease] = await self.frontier.lease(1, seconds=60)
        page = ParsedPage(url=url, text=text, canonical=canonical)
        copy_of, content = await self.copies.look_up(page)
        await self.frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True, content=content)])
        return copy_of


@pytest.fixture
def world():
    return World()


A, PRINT, B, C = "http://a.example/1", "http://a.example/1?print", "http://b.example/1", "http://c.example/1"


async def test_a_text_belongs_to_the_page_that_brought_it_first(world):
    assert await world.bring(A, "solar") == 0
    assert await world.bring(B, "solar") == fingerprint(A)
    assert await world.bring(C, "lunar") == 0


async def test_pages_without_text_are_nobodys_copies(world):
    assert [await world.bring(A, ""), await world.bring(B, "")] == [0, 0]


@pytest.mark.parametrize("named_page_names_itself", ["", A])
async def test_a_page_is_a_copy_of_the_one_it_names(world, named_page_names_itself):
    assert await world.bring(A, "solar", named_page_names_itself) == 0
    assert await world.bring(PRINT, "solar in print", A) == fingerprint(A)
    assert await world.bring(B, "solar on b", A) == fingerprint(A)


async def test_the_named_page_gives_way_to_one_of_its_own_host_that_came_first(world):
    assert await world.bring(PRINT, "solar in print", A) == 0
    assert await world.bring(A, "solar", A) == fingerprint(PRINT)


async def test_nobody_pushes_out_the_page_of_another_host(world):
    assert await world.bring(B, "bought words", A) == 0
    assert await world.bring(A, "solar", A) == 0
    assert await world.bring(C, "solar on c", A) == fingerprint(A)


async def test_mirrors_that_name_a_page_that_never_comes_are_copies_of_the_first(world):
    assert await world.bring(B, "solar on b", A) == 0
    assert await world.bring(C, "solar on c", A) == fingerprint(B)


async def test_a_named_page_that_brought_no_page_is_no_original(world):
    await world.frontier.add([Candidate(url=A, score=0)])
    [lease] = await world.frontier.lease(1, seconds=60)
    moved = Settlement(lease=lease, outcome=Outcome.DONE, reason=legacy_reason(f"redirected to {B}"))
    await world.frontier.commit([moved])
    assert await world.bring(B, "solar", A) == 0


def test_only_a_text_has_a_hash():
    assert content_hash("") == 0 != content_hash("solar")


async def test_copies_that_are_under_way_together_are_known_too(world):
    pages = [ParsedPage(url=url, text="solar") for url in (A, B, C)]
    assert [(await world.copies.look_up(page))[0] for page in pages] == [0, fingerprint(A), fingerprint(A)]
    assert (await world.copies.look_up(pages[0]))[0] == 0  # fetched again after its lease was lost
