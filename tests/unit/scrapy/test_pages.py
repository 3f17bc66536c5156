"""What a spider wants followed is scored as the strategy would, and nothing of it is left out."""

import pytest
from scrapy.http import HtmlResponse, Request

from testing.block_pages import walls
from thresher.judges.base import Judge
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import Candidate, FetchedPage, Judgement, Lease, Link, Merge, Outcome, ParsedPage, Settlement
from thresher.storage.page_store import NoArchive
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_scrapy.bridge import only_requested
from thresher_scrapy.pages import FIRST, Judged, SpiderPages, Wanted
from thresher_scrapy.requests import KEY

GOOD = Judgement(relevance=1.0, relevant=True)


class Says(Judge):
    """A judge that always says the same."""

    def judge(self, page):
        return GOOD


class ByAnchor:
    """Scores a link by the length of its anchor; links without one are dropped."""

    merge = Merge.MAX

    def seeds(self, urls):
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page, judgement, lease):
        for link in page.links:
            if link.anchor:
                yield Candidate(
                    url=link.url, score=len(link.anchor) / 100, strategy_data={"own": 1}, breakdown={"anchor": 1.0}
                )


@pytest.fixture
def pages():
    return spider_pages()


def spider_pages(**rules):
    strategy, judge = ByAnchor(), Says()
    pipeline = Pipeline(
        frontier=MemoryFrontier(),
        archive=NoArchive(),
        judge=judge,
        strategy=strategy,
        rules=PipelineRules(scope=UrlScope(), **rules),
    )
    return SpiderPages(pipeline, archive=NoArchive(), judge=judge, strategy=strategy)


def wanted(path, **more):
    return Wanted(
        candidate=Candidate(url=f"http://a.example/{path}", score=0.5, strategy_data={KEY: {"meta": path}}), **more
    )


def judged(*links):
    page = ParsedPage(url="http://a.example/", links=links)
    return Judged(
        fetched=FetchedPage(url=page.url, status=200, headers={}, body=b"", fetched_at=0.0), page=page, judgement=GOOD
    )


LEASE = Lease(url="http://a.example/", host="a.example", score=1.0, fence=1, until=9e9)


def test_links_of_the_page_are_scored_by_what_stands_there(pages):
    found = judged(Link(url="http://a.example/x", anchor="tea"), Link(url="http://a.example/y", anchor="more tea"))
    [y, x] = pages.scored(LEASE, found, [wanted("y"), wanted("x")])
    assert (y.score, x.score) == (pytest.approx(0.08), pytest.approx(0.03))
    assert x.strategy_data == {"own": 1, KEY: {"meta": "x"}}
    assert x.breakdown == {"anchor": 1.0}


def test_a_link_that_is_not_on_the_page_is_scored_by_what_the_spider_knows(pages):
    [x] = pages.scored(LEASE, judged(), [wanted("x", anchor="green tea")])
    assert x.score == pytest.approx(0.09)


def test_what_the_strategy_drops_comes_last_and_is_not_lost(pages):
    found = judged(Link(url="http://a.example/x", anchor="tea"), Link(url="http://a.example/y"))
    x, y, z = pages.scored(LEASE, found, [wanted("x"), wanted("y"), wanted("z")])
    assert x.score == y.score == z.score == pytest.approx(0.03)
    assert z.strategy_data == {KEY: {"meta": "z"}}


def test_links_that_the_spider_does_not_want_are_not_followed(pages):
    assert pages.scored(LEASE, judged(Link(url="http://a.example/x", anchor="tea")), []) == []


def test_what_comes_first_comes_first(pages):
    assert pages.scored(LEASE, judged(), [wanted("x", first=True)])[0].score == FIRST


async def test_only_what_a_spider_asked_for_enters_the_frontier():
    frontier = MemoryFrontier()
    guarded = only_requested(frontier)
    await guarded.add([Candidate(url="http://a.example/", score=1.0)])
    [lease] = await guarded.lease(1, seconds=60)
    links = [
        Candidate(url="http://b.example/x", score=0.5, strategy_data={KEY: {}}),
        Candidate(url="http://b.example/y", score=0.5),
    ]
    assert await guarded.commit([Settlement(lease=lease, outcome=Outcome.DONE, links=links)]) == [True]
    assert await frontier.find("http://b.example/x")
    assert await frontier.find("http://b.example/y") is None


async def test_a_block_page_is_not_relevant_and_fails_and_the_links_of_the_spider_are_kept():
    pages = spider_pages(skip_block_pages=True)
    frontier = pages._pipeline.frontier
    await frontier.add([Candidate(url="http://a.example/", score=1.0)])
    [lease] = await frontier.lease(1, seconds=60)
    login = next(case for case in walls() if case.kind == "login")
    response = HtmlResponse("http://a.example/", body=login.html.encode(), request=Request(lease.url))
    found = await pages.judge(lease, response)
    assert (found.judgement.relevant, found.blocked.kind) == (False, "login")
    assert await pages.settle(lease, found, [wanted("x")], delay_seconds=0.0)
    entry = await frontier.find("http://a.example/")
    assert (entry.state, str(entry.reason)) == ("failed", "blocked: login wall")
    assert await frontier.find("http://a.example/x")
