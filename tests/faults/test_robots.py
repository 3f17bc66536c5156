"""What a site says about being asked is obeyed: rules, redirects to them, delays, and refusals."""

from itertools import pairwise

import pytest

from tests.faults import robots
from tests.faults.driven import Reply, drive
from tests.faults.robots_cases import CASES
from thresher.engine.robots_gate import ROBOTS_ENTRY_SECONDS

DAY = robots.DAY


def test_robots_txt_is_understood_however_it_is_answered():
    went = robots.answer_in_all_ways()
    assert went.wrong == {}, went.stderr
    assert len(went.right) >= 40
    assert (went.open_at_once, went.violations) == (1, 0)
    assert went.parked["s503.test"] == "robots.txt cannot be read: http 503"
    assert went.parked["denied.test"].endswith("it leads to forbidden.test, outside the crawl")


def test_rules_mean_what_other_parsers_say_they_mean():
    number, wrong = robots.verdicts()
    assert wrong == []
    assert number > 240
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("hours", [6, 25])
def test_a_ban_is_read_within_a_day_and_then_nothing_is_fetched(hours):
    reported = robots.ban_figures(hours * 3600.0, 3 * DAY)
    assert reported["pages"] > 100
    assert reported["pages_after_reading"] == reported["pages_after_a_day"] == 0
    assert reported["read_after_hours"] <= 24


def test_hosts_that_ask_for_time_get_it_and_those_that_ask_for_too_much_are_left_alone():
    reported, result = robots.paces()
    assert robots.pace_violations(reported) == [], result.stderr
    by_host = {pace.host: pace for pace in reported}
    assert str(by_host["hour"].parked) == "asks for a delay of 3600 s"
    assert str(by_host["absurd"].parked).startswith("http 503, asks for")
    assert all(by_host[name].pages == 4 for name in ("one", "minus", "nan", "words")), reported


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_has_had_enough_is_asked_ever_more_rarely(status):
    reported = robots.storm(status, seconds=2 * DAY)
    assert robots.refusals(reported, 600) == 5
    assert robots.refusals(reported, DAY) <= 10


def test_a_storm_is_ridden_out_with_doubling_pauses_and_then_the_host_is_parked():
    reported = robots.storm(429, seconds=1000)
    moments = [asked.at for asked in reported.pages()[3:]]
    assert [round(after - before) for before, after in pairwise(moments)] == [10, 20, 40, 80]
    assert str(reported.hosts["a.example"].parked) == "http 429, 5 times in a row"


def test_what_retry_after_asks_for_is_kept_over_the_hour_and_beyond_a_day_the_host_is_left_alone():
    reported = robots.storm(503, seconds=3 * 3600, headers={"Retry-After": "7200"})
    moments = [asked.at for asked in reported.pages()[3:]]
    assert moments[1] - moments[0] == pytest.approx(7200)
    reported = robots.storm(503, seconds=3 * DAY, headers={"Retry-After": str(int(2 * DAY))})
    assert robots.refusals(reported, 3 * DAY) == 1
    assert str(reported.hosts["a.example"].parked) == "http 503, asks for 2 days of rest"


async def test_the_rules_of_another_host_are_asked_for_in_its_own_turn():
    """Every host redirects to the rules of one; that one is never asked twice within its delay."""

    def web(url, now):
        if url == "http://keeper.example/robots.txt":
            return Reply(200, "User-agent: *\nCrawl-delay: 30\nDisallow: /shed")
        if url.endswith("/robots.txt"):
            number = url.partition("//h")[2].partition(".")[0]
            return Reply(301, headers={"Location": f"http://keeper.example/rules/{number}"})
        if "/rules/" in url:
            return Reply(200, "User-agent: *\nDisallow: /shed")
        return Reply(200, f"<p>{url} <a href=/shed>shed</a>")

    hosts = [f"http://h{number}.example/" for number in range(5)]
    reported = await drive(web, [*hosts, "http://keeper.example/"], seconds=3600)
    keeper = [asked.at for asked in reported.asked if "keeper" in asked.url]
    assert len(keeper) == 1 + 1 + 5  # its own rules and page, and one redirected request for each of the others
    assert min(after - before for before, after in pairwise(keeper[1:])) >= 30
    assert {asked.url for asked in reported.pages()} >= set(hosts)
    assert not [asked for asked in reported.asked if asked.url.endswith("/shed")]


async def test_the_target_of_robots_redirects_is_requested_once_however_many_hosts_wait_for_it():
    def web(url, now):
        if url.startswith("http://keeper.example/"):
            return Reply(404)
        if url.endswith("/robots.txt"):
            return Reply(302, headers={"Location": "http://keeper.example/robots.txt"})
        return Reply(200, f"<p>{url}")

    hosts = [f"http://h{number}.example/" for number in range(20)]
    reported = await drive(web, hosts, seconds=600)
    assert len([asked for asked in reported.asked if "keeper" in asked.url]) == 1
    assert {asked.url for asked in reported.pages()} == set(hosts)
    assert reported.asked[-1].at - reported.asked[0].at <= 3 * ROBOTS_ENTRY_SECONDS


async def test_a_host_that_is_well_over_https_does_not_rest_because_http_does_not_answer():
    def web(url, now):
        if url.startswith("http:"):
            return Reply(0)
        links = "".join(f"<a href={scheme}://a.example/{scheme}>x</a>" for scheme in ("http", "https"))
        return Reply(404) if url.endswith("/robots.txt") else Reply(200, f"<p>{url} {links}")

    reported = await drive(web, ["https://a.example/"], seconds=600)
    assert [asked.url for asked in reported.asked] == [
        "https://a.example/robots.txt",
        "https://a.example/",
        "http://a.example/robots.txt",
        "https://a.example/https",
    ]
    assert str(reported.hosts["a.example"].parked) == ""


async def test_a_host_whose_rules_cannot_be_read_gets_one_request_a_day_in_the_end_and_is_asked_after_a_month():
    def web(url, now):
        return Reply(0) if url.endswith("/robots.txt") else Reply(200, "<p>page")

    reported = await drive(web, ["http://a.example/"], seconds=29 * DAY)
    assert reported.pages() == []
    assert str(reported.hosts["a.example"].parked).startswith("robots.txt cannot be read: timeout, ")
    assert len(reported.asked) < 40
    assert [round(b.at - a.at) for a, b in pairwise(reported.asked)][:3] == [600, 1200, 2400]
    reported = await drive(web, ["http://a.example/"], seconds=32 * DAY)
    assert len(reported.pages()) == 1
