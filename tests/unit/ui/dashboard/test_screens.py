"""Every screen over a service without a crawl: what it shows, and that nothing strange becomes more than text."""

from urllib.parse import quote

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.applications import Starlette

from tests.unit.ui.dashboard.sample_service import OTHER, URL, SampleService, hop
from thresher.api.crawl import verdicts
from thresher_ui.dashboard.screens import SCREENS, routes
from thresher_ui.dashboard.service import CrawlService

PATHS = ["/", *(f"/solar/{path}" for path in SCREENS), "/wind%20%26%20sea/"]
ADDRESSES = [path if path != "/solar/page" else f"/solar/page?url={URL}" for path in PATHS]


@pytest.fixture
def service():
    return SampleService()


@pytest.fixture
async def browser(service):
    transport = httpx2.ASGITransport(app=Starlette(routes=routes(service)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        yield client


async def shown(browser, path, **headers):
    answer = await browser.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return LexborHTMLParser(answer.text)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("path", ADDRESSES)
async def test_every_screen_is_shown_in_every_language(browser, path, language):
    page = await shown(browser, path, **{"accept-language": language})
    assert page.css_first("html").attributes["lang"].startswith(language)
    assert len(page.css("h1")) == 1
    assert page.css_first("main") is not None


@pytest.mark.parametrize("path", ADDRESSES)
async def test_no_screen_needs_what_the_policy_forbids(browser, path):
    page = await shown(browser, path)
    assert page.css("style, [style], [onclick], [onload], iframe, object, embed") == []
    assert [script.attributes["src"] for script in page.css("script")] == ["/static/thresher.js"]
    assert [script.text() for script in page.css("script")] == [""]


@pytest.mark.parametrize("path", ADDRESSES)
async def test_links_of_strangers_are_marked_and_all_others_stay_here(browser, path):
    for link in (await shown(browser, path)).css("a"):
        href = link.attributes["href"]
        if href.startswith("http"):
            assert link.attributes["rel"] == "noreferrer noopener"
        else:
            assert href.startswith(("/", "?", "#"))
            assert not href.startswith("//")


@pytest.mark.parametrize("path", ADDRESSES)
async def test_names_of_parts_are_given_once(browser, path):
    names = [part.attributes["id"] for part in (await shown(browser, path)).css("[id]")]
    assert len(names) == len(set(names))


async def test_strange_texts_are_shown_as_text(browser, service):
    service.title = {"en": "</title><script>alert(1)</script>"}
    service.text = "{{ 7*7 }} <img src=x onerror=alert(1)>\x00\u202e"
    page = await shown(browser, f"/solar/page?url={URL}")
    assert "{{ 7*7 }} <img src=x onerror=alert(1)>␀‹U+202E›" in page.css_first(".text").text()
    assert page.css_first(".crawl").text() == "</title><script>alert(1)</script>"
    assert page.css("img") == []


async def test_usage_signals_are_listed_with_where_each_was_read(browser):
    page = (await browser.get("/solar/page", params={"url": URL})).text
    assert "<td>header</td>" in page
    assert "ai-train=no&lt;b&gt;" in page
    hosts = (await browser.get("/solar/hosts")).text
    assert "tdm-reservation" in hosts
    assert "/papers/" in hosts
    assert 'aria-label="Usage signals of sun.example"' in hosts


async def test_the_path_from_the_seed_has_its_reasons(browser):
    strip = (await shown(browser, f"/solar/page?url={URL}")).css(".strip > li")
    assert "a seed" in strip[0].text()
    assert "cells" in strip[1].text()
    assert "−0.400" in strip[1].text()
    assert len(strip[1].css("svg.bar")) == 2


async def test_the_links_from_the_seed_are_those_of_the_path_that_is_shown(browser):
    page = await shown(browser, f"/solar/page?url={quote(URL)}")  # its record has depth 2
    assert len(page.css(".strip > li")) == 2
    assert "by the link cells, 1 link from a seed." in page.css_first("main").text()


UNFETCHED = {"words_for": None, "words_against": None, "nearest": None, "rank": None, "text": "", "links": []}
NOTHING = {"frontier": None, "history": [], "path": []}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (
            {**UNFETCHED, "state": "waiting", "queue_rank": 4, "details": {"history": []}},
            "waiting with score 0.500, 2 links from a seed · rank 4 in the queue",
        ),
        ({**UNFETCHED, "state": "leased", "path": [], "details": {"history": [], "path": []}}, "being fetched"),
        (
            {"state": "failed", "reason": "404", "details": {"history": [hop(outcome="failed", reason="404")]}},
            "failed · 404",
        ),
        (
            {**UNFETCHED, "state": "unknown", "reason": "deny", "path": [], "details": NOTHING},
            "never queued · deny",
        ),
        ({"details": {"history": [hop(), hop()]}, "label": True}, "Settled several times"),
        ({}, "relevant 0.91 threshold 0.50 · rank 3 of 240"),
        ({}, "Most similar example: Moon (a seed, similarity 0.40)"),
    ],
)
async def test_a_page_is_shown_in_every_state(browser, service, known, words):
    service.known = known
    text = (await shown(browser, f"/solar/page?url={URL}")).css_first("main").text(separator=" ")
    assert words in " ".join(text.split())


async def test_parts_of_the_learned_strategy_are_called_log_odds(browser):
    assert "log odds" in (await shown(browser, "/solar/frontier")).css_first("main").text()


async def test_what_limits_the_speed_is_shown_in_words(browser):
    assert "1 host waits for its delay" in (await shown(browser, "/solar/")).css_first(".limit").text()
    chinese = await shown(browser, "/solar/", **{"accept-language": "zh"})
    assert "1 个主机在等待访问间隔" in chinese.css_first(".limit").text()


@pytest.mark.parametrize(("state", "buttons"), [("running", ["pause", "stop"]), ("stopped", ["start"])])
async def test_only_what_can_be_done_has_a_button(browser, service, state, buttons):
    service.state = state
    found = [button.attributes["id"] for button in (await shown(browser, "/solar/")).css("#control button")]
    assert found == buttons


async def test_every_chart_has_its_table(browser):
    for path, rows in (("/solar/", 12), ("/solar/frontier", 10)):
        page = await shown(browser, path)
        assert len(page.css("svg.chart")) == 1
        assert len(page.css("svg.chart")[0].parent.parent.css("details tbody tr")) == rows


async def test_one_question_is_asked_at_a_time(browser):
    page = await shown(browser, "/solar/label")
    assert page.css_first(".question .where bdi").text() == URL
    assert "Rank 51 of 1,300" in page.css_first(".question .why").text()
    assert [button.attributes["data-key"] for button in page.css(".question [data-key]")] == ["y", "n", "s"]


async def test_a_skipped_question_is_not_asked_again(browser):
    skip = (await shown(browser, "/solar/label")).css_first("[data-key=s]").attributes["href"]
    page = await shown(browser, f"/solar/label{skip}")
    assert page.css_first(".question .where bdi").text() == OTHER
    page = await shown(browser, f"/solar/label{page.css_first('[data-key=s]').attributes['href']}")
    assert page.css(".question") == []


async def test_an_answer_shows_what_it_changed(browser, service):
    answer = await browser.post("/solar/label", json={"url": URL, "relevant": True})
    page = LexborHTMLParser(answer.text)
    assert service.given == [{URL: True}]
    words = " ".join(page.css_first(".taught").text().split())
    assert "Relevant pages: 49 → 1,288 Now called relevant: Moon, http://b/ No longer: Tea" in words
    assert [row.css("td")[2].text(strip=True) for row in page.css(".moves tbody tr")] == ["▲ 1", "new", "left"]
    assert "1 of them moved, 1 are new." in page.text()
    assert page.css_first("[data-key=u]") is not None


async def test_while_workers_have_not_applied_an_answer_nothing_is_reported_as_changed(browser, service):
    service.applied = False
    answer = await browser.post("/solar/label", json={"url": URL, "relevant": True})
    taught = LexborHTMLParser(answer.text).css_first(".taught").text()
    assert "The workers have not applied it yet." in taught
    assert "→" not in taught


@pytest.mark.parametrize(
    ("status", "words"), [("fetched", ""), ("queued", "Not crawled yet: queued."), ("unknown", "the label will count")]
)
async def test_an_answer_says_when_the_page_was_not_crawled(browser, service, status, words):
    service.label_status = status
    answer = await browser.post("/solar/label", json={"url": URL, "relevant": True})
    taught = LexborHTMLParser(answer.text).css_first(".taught").text()
    assert words in taught
    assert ("crawled" in taught) == bool(words)


@pytest.mark.parametrize("body", ["", "[]", '{"url": 1, "relevant": true}', '{"url": "x"}', '{"url":"x","relevant":1}'])
async def test_an_answer_that_is_none_is_refused(browser, service, body):
    assert (await browser.post("/solar/label", content=body)).status_code == 400
    assert service.given == []


async def test_a_crawl_that_is_not_there_is_reported(browser):
    answer = await browser.get("/lunar/")
    assert answer.status_code == 400
    assert "lunar" in LexborHTMLParser(answer.text).css_first("main .strange").text()


async def test_the_language_is_kept_in_a_cookie(browser):
    answer = await browser.post("/language?to=zh&back=%2Fsolar%2Fpages%3Forder%3Drelevance")
    assert (answer.status_code, answer.headers["location"]) == (303, "/solar/pages?order=relevance")
    assert (await shown(browser, "/solar/")).css_first("html").attributes["lang"] == "zh-Hans"


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
async def test_the_way_back_leads_nowhere_else(browser, back):
    answer = await browser.post("/language", params={"to": "tlh", "back": back})
    assert answer.headers["location"] == "/"
    assert "set-cookie" not in answer.headers


async def test_only_three_files_are_served(browser):
    assert (await browser.get("/static/thresher.css")).headers["content-type"].startswith("text/css")
    for name in ("screens.py", "..%2Fscreens.py", "thresher.js.map"):
        assert (await browser.get(f"/static/{name}")).status_code == 404


async def test_each_of_several_topics_has_its_numbers_and_its_list(browser):
    overview = await shown(browser, "/solar/")
    table = [" ".join(row.text(separator=" ").split()) for row in overview.css("#topics tbody tr")]
    assert table == ["solar 40 40 (complete) –", "茶 7 no limit 2–9"]
    listed = await shown(browser, "/solar/pages?topic=solar")
    assert [link.text() for link in listed.css("#topics a[aria-current]")] == ["solar"]
    assert "relevant only" not in listed.css_first("main").text()


async def test_the_harvest_table_agrees_with_the_pages(crawl):
    service = CrawlService({"small": crawl})
    transport = httpx2.ASGITransport(app=Starlette(routes=routes(service)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        table = (await shown(client, "/small/")).css("#harvest-table tbody tr")
    await service.close()
    relevant = verdicts(crawl.folder.pages)
    start = 0
    for row in table:
        end, found, rate, recent = (cell.text() for cell in row.css("th, td"))
        assert int(found) == sum(relevant[: int(end)])
        assert float(rate.rstrip("%")) == pytest.approx(100 * sum(relevant[: int(end)]) / int(end), abs=0.06)
        rate_since = sum(relevant[start : int(end)]) / (int(end) - start)
        assert float(recent.rstrip("%")) == pytest.approx(100 * rate_since, abs=0.06)
        start = int(end)
    assert (len(table), start) == (20, 60)


async def test_an_empty_start_box_shows_the_limit_that_applies(browser, service):
    service.state = "stopped"
    page = await shown(browser, "/solar/")
    for key, limit in {"pages": "500", "minutes": "10"}.items():
        row = page.css_first(f'#control input[name="{key}"]')
        assert row.attributes["placeholder"] == limit
    assert page.css_first("#budgets tr").css("td")[-1].text() == "500"
