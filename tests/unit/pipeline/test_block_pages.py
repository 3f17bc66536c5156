"""A block page is counted as blocked: it is not judged, nothing is learned from it, and its host is fetched less."""

import pytest

from testing.block_pages import walls
from tests.unit.pipeline.test_pipeline import SEED, WordJudge, World
from thresher.frontier.base import UrlState
from thresher.politeness.settings import Politeness
from thresher.records import BlockKind, FetchedPage, Outcome, UsageSignal
from thresher.refresh.revisit import Validators

FIRST = {
    **{kind: next(case for case in walls() if case.kind is kind).html for kind in BlockKind},
    BlockKind.PARKING: next(case for case in walls() if case.name == "parking: server default").html,
}
SOLAR = "<title>Solar</title><p>solar cells</p>"


class Recorded(WordJudge):
    """Counts what it is asked."""

    def __init__(self):
        self.judged = []

    def judge(self, page):
        self.judged.append(page.url)
        return super().judge(page)


async def seeded(**rules):
    world = World(judge=Recorded(), **{"skip_block_pages": True, **rules})
    world.judge = world.pipeline._judge
    await world.pipeline.seed([SEED])
    return world


@pytest.mark.parametrize("kind", [kind for kind in BlockKind if kind is not BlockKind.CHALLENGE])
async def test_a_block_page_fails_with_its_kind_and_is_not_judged(kind):
    world = await seeded()
    record = await world.fetch(FIRST[kind])
    assert (record.outcome, record.page, record.blocked) == (Outcome.FAILED, False, kind)
    assert str(record.reason).startswith(str(kind.reason))
    entry = await world.frontier.find(SEED)
    assert (entry.state, entry.reason) == (UrlState.FAILED, kind.reason)
    assert world.judge.judged == []
    counts = await world.frontier.counts()
    assert (counts.pages, counts.relevant, counts.failed) == (0, 0, 1)


async def test_a_challenge_is_tried_once_more():
    world = await seeded()
    first = await world.fetch(FIRST[BlockKind.CHALLENGE])
    assert (first.outcome, first.blocked) == (Outcome.RETRY, "challenge")
    second = await world.fetch(FIRST[BlockKind.CHALLENGE])
    assert second.outcome is Outcome.FAILED
    assert world.judge.judged == []


async def test_a_challenge_that_passes_leaves_an_ordinary_page():
    world = await seeded()
    await world.fetch(FIRST[BlockKind.CHALLENGE])
    record = await world.fetch(SOLAR)
    assert (record.page, record.relevant, record.blocked) == (True, True, "")


@pytest.mark.parametrize("status", [403, 503])
async def test_a_challenge_with_an_error_status_is_one_too(status):
    world = await seeded()
    record = await world.fetch(FIRST[BlockKind.CHALLENGE], status=status)
    assert (record.blocked, record.status) == ("challenge", status)


async def test_an_error_page_with_an_error_status_keeps_its_status_as_reason():
    world = await seeded()
    record = await world.fetch(FIRST[BlockKind.ERROR], status=403)
    assert (str(record.reason), record.blocked) == ("http 403", "")


async def test_a_busy_server_that_says_when_to_return_is_not_a_challenge():
    world = await seeded()
    record = await world.fetch(FIRST[BlockKind.CHALLENGE], status=503, retry_after="60")
    assert (str(record.reason), record.blocked) == ("http 503", "")


async def test_block_pages_are_pages_where_the_user_keeps_them():
    world = await seeded(skip_block_pages=False)
    assert (await world.fetch(FIRST[BlockKind.LOGIN])).page


async def test_the_strategy_is_not_notified_of_a_block_page():
    world = await seeded()
    world.pipeline._links.on_miss = lambda lease: pytest.fail("the strategy was told")
    await world.fetch(FIRST[BlockKind.CONSENT])


async def test_the_host_rests_longer_after_each_block_page():
    world = await seeded()
    await world.frontier.add([candidate._replace(url=f"{SEED}{n}") for n, candidate in enumerate(seeds(world) * 3)])
    for pause in (4.0, 8.0):
        [lease] = await world.frontier.lease(1, seconds=60)
        page = answer(lease, FIRST[BlockKind.LOGIN], world)
        await world.pipeline.process(lease, page, delay_seconds=2.0)
        assert await world.frontier.seconds_to_next() == pytest.approx(pause)
        world.clock.now += pause


async def test_a_visit_that_meets_a_wall_does_not_replace_the_page():
    world = await seeded()
    validators = Validators(text_hash=1, relevant=True)
    await world.frontier.add(
        [candidate._replace(url=f"{SEED}v", strategy_data=validators.added_to({})) for candidate in seeds(world)]
    )
    await world.fetch(SOLAR)
    record = await world.fetch(FIRST[BlockKind.LOGIN])
    assert (record.url, record.page, record.blocked) == (f"{SEED}v", False, "login")


async def test_opt_outs_are_recorded_with_the_page():
    world = await seeded()
    record = await world.fetch(f'<meta name="robots" content="noai">{SOLAR}', tdm_reservation="1")
    assert (record.page, record.opt_outs) == (True, ("noai", "tdm"))
    assert record.signals == (
        UsageSignal("header", "tdm-reservation", "1"),
        UsageSignal("markup", "robots", "noai"),
    )


async def test_a_page_that_opts_out_is_left_out_where_opt_outs_are_obeyed():
    world = await seeded(politeness=Politeness(obey_opt_outs=True))
    world.pipeline._links.on_miss = lambda lease: pytest.fail("the strategy was told")
    record = await world.fetch(f'{SOLAR}<a href="/next">next</a>', x_robots_tag="noai")
    assert (record.outcome, record.page, record.text, record.links) == (Outcome.FAILED, False, "", [])
    assert (str(record.reason), record.opt_outs) == ("opted out: noai", ("noai",))
    assert record.signals == (UsageSignal("header", "x-robots-tag", "noai"),)
    assert world.judge.judged == []


async def test_a_response_without_a_page_has_its_signals_too():
    world = await seeded()
    record = await world.fetch(status=401, www_authenticate='License error="invalid_request"')
    assert (record.page, record.opt_outs, [signal.statement for signal in record.signals]) == (
        False,
        ("rsl",),
        ["www-authenticate"],
    )


async def test_a_denied_search_is_recorded_and_has_no_effect():
    world = await seeded(politeness=Politeness(obey_opt_outs=True))
    record = await world.fetch(SOLAR, content_signal="search=no")
    assert (record.page, record.opt_outs) == (True, ("search",))


def seeds(world):
    return list(world.pipeline._strategy.seeds([SEED]))


def answer(lease, html, world):
    headers = {"content-type": "text/html"}
    return FetchedPage(url=lease.url, status=200, headers=headers, body=html.encode(), fetched_at=world.clock.now)
