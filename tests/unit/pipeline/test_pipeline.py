"""The line takes an answer from parse to commit, and leaves nothing undone."""

import pytest

from testing.clock import Clock
from thresher.frontier.base import MAX_TRIES, UrlState
from thresher.parsing.isolated import HEAVY_BYTES, Unparsable
from thresher.parsing.main_content import stored_markup
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.outcomes import BUSY_SECONDS, MAX_REDIRECTS, PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.host_budget import HostBudget
from thresher.politeness.settings import Politeness
from thresher.records import FetchedPage, Judgement, Outcome
from thresher.storage.page_store import PageRecord
from thresher.strategies.best_first import BestFirst
from thresher.urls.canonical import fingerprint
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

SEED = "http://a.example/"


class MemoryArchive:
    """An archive that a test can look into, and that knows what the frontier knew when it was written."""

    def __init__(self):
        self.records: list[PageRecord] = []
        self.revisions = []

    async def append(self, records):
        self.records.extend(records)

    async def revise(self, revisions):
        self.revisions.extend(revisions)

    def close(self):
        pass


class WordJudge:
    def judge(self, page):
        relevance = 0.75 if "solar" in page.text else 0.0
        return Judgement(relevance=relevance, relevant=relevance > 0.1, breakdown={"word": relevance})

    def words(self, page):
        return []


class World:
    def __init__(self, judge=None, stored_markup=None, **rules):
        self.clock, self.archive = Clock(), MemoryArchive()
        self.frontier = MemoryFrontier(clock=self.clock)
        rules = PipelineRules(**{"scope": UrlScope(), **rules})
        self.pipeline = Pipeline(
            frontier=self.frontier,
            archive=self.archive,
            judge=judge or WordJudge(),
            strategy=BestFirst(),
            rules=rules,
            stored_markup=stored_markup,
        )

    async def fetch(self, html="", status=200, **headers):
        [lease] = await self.frontier.lease(1, seconds=60)
        named = {"content-type": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
        page = FetchedPage(url=lease.url, status=status, headers=named, body=html.encode(), fetched_at=self.clock.now)
        return await self.pipeline.process(lease, page)

    async def state(self, url):
        entry = await self.frontier.find(url)
        return entry.state if entry else None


@pytest.fixture
async def world():
    world = World()
    await world.pipeline.seed([SEED])
    return world


async def test_a_page_is_kept_and_its_links_wait(world):
    record = await world.fetch('<title>T</title><p>solar</p><a href="/1">one</a><a href="http://b.example/">b</a>')
    assert (record.title, record.relevance, record.depth, record.parent) == ("T", 0.75, 0, 0)
    assert [(link.url, link.anchor, link.score) for link in record.links] == [
        ("http://a.example/1", "one", 0.75),
        ("http://b.example/", "b", 0.75),
    ]
    assert await world.state(SEED) is UrlState.DONE
    entry = await world.frontier.find("http://b.example/")
    assert (entry.state, entry.hops, entry.parent) == (UrlState.WAITING, 1, fingerprint(SEED))
    counts = await world.frontier.counts()
    assert (counts.pages, counts.relevant) == (1, 1)


async def test_links_to_itself_and_repeated_links_count_once(world):
    record = await world.fetch('<a href="/">me</a><a href="/1"></a><a href="/1">words</a>')
    assert [(link.url, link.anchor) for link in record.links] == [("http://a.example/1", "words")]


async def test_links_out_of_scope_are_not_queued():
    world = World(scope=UrlScope(deny_hosts=("*.b.example",), max_depth=1))
    await world.pipeline.seed([SEED])
    record = await world.fetch('<a href="http://www.b.example/">b</a><a href="/1">one</a><a href="/x.jpg">pic</a>')
    assert [link.url for link in record.links] == ["http://a.example/1"]
    deeper = await world.fetch('<a href="/2">two</a>')
    assert deeper.links == []


async def test_a_strategy_does_not_receive_links_out_of_scope():
    world, received = World(scope=UrlScope(deny_hosts=("b.example",))), []
    score = world.pipeline._strategy.score
    world.pipeline._strategy.score = lambda page, *rest: received.append(page) or score(page, *rest)
    await world.pipeline.seed([SEED])
    await world.fetch('<a href="http://b.example/">b</a><a href="/1">one</a>')
    assert [[link.url for link in page.links] for page in received] == [["http://a.example/1"]]


async def test_nofollow_is_obeyed(world):
    record = await world.fetch('<a href="/1" rel="nofollow">1</a><a href="/2">2</a>')
    assert [link.url for link in record.links] == ["http://a.example/2"]


async def test_a_page_that_asks_for_it_has_no_links(world):
    record = await world.fetch('<meta name="robots" content="nofollow"><a href="/1">1</a>')
    assert record.links == []


async def test_headers_ask_like_the_page_itself(world):
    record = await world.fetch("<p>solar</p><a href=/1>1</a>", x_robots_tag="reaper: noindex\nnofollow")
    assert record.links == []
    assert record.text != ""


async def test_a_page_that_asks_not_to_be_kept_is_not_but_its_links_are_followed(world):
    record = await world.fetch("<p>solar</p><a href=/1>1</a>", x_robots_tag="noindex")
    assert (record.text, record.relevant) == ("", True)
    assert [link.url for link in record.links] == ["http://a.example/1"]


async def test_a_host_that_refuses_five_times_in_a_row_is_parked(world):
    await world.fetch("".join(f"<a href=/{number}>{number}</a>" for number in range(9)) + "solar")
    for _ in range(5):
        await world.fetch(status=429)
        world.clock.now += 1000
    [host] = await world.frontier.hosts()
    assert str(host.parked) == "http 429, 5 times in a row"


async def test_nofollow_can_be_ignored():
    world = World(politeness=Politeness(obey_nofollow=False))
    await world.pipeline.seed([SEED])
    record = await world.fetch('<a href="/1" rel="nofollow">1</a>')
    assert len(record.links) == 1


async def test_text_of_irrelevant_pages_is_not_kept(world):
    assert (await world.fetch("<p>tea</p>")).text == ""


async def test_the_markup_is_kept_of_pages_whose_text_is_kept_and_of_no_others():
    world = World(stored_markup=stored_markup)
    await world.pipeline.seed([SEED])
    kept = await world.fetch('solar <a href="/b">b</a>')
    assert kept.markup == 'solar <a href="/b">b</a>'
    assert (await world.fetch("wind")).markup == ""


async def test_no_markup_is_kept_of_a_page_that_asks_not_to_be_kept():
    world = World(stored_markup=stored_markup)
    await world.pipeline.seed([SEED])
    assert (await world.fetch("<p>solar</p>", x_robots_tag="noindex")).markup == ""


async def test_the_markup_of_a_heavy_page_is_kept():
    world = World(stored_markup=stored_markup)
    await world.pipeline.seed([SEED])
    source = f"<p>{'solar cells ' * 25_000}</p>"
    assert (await world.fetch(source)).markup == source


async def test_text_of_irrelevant_pages_is_kept_when_asked_for():
    world = World(keep_irrelevant=True)
    await world.pipeline.seed([SEED])
    assert (await world.fetch("<p>tea</p>")).text == "tea"


async def test_a_copy_is_a_duplicate_and_adds_no_links(world):
    await world.pipeline.seed(["http://b.example/"])
    first = await world.fetch('<p>solar</p><a href="/1">next</a>')
    second = await world.fetch('<p>solar</p><a href="/1">next</a>')
    assert (first.duplicate_of, second.duplicate_of) == (0, first.fingerprint)
    assert second.links == []
    assert (await world.frontier.counts()).relevant == 1


async def test_the_same_page_fetched_again_is_no_duplicate_of_itself(world):
    record = await world.fetch('<p>solar</p><a href="/1">next</a>')
    assert await world.frontier.content_owner(record.text_hash) == record.fingerprint


async def test_a_redirect_becomes_an_entry_of_its_own(world):
    record = await world.fetch(status=301, location="http://b.example/new")
    assert str(record.reason) == "redirected to http://b.example/new"
    entry = await world.frontier.find("http://b.example/new")
    assert (entry.state, entry.hops, entry.parent) == (UrlState.WAITING, 0, fingerprint(SEED))
    assert (await world.frontier.counts()).pages == 0


async def test_the_problem_of_a_certificate_is_in_the_row_of_its_page(world):
    [lease] = await world.frontier.lease(1, seconds=60)
    page = FetchedPage(
        url=lease.url, status=200, headers={}, body=b"<p>solar", fetched_at=1.0, certificate="has expired"
    )
    record = await world.pipeline.process(lease, page)
    assert (record.page, str(record.reason)) == (True, "its certificate has expired")
    assert str((await world.frontier.find(SEED)).reason) == ""  # a page like any other


async def test_redirects_end(world):
    for number in range(MAX_REDIRECTS):
        await world.fetch(status=302, location=f"/{number}")
    record = await world.fetch(status=302, location="/once-more")
    assert (record.outcome, str(record.reason)) == (Outcome.FAILED, "more than 10 redirects")


async def test_a_refresh_at_once_is_a_redirect(world):
    record = await world.fetch('<meta http-equiv=refresh content="0; url=/new"><p>solar <a href=/x>x</a>')
    assert str(record.reason) == "refreshes to http://a.example/new"
    assert not record.page
    assert await world.state("http://a.example/new") is UrlState.WAITING
    assert await world.state("http://a.example/x") is None


async def test_a_refresh_header_without_delay_is_a_redirect(world):
    record = await world.fetch("<p>solar", refresh="0; url=/new")
    assert str(record.reason) == "refreshes to http://a.example/new"
    assert await world.state("http://a.example/new") is UrlState.WAITING


@pytest.mark.parametrize(
    ("html", "headers"),
    [("<p>solar", {"refresh": "5; url=/new"}), ('<meta http-equiv=refresh content="5; url=/new"><p>solar', {})],
)
async def test_the_target_of_a_delayed_refresh_is_followed(world, html, headers):
    assert (await world.fetch(html, **headers)).page
    assert await world.state("http://a.example/new") is UrlState.WAITING


async def test_refreshes_end(world):
    for number in range(MAX_REDIRECTS):
        await world.fetch(f'<meta http-equiv=refresh content="0; url=/{number}">{number}')
    record = await world.fetch('<meta http-equiv=refresh content="0; url=/once-more">')
    assert (record.outcome, str(record.reason)) == (Outcome.FAILED, "more than 10 redirects")


async def test_a_refresh_of_a_page_whose_links_are_not_to_be_followed_is_not_followed(world):
    head = '<meta name=robots content=nofollow><meta http-equiv=refresh content="0; url=/new">'
    assert (await world.fetch(f"{head}<p>solar")).page
    assert await world.state("http://a.example/new") is None


async def test_a_page_of_which_a_part_came_says_so(world):
    [lease] = await world.frontier.lease(1, seconds=60)
    page = FetchedPage(url=SEED, status=200, headers={}, body=b"<p>solar", fetched_at=0.0, truncated=True)
    record = await world.pipeline.process(lease, page)
    assert (record.page, str(record.reason)) == (True, "truncated")
    assert str((await world.frontier.find(SEED)).reason) == "truncated"


class Apart:
    """A parser for heavy pages, of which it can do none."""

    def __init__(self, *, final):
        self.final = final

    async def parse(self, url, body, content_type):
        raise Unparsable("more than 2 s", final=self.final)


@pytest.mark.parametrize(("final", "outcome"), [(True, Outcome.FAILED), (False, Outcome.RETRY)])
async def test_a_heavy_page_that_cannot_be_parsed_is_given_up(final, outcome):
    world = World()
    world.pipeline = Pipeline(
        frontier=world.frontier,
        archive=world.archive,
        judge=WordJudge(),
        strategy=BestFirst(),
        rules=PipelineRules(scope=UrlScope()),
        parser_process=Apart(final=final),
    )
    await world.pipeline.seed([SEED])
    record = await world.fetch("<p>solar" * HEAVY_BYTES)
    assert (record.outcome, str(record.reason)) == (outcome, "cannot be parsed: more than 2 s")


async def test_a_redirect_out_of_scope_fails():
    world = World(scope=UrlScope(deny_hosts=("b.example",)))
    await world.pipeline.seed([SEED])
    record = await world.fetch(status=301, location="http://b.example/")
    assert record.outcome is Outcome.FAILED
    assert await world.state("http://b.example/") is None


async def test_a_missing_page_has_failed_with_its_reason(world):
    await world.fetch(status=404)
    entry = await world.frontier.find(SEED)
    assert (entry.state, str(entry.reason)) == (UrlState.FAILED, "http 404")


async def test_a_busy_server_rests_longer_each_time_and_then_is_left_alone(world):
    for tries in range(MAX_TRIES):
        record = await world.fetch(status=503)
        rest = await world.frontier.seconds_to_next()
        if tries < MAX_TRIES - 1:
            assert record.outcome is Outcome.RETRY
            assert rest == pytest.approx(BUSY_SECONDS * 2**tries)
            world.clock.now += rest
    assert record.outcome is Outcome.FAILED
    [host] = await world.frontier.hosts()
    assert str(host.parked) == "no page in 5 tries: http 503"


async def test_retry_after_is_obeyed(world):
    await world.fetch(status=429, retry_after="100")
    assert await world.frontier.seconds_to_next() == pytest.approx(100)


async def test_a_host_that_gave_its_pages_is_parked():
    world = World(host_limits=HostPolicyConfig(budget=HostBudget(most=2)))
    await world.pipeline.seed([SEED])
    await world.fetch('<a href="/1">1</a><a href="/2">2</a>')
    await world.fetch("one")
    [host] = await world.frontier.hosts()
    assert str(host.parked) == "gave 2 pages, its budget"
    assert await world.frontier.lease(1, seconds=60) == []


async def test_a_page_that_breaks_the_judge_fails_and_the_crawl_goes_on(world, caplog):
    world.pipeline._judge = None
    record = await world.fetch("anything")
    assert (record.outcome, str(record.reason)) == (Outcome.FAILED, "processing error")
    assert SEED in caplog.text


async def test_pages_reach_the_archive_before_the_frontier(world):
    seen = []

    async def kept(records):
        seen.append("kept")

    world.archive.append = kept
    commit = world.frontier.commit

    async def committed(settlements):
        seen.append("committed")
        return await commit(settlements)

    world.frontier.commit = committed
    await world.fetch("x")
    assert seen == ["kept", "committed"]
