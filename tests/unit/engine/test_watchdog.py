"""A worker that stands still is ended by the kernel, and its page is blamed; one that was killed blames nobody."""

import os
import signal
import subprocess
import sys

import pytest

from thresher.engine.watchdog import REASON, CurrentUrl, mark_poisonous, poison_reason, shared_memory
from thresher.records import Candidate, Outcome, Settlement
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

URL = "http://a.example/page"


async def leased(frontier, tries):
    await frontier.add([Candidate(url=URL, score=0.5)])
    for _ in range(tries):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.RETRY)])
    [lease] = await frontier.lease(1, seconds=60)
    return lease


def test_a_note_is_read_by_every_process_that_shares_its_memory():
    with shared_memory() as file:
        mine, theirs = CurrentUrl(file.fileno()), CurrentUrl(os.dup(file.fileno()))
        assert mine.read() == ""
        theirs.write("http://a.example/a/long/one")
        theirs.write(URL)
        assert mine.read() == URL


def test_a_note_of_any_length_is_taken():
    with shared_memory() as file:
        note = CurrentUrl(file.fileno())
        note.write("x" * 10_000)
        assert note.read() == "x" * 4094


def test_what_is_parsed_is_noted_first():
    with shared_memory() as file:
        note = CurrentUrl(file.fileno())
        assert note.recording(lambda url, *_: note.read())(URL, b"", "") == URL


@pytest.mark.parametrize("code", [-signal.SIGPROF, -signal.SIGSEGV, -signal.SIGABRT])
async def test_a_page_that_a_worker_died_of_is_not_tried_again(code):
    frontier = MemoryFrontier()
    await mark_poisonous(frontier, URL, code)
    assert await poison_reason(frontier, await leased(frontier, tries=1)) == REASON


@pytest.mark.parametrize("code", [-signal.SIGKILL, -signal.SIGTERM, 0])
async def test_a_worker_that_was_killed_blames_no_page(code):
    frontier = MemoryFrontier()
    await mark_poisonous(frontier, URL, code)
    assert not await poison_reason(frontier, await leased(frontier, tries=1))


async def test_a_page_that_was_never_tried_is_not_looked_up():
    frontier = MemoryFrontier()
    await mark_poisonous(frontier, URL, -signal.SIGPROF)
    assert not await poison_reason(frontier, await leased(frontier, tries=0))


def test_c_code_that_does_not_return_is_ended():
    hanging = "from thresher.engine import watchdog; import re; watchdog.TIMEOUT_SECONDS = 0.1; watchdog.arm();"
    hanging += "re.match('(a*)*b', 'a' * 100)"
    assert subprocess.run([sys.executable, "-c", hanging], timeout=60).returncode == -signal.SIGPROF


def test_a_loop_that_turns_goes_on():
    turning = "from thresher.engine import watchdog; watchdog.TIMEOUT_SECONDS = 0.2\n"
    turning += "for _ in range(10):\n watchdog.arm(); sum(range(1_000_000))\nwatchdog.disarm(); sum(range(20_000_000))"
    assert subprocess.run([sys.executable, "-c", turning], timeout=60).returncode == 0
