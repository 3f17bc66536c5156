"""What can be seen of a crawl; every view keeps the shape that the API promises."""

import asyncio
import time
from itertools import count

import pytest

from testing.screens import crawls as world
from thresher.config.run_options import RunOptions
from thresher.coordination.run_control import RunControl, set_run_control
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, StoreError, StoreUnreachable
from thresher.feedback.labels import Label
from thresher.politeness.robots import RobotsCache
from thresher.reasons.legacy import legacy_reason
from thresher.storage.reader import PageStoreReader
from thresher.traps.detector import LEFT
from thresher_ui.dashboard.api import responses
from thresher_ui.dashboard.errors import CrawlNotServed
from thresher_ui.dashboard.service import CrawlService
from thresher_ui.dashboard.views import frontier, harvest, hosts, label, page, pages, search, workers

HOSTS = 6


async def change(crawl, what):
    frontier = crawl.backend.frontier()
    try:
        return await what(frontier)
    finally:
        await frontier.close()


def held(model, answer):
    """Hold an answer to its model, and give it back."""
    model.model_validate(answer, strict=True)
    return answer


async def test_a_crawl_that_was_never_run_is_shown_and_nothing_is_made(service, new_crawl):
    before = sorted(new_crawl.folder.root.iterdir())
    status = held(responses.StatusResponse, await service.status("new"))
    assert (status["state"], status["counts"]["waiting"], status["can"]) == ("stopped", 0, ["start"])
    held(responses.HarvestResponse, await service.view("new", harvest.harvest))
    held(responses.PageRowsResponse, await service.view("new", pages.pages))
    held(responses.FrontierResponse, await service.view("new", frontier.frontier))
    held(responses.HostsResponse, await service.view("new", hosts.hosts))
    held(responses.WorkersResponse, await service.view("new", workers.workers))
    held(responses.LabelsResponse, await service.view("new", label.labels))
    held(responses.PageResponse, await service.view("new", page.page, url="http://a.example/"))
    assert sorted(new_crawl.folder.root.iterdir()) == before


async def test_status_counts_pages_as_they_are_judged_now(service):
    status = held(responses.StatusResponse, await service.status("small"))
    curve = held(responses.HarvestResponse, await service.view("small", harvest.harvest, points=4))
    assert status["counts"]["pages"] == 60
    assert status["counts"]["relevant"] == curve["relevant"]
    assert status["harvest_rate"] == pytest.approx(curve["relevant"] / 60)
    assert status["limit"] == {"code": "stopped", "number": 0}


async def test_a_run_that_is_under_way_says_what_limits_it(service, crawl):
    await change(crawl, lambda frontier: set_run_control(frontier, RunControl(paused=False, pages=500)))
    with crawl.folder.only_one_run():
        running = held(responses.StatusResponse, await service.status("small"))
        await change(crawl, lambda frontier: set_run_control(frontier, RunControl(paused=True, pages=500)))
        service.forget("small")
        paused = held(responses.StatusResponse, await service.status("small"))
    service.forget("small")
    stopped = await service.status("small")
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


async def test_the_rate_of_a_point_is_that_of_the_pages_since_the_one_before(service):
    points = (await service.view("small", harvest.harvest, points=4))["points"]
    assert [point["pages"] for point in points] == [15, 30, 45, 60]
    before = 0
    for point in points:
        assert point["rate"] == pytest.approx((point["relevant"] - before) / 15)
        before = point["relevant"]


async def test_a_curve_has_no_more_points_than_pages(service):
    assert len((await service.view("small", harvest.harvest, points=500))["points"]) == 60


async def test_pages_come_newest_or_best_first_and_in_portions(service):
    newest = held(responses.PageRowsResponse, await service.view("small", pages.pages, limit=50))
    rest = await service.view("small", pages.pages, limit=50, offset=50)
    times = [page["fetched_at"] for page in newest["pages"] + rest["pages"]]
    assert times == sorted(times, reverse=True)
    assert (len(times), newest["more"], rest["more"]) == (60, True, False)
    best = await service.view("small", pages.pages, order="relevance", relevant=True, limit=5)
    worth = [page["relevance"] for page in best["pages"]]
    assert worth == sorted(worth, reverse=True)
    assert all(page["relevant"] for page in best["pages"])


async def test_a_page_says_why_it_is_there_and_by_which_words(service):
    shown = held(responses.PageResponse, await service.view("small", page.page, url=world.page_url(30, HOSTS)))
    assert shown["path"][0]["url"] == world.page_url(0, HOSTS)
    assert shown["path"][-1]["url"] == world.page_url(30, HOSTS)
    assert [hop["url"] for hop in shown["details"]["path"]] == [hop["url"] for hop in shown["path"]]
    assert shown["path"][-1]["anchor"]
    assert len(shown["links"]) == world.LINKS
    assert [link["score"] for link in shown["links"]] == sorted(
        (link["score"] for link in shown["links"]), reverse=True
    )
    assert shown["words_for"] or shown["words_against"]
    assert shown["text"].startswith(shown["title"])
    assert shown["label"] is None


async def test_what_is_no_address_is_refused_in_words(service):
    with pytest.raises(ConfigError, match="not an http or https URL"):
        await service.view("small", page.page, url="javascript:alert(1)")


async def test_labels_are_shown_as_they_are_given(service, crawl):
    url = world.page_url(3, HOSTS)
    await crawl.backend.labels().append([Label(url=url, relevant=True, at=1.0)])
    assert (await service.view("small", page.page, url=url))["label"] is True
    assert (await service.status("small"))["labels"] == {"yes": 1, "no": 0}
    await crawl.backend.labels().append([Label(url=url, relevant=None, at=2.0)])
    assert (await service.view("small", page.page, url=url))["label"] is None
    assert [
        label["relevant"]
        for label in held(responses.LabelsResponse, await service.view("small", label.labels))["labels"]
    ] == [
        True,
        None,
    ]


async def test_the_queue_is_shown_with_its_reasons(service):
    queue = held(responses.FrontierResponse, await service.view("small", frontier.frontier, limit=20))
    scores = [entry["score"] for entry in queue["next"]]
    assert scores == sorted(scores, reverse=True)
    assert sum(bucket["count"] for bucket in queue["histogram"]) == queue["waiting"] == 200
    assert not queue["sampled"]
    found = [entry for entry in queue["next"] if entry["anchor"]]
    assert found
    assert all(entry["parent"] and entry["parent_title"] and entry["parts"] for entry in found)


async def test_a_long_queue_is_shown_by_a_sample(service, monkeypatch):
    monkeypatch.setattr(frontier, "SAMPLED", 50)
    queue = held(responses.FrontierResponse, await service.view("small", frontier.frontier))
    assert queue["sampled"]
    assert sum(bucket["count"] for bucket in queue["histogram"]) == pytest.approx(200, abs=20)


async def test_hosts_say_who_is_parked_what_is_left_alone_and_the_state_of_robots_txt(service, crawl):
    async def prepare(frontier):
        await frontier.park("h1.example", legacy_reason("gave 50 pages, none of them relevant"))
        await frontier.put_state("h2.example", LEFT, '{"/calendar": "too many"}', seconds=60)
        robots_cache = RobotsCache(frontier, token="Thresher")
        rules = b"User-agent: *\nDisallow: /x\nContent-Signal: /x ai-train=no\n"
        reserved = b'[{"location": "/", "tdm-reservation": 1}]'
        for scheme in ("http", "https"):
            await robots_cache.learn(f"{scheme}://h2.example/robots.txt", 200, rules)
            await robots_cache.learn(f"{scheme}://h2.example/.well-known/tdmrep.json", 200, reserved)
        await robots_cache.learn("http://h3.example/robots.txt", 404)
        await robots_cache.learn("http://h4.example/robots.txt", 503)
        await robots_cache.learn("http://h5.example/robots.txt", 301, target="http://www.h5.example/robots.txt")

    await change(crawl, prepare)
    listed = held(responses.HostsResponse, await service.view("small", hosts.hosts))["hosts"]
    by_host = {host["host"]: host for host in listed}
    assert [host["host"] for host in (await service.view("small", hosts.hosts, parked=True))["hosts"]] == ["h1.example"]
    assert by_host["h1.example"]["parked"] == "gave 50 pages, none of them relevant"
    assert by_host["h2.example"]["left_alone"] == {"/calendar": "too many"}
    [chinese] = (await service.view("small", hosts.hosts, parked=True, language="zh"))["hosts"]
    assert chinese["parked"] == "已得到 50 个页面，其中 0 个相关"
    assert by_host["h2.example"]["signals"] == [
        {"source": "robots.txt", "statement": "content-signal", "value": "ai-train=no", "path": "/x"},
        {"source": "tdmrep.json", "statement": "tdm-reservation", "value": "1", "path": "/"},
    ]
    assert {name for name, host in by_host.items() if host["signals"]} == {"h2.example"}
    states = {name: host["robots"]["state"] for name, host in by_host.items()}
    assert states == {
        "h0.example": "unknown",
        "h1.example": "unknown",
        "h2.example": "read",
        "h3.example": "none",
        "h4.example": "unreadable",
        "h5.example": "elsewhere",
    }


async def test_workers_of_this_machine_are_known_by_their_segments(service):
    listed = held(responses.WorkersResponse, await service.view("small", workers.workers))["workers"]
    assert [(worker["name"], worker["pages"], worker["state"]) for worker in listed] == [
        ("w1", 30, "stopped"),
        ("w2", 30, "stopped"),
    ]


async def test_labels_on_urls_that_were_never_crawled_are_reported_as_such(service):
    url = "http://a.example/never-crawled"
    taught = held(
        responses.LabellingResultResponse,
        await service.view("small", label.add_labels, labels={url: True}),
    )
    assert [(each["url"], each["status"]) for each in taught["urls"]] == [(url, "queued")]
    with pytest.raises(ConfigError, match="outside the scope of this crawl"):
        await service.view("small", label.add_labels, labels={"http://a.example/picture.png": True})


async def test_questions_begin_with_the_page_nearest_to_the_cut_and_name_its_rank(service, crawl):
    asked = held(responses.QuestionsResponse, await service.view("small", label.questions, limit=50))["questions"]
    with PageStoreReader(crawl.folder.pages) as collection:
        ranked = [record.relevance for record in collection.ranked()]
    cut, chances = crawl.threshold(), [each["relevance"] for each in asked]
    above = [chance for chance in chances if chance >= cut]
    below = [chance for chance in chances if chance < cut]
    assert above == sorted(above)
    assert below == sorted(below, reverse=True)
    assert {each["pages"] for each in asked} == {len(ranked)}
    assert all(ranked.index(each["relevance"]) == each["rank"] - 1 for each in asked)
    left = await service.view("small", label.questions, limit=1, without=(asked[0]["url"],))
    assert left["questions"][0]["url"] == asked[1]["url"]


async def test_questions_are_pages_that_nobody_spoke_of(service, crawl):
    asked = held(responses.QuestionsResponse, await service.view("small", label.questions, limit=3))["questions"]
    assert len(asked) == 3
    await crawl.backend.labels().append([Label(url=asked[0]["url"], relevant=False, at=1.0)])
    service.forget("small")
    again = await service.view("small", label.questions, limit=3)
    assert asked[0]["url"] not in [question["url"] for question in again["questions"]]
    assert again["label_counts"] == {"yes": 0, "no": 1}


async def test_a_new_label_is_applied_and_the_answer_says_what_changed(service):
    url = (await service.view("small", label.questions, limit=1))["questions"][0]["url"]
    taught = held(responses.LabellingResultResponse, await service.view("small", label.add_labels, labels={url: True}))
    assert taught["applied"]
    assert taught["after"]["labelled"] == 1
    assert (await service.status("small"))["labels"] == {"yes": 1, "no": 0}


async def test_a_search_finds_pages_once_they_are_in_the_index(service):
    until = time.monotonic() + 20
    while not (found := await service.view("small", search.search, q=world.WORDS[0], limit=3))["hits"]:
        assert time.monotonic() < until
        await asyncio.sleep(0.05)
    held(responses.HitsResponse, found)
    assert len(found["hits"]) == 3
    assert "«" in found["hits"][0]["snippet"]
    assert (await service.view("small", search.search, q="…"))["hits"] == []


async def test_an_index_that_grows_for_long_does_not_keep_the_dashboard_from_ending(crawl, monkeypatch):
    def endless(index, progress):
        for rows in count():
            progress(rows)
            time.sleep(0.001)

    monkeypatch.setattr("thresher.search.index.SearchIndex.catch_up", endless)
    service = CrawlService({"small": crawl})
    assert (await service.view("small", search.search, q=world.WORDS[0]))["growing"]
    await asyncio.wait_for(service.close(), 10)


async def test_all_crawls_are_shown_side_by_side(service):
    crawls = held(responses.CrawlsResponse, await service.crawls())["crawls"]
    assert [crawl["name"] for crawl in crawls] == service.names() == ["small", "new"]


async def test_a_name_that_is_not_shown_is_refused(service):
    with pytest.raises(CrawlNotServed):
        await service.status("other")
    for view in (harvest.harvest, pages.pages, frontier.frontier, hosts.hosts, workers.workers, label.labels):
        with pytest.raises(CrawlNotServed):
            await service.view("other", view)


async def test_a_store_that_falls_silent_leaves_the_last_numbers(service, monkeypatch):
    async def away(_):
        raise StoreUnreachable("away")

    monkeypatch.setattr("thresher_ui.dashboard.views.status.status", away)
    with pytest.raises(StoreUnreachable):
        await service.status("small")
    monkeypatch.undo()
    known = await service.status("small")
    monkeypatch.setattr("thresher_ui.dashboard.views.status.status", away)
    service.forget("small")
    status = held(responses.StatusResponse, await service.status("small"))
    assert status["limit"]["code"] == "no_answer"
    assert status["counts"] == known["counts"]


async def test_pages_that_cannot_be_read_are_reported_in_words_until_they_can(crawl):
    segment = crawl.folder.pages / "w1.db"
    whole = segment.read_bytes()
    segment.write_bytes(b"no database at all" * 1000)
    service = CrawlService({"small": crawl})
    await service.open()
    with pytest.raises(StoreError, match="cannot be read"):
        await service.view("small", pages.pages)
    segment.write_bytes(whole)
    assert len((await service.view("small", pages.pages))["pages"]) == 50
    await service.close()


async def test_a_new_segment_is_seen(service, crawl):
    await service.view("small", pages.pages)
    world._write_segment(crawl.folder.pages / "w3.db", range(60, 70), HOSTS)
    until = time.monotonic() + 10
    while (await service.view("small", pages.pages, limit=1))["pages"][0]["url"] != world.page_url(69, HOSTS):
        assert time.monotonic() < until
        service.forget("small")
        await asyncio.sleep(0.05)


async def test_status_has_how_much_is_in_the_collection(crawl, tmp_path):
    with_collection = CrawlSetup.open(crawl.folder.root, RunOptions(collection=f"file://{tmp_path}/storage"))
    service = CrawlService({"small": with_collection})
    await service.open()
    try:
        status = held(responses.StatusResponse, await service.status("small"))
    finally:
        await service.close()
    assert (status["collection"]["rows"], status["collection"]["waiting_rows"]) == (0, 60)
