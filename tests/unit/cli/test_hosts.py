"""thresher hosts says why a host is left alone, and releases it."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from thresher.cli import thresher
from thresher.crawl import CrawlSetup
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, Outcome, Settlement
from thresher.traps.detector import LEFT

TOPIC = "title: {en: solar cells}\nseeds: ['http://a.example/']\npoliteness: {contact: me@example.org}\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    return tmp_path


def with_frontier(folder, change):
    async def run():
        frontier = CrawlSetup.open(folder).backend.frontier()
        try:
            return await change(frontier)
        finally:
            await frontier.close()

    return asyncio.run(run())


async def park(frontier):
    await frontier.add([Candidate(url="http://a.example/", score=0)])
    [lease] = await frontier.lease(1, seconds=60)
    reason = Reason.of(ReasonKind.LOW_HARVEST, 50, 0)
    settlement = Settlement(lease=lease, outcome=Outcome.DONE, page=True, park=reason)
    await frontier.commit([settlement])


async def leave(frontier):
    for number in range(5):
        await frontier.add([Candidate(url=f"http://a.example/{number}", score=0)])
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True)])
    await frontier.put_state("a.example", LEFT, json.dumps({"/day/date": "60 pages like /day/date"}), seconds=60)


def run(*arguments):
    return CliRunner().invoke(thresher, [str(argument) for argument in arguments])


def listed(folder):
    return json.loads(run("hosts", folder, "--json").stdout)


def test_a_parked_host_says_why_and_can_be_released(folder):
    with_frontier(folder, park)
    assert "gave 50 pages, none of them relevant" in run("hosts", folder).stdout
    assert run("hosts", folder, "--release", "A.example").stdout == "a.example is released.\n"
    [host] = listed(folder)
    assert host["parked"] == ""


def test_parts_that_are_left_alone_are_listed_and_can_be_released(folder):
    with_frontier(folder, leave)
    assert "not /day/date: 60 pages like /day/date" in run("hosts", folder, "--wide").stdout
    [host] = listed(folder)
    assert host["left_alone"] == {"/day/date": "60 pages like /day/date"}
    assert run("hosts", folder, "--release", "a.example").exit_code == 0
    assert listed(folder)[0]["left_alone"] == {}


def test_a_host_that_is_not_parked_cannot_be_released(folder):
    answer = run("hosts", folder, "--release", "b.example")
    assert answer.exit_code != 0
    assert "b.example is not parked" in answer.output + str(answer.exception)
