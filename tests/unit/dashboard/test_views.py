"""What can be seen of a crawl; every view keeps the shape that the API promises."""

import asyncio
import time
from itertools import count

import pytest

from tests.faults import dashboard_world as world
from thresher.dashboard.api import answers
from thresher.dashboard.desk import Desk
from thresher.dashboard.errors import UnknownCrawl
from thresher.dashboard.views import frontier as frontier_view
from thresher.engine.robots import RobotsKeeper
from thresher.errors import ConfigError, StoreError, StoreUnreachable
from thresher.labels import Label
from thresher.traps.watch import LEFT
from thresher.wishes import Wishes, wish

HOSTS = 6


async def change(crawl, what):
    frontier = crawl.frontier()
    try:
        return await what(frontier)
    finally:
        await frontier.close()


def held(model, answer):
    """Hold an answer to its model, and give it back."""
    model.model_validate(answer, strict=True)
    return answer


async def test_a_crawl_that_was_never_run_is_shown_and_nothing_is_made(desk, new_crawl):
    before = sorted(new_crawl.folder.root.iterdir())
    status = held(answers.Status, await desk.status("new"))
    assert (status["state"], status["counts"]["waiting"], status["can"]) == ("stopped", 0, ["start"])
    held(answers.Harvest, await desk.harvest("new"))
    held(answers.PageRows, await desk.pages("new"))
    held(answers.Frontier, await desk.frontier("new"))
    held(answers.Hosts, await desk.hosts("new"))
    held(answers.Workers, await desk.workers("new"))
    held(answers.Labels, await desk.labels("new"))
    held(answers.Page, await desk.page("new", url="http://a.example/"))
    assert sorted(new_crawl.folder.root.iterdir()) == before


async def test_status_counts_pages_as_they_are_judged_now(desk):
    status = held(answers.Status, await desk.status("small"))
    harvest = held(answers.Harvest, await desk.harvest("small", points=4))
    assert status["counts"]["pages"] == 60
    assert status["counts"]["relevant"] == harvest["relevant"]
    assert status["harvest_rate"] == pytest.approx(harvest["relevant"] / 60)
    assert status["limit"] == {"code": "stopped", "number": 0}


async def test_a_run_that_is_under_way_says_what_limits_it(desk, crawl):
    await change(crawl, lambda frontier: wish(frontier, Wishes(paused=False, pages=500)))
    with crawl.folder.only_one_run():
        running = held(answers.Status, await desk.status("small"))
        await change(crawl, lambda frontier: wish(frontier, Wishes(paused=True, pages=500)))
        desk.forget("small")
        paused = held(answers.Status, await desk.status("small"))
    desk.forget("small")
    stopped = await desk.status("small")
    assert (running["state"], running["limit"]["code"], running["can"]) == (
        "running",
        "busy",
        ["pause", "stop", "budgets"],
    )
    assert (paused["state"], paused["limit"]["code"], paused["can"]) == (
        "paused",
        "paused",
        ["resume", "stop", "budgets"],
    )
    assert running["budgets"]["pages"] == {"limit": 500, "used": 60}
    assert running["budgets"]["minutes"]["used"] >= 0
    assert stopped["budgets"]["pages"]["limit"] is None


async def test_the_rate_of_a_point_is_that_of_the_pages_since_the_one_before(desk):
    points = (await desk.harvest("small", points=4))["points"]
    assert [point["pages"] for point in points] == [15, 30, 45, 60]
    before = 0
    for point in points:
        assert point["rate"] == pytest.approx((point["relevant"] - before) / 15)
        before = point["relevant"]


async def test_a_curve_has_no_more_points_than_pages(desk):
    assert len((await desk.harvest("small", points=500))["points"]) == 60


async def test_pages_come_newest_or_best_first_and_in_portions(desk):
    newest = held(answers.PageRows, await desk.pages("small", limit=50))
    rest = await desk.pages("small", limit=50, offset=50)
    times = [page["fetched_at"] for page in newest["pages"] + rest["pages"]]
    assert times == sorted(times, reverse=True)
    assert (len(times), newest["more"], rest["more"]) == (60, True, False)
    best = await desk.pages("small", order="relevance", relevant=True, limit=5)
    worth = [page["relevance"] for page in best["pages"]]
    assert worth == sorted(worth, reverse=True)
    assert all(page["relevant"] for page in best["pages"])


async def test_a_page_says_why_it_is_there_and_by_which_words(desk):
    page = held(answers.Page, await desk.page("small", url=world.page_url(30, HOSTS)))
    assert [hop["url"] for hop in page["path"]] == [world.page_url(number, HOSTS) for number in (0, 1, 6, 30)]
    assert page["path"][-1]["anchor"]
    assert len(page["links"]) == world.LINKS
    assert [link["score"] for link in page["links"]] == sorted((link["score"] for link in page["links"]), reverse=True)
    assert page["words"]
    assert page["text"].startswith(page["title"])
    assert page["label"] is None


async def test_what_is_no_address_is_refused_in_words(desk):
    with pytest.raises(ConfigError, match="not an http or https URL"):
        await desk.page("small", url="javascript:alert(1)")


async def test_labels_are_shown_as_they_are_said(desk, crawl):
    url = world.page_url(3, HOSTS)
    await crawl.labels().say([Label(url=url, relevant=True, at=1.0)])
    assert (await desk.page("small", url=url))["label"] is True
    assert (await desk.status("small"))["labels"] == {"yes": 1, "no": 0}
    await crawl.labels().say([Label(url=url, relevant=None, at=2.0)])
    assert (await desk.page("small", url=url))["label"] is None
    assert [label["relevant"] for label in held(answers.Labels, await desk.labels("small"))["labels"]] == [True, None]


async def test_the_queue_is_shown_with_its_reasons(desk):
    queue = held(answers.Frontier, await desk.frontier("small", limit=20))
    scores = [entry["score"] for entry in queue["next"]]
    assert scores == sorted(scores, reverse=True)
    assert sum(bucket["count"] for bucket in queue["histogram"]) == queue["waiting"] == 200
    assert not queue["sampled"]
    found = [entry for entry in queue["next"] if entry["anchor"]]
    assert found
    assert all(entry["parent"] and entry["parent_title"] and entry["parts"] for entry in found)


async def test_a_long_queue_is_shown_by_a_sample(desk, monkeypatch):
    monkeypatch.setattr(frontier_view, "SAMPLED", 50)
    queue = held(answers.Frontier, await desk.frontier("small"))
    assert queue["sampled"]
    assert sum(bucket["count"] for bucket in queue["histogram"]) == pytest.approx(200, abs=20)


async def test_hosts_say_who_is_parked_what_is_left_alone_and_what_robots_said(desk, crawl):
    async def prepare(frontier):
        await frontier.park("h1.example", "gave 50 pages, none of them relevant")
        await frontier.remember("h2.example", LEFT, '{"/calendar": "too many"}', seconds=60)
        keeper = RobotsKeeper(frontier, token="Thresher")
        await keeper.learn("https://h2.example/robots.txt", 200, b"User-agent: *\nDisallow: /x\n")
        await keeper.learn("http://h3.example/robots.txt", 404)
        await keeper.learn("http://h4.example/robots.txt", 503)
        await keeper.learn("http://h5.example/robots.txt", 301, target="http://www.h5.example/robots.txt")

    await change(crawl, prepare)
    listed = held(answers.Hosts, await desk.hosts("small"))["hosts"]
    hosts = {host["host"]: host for host in listed}
    assert [host["host"] for host in (await desk.hosts("small", parked=True))["hosts"]] == ["h1.example"]
    assert hosts["h1.example"]["parked"] == "gave 50 pages, none of them relevant"
    assert hosts["h2.example"]["left_alone"] == {"/calendar": "too many"}
    states = {name: host["robots"]["state"] for name, host in hosts.items()}
    assert states == {
        "h0.example": "unknown",
        "h1.example": "unknown",
        "h2.example": "read",
        "h3.example": "none",
        "h4.example": "unreadable",
        "h5.example": "elsewhere",
    }


async def test_workers_of_this_machine_are_known_by_their_segments(desk):
    workers = held(answers.Workers, await desk.workers("small"))["workers"]
    assert [(worker["name"], worker["pages"], worker["state"]) for worker in workers] == [
        ("w1", 30, "stopped"),
        ("w2", 30, "stopped"),
    ]


async def test_labels_on_urls_that_were_never_crawled_are_reported_as_such(desk):
    url = "http://a.example/never-crawled"
    taught = held(answers.Taught, await desk.tell("small", {url: True}, boundary=True))
    assert [(each["url"], each["status"]) for each in taught["urls"]] == [(url, "queued")]
    assert taught["boundary"]["below"] == taught["boundary"]["above"] == 0
    with pytest.raises(ConfigError, match="outside this crawl"):
        await desk.tell("small", {"http://a.example/picture.png": True})


async def test_boundary_questions_lie_on_both_sides_of_the_threshold(desk, crawl):
    asked = held(answers.Questions, await desk.questions("small", limit=10, boundary=True))["questions"]
    assert {question["why"] for question in asked} == {"boundary"}
    relevances = [question["relevance"] for question in asked]
    assert min(relevances) < crawl.threshold() <= max(relevances)


async def test_questions_are_pages_that_nobody_spoke_of(desk, crawl):
    asked = held(answers.Questions, await desk.questions("small", limit=3))["questions"]
    assert len(asked) == 3
    await crawl.labels().say([Label(url=asked[0]["url"], relevant=False, at=1.0)])
    desk.forget("small")
    again = await desk.questions("small", limit=3)
    assert asked[0]["url"] not in [question["url"] for question in again["questions"]]
    assert again["told"] == {"yes": 0, "no": 1}


async def test_what_is_told_changes_the_crawl_and_says_what(desk):
    url = (await desk.questions("small", limit=1))["questions"][0]["url"]
    taught = held(answers.Taught, await desk.tell("small", {url: True}))
    assert taught["heard"]
    assert taught["after"]["labelled"] == 1
    assert (await desk.status("small"))["labels"] == {"yes": 1, "no": 0}


async def test_a_search_finds_pages_once_they_are_in_the_index(desk):
    until = time.monotonic() + 20
    while not (found := await desk.search("small", q=world.WORDS[0], limit=3))["hits"]:
        assert time.monotonic() < until
        await asyncio.sleep(0.05)
    held(answers.Hits, found)
    assert len(found["hits"]) == 3
    assert "«" in found["hits"][0]["snippet"]
    assert (await desk.search("small", q="…"))["hits"] == []


async def test_an_index_that_grows_for_long_does_not_keep_the_dashboard_from_ending(crawl, monkeypatch):
    def endless(index, progress):
        for rows in count():
            progress(rows)
            time.sleep(0.001)

    monkeypatch.setattr("thresher.search.index.SearchIndex.catch_up", endless)
    desk = Desk({"small": crawl})
    assert (await desk.search("small", q=world.WORDS[0]))["growing"]
    await asyncio.wait_for(desk.close(), 10)


async def test_all_crawls_are_shown_side_by_side(desk):
    crawls = held(answers.Crawls, await desk.crawls())["crawls"]
    assert [crawl["name"] for crawl in crawls] == desk.names() == ["small", "new"]


async def test_a_name_that_is_not_shown_is_refused(desk):
    for ask in (desk.status, desk.harvest, desk.pages, desk.frontier, desk.hosts, desk.workers, desk.labels):
        with pytest.raises(UnknownCrawl):
            await ask("other")


async def test_a_store_that_falls_silent_leaves_the_last_numbers(desk, monkeypatch):
    async def away(_):
        raise StoreUnreachable("away")

    monkeypatch.setattr("thresher.dashboard.views.status.status", away)
    with pytest.raises(StoreUnreachable):
        await desk.status("small")
    monkeypatch.undo()
    known = await desk.status("small")
    monkeypatch.setattr("thresher.dashboard.views.status.status", away)
    desk.forget("small")
    status = held(answers.Status, await desk.status("small"))
    assert status["limit"]["code"] == "no_answer"
    assert status["counts"] == known["counts"]


async def test_pages_that_cannot_be_read_are_told_in_words_until_they_can(crawl):
    segment = crawl.folder.pages / "w1.db"
    whole = segment.read_bytes()
    segment.write_bytes(b"no database at all" * 1000)
    desk = Desk({"small": crawl})
    await desk.open()
    with pytest.raises(StoreError, match="cannot be read"):
        await desk.pages("small")
    segment.write_bytes(whole)
    assert len((await desk.pages("small"))["pages"]) == 50
    await desk.close()


async def test_a_new_segment_is_seen(desk, crawl):
    await desk.pages("small")
    world._write_segment(crawl.folder.pages / "w3.db", range(60, 70), HOSTS)
    until = time.monotonic() + 10
    while (await desk.pages("small", limit=1))["pages"][0]["url"] != world.page_url(69, HOSTS):
        assert time.monotonic() < until
        desk.forget("small")
        await asyncio.sleep(0.05)
