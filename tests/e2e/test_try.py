"""A page tried over real sockets: judged and explained, with a crawl's politeness, and nothing stored."""

import json
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from tests.e2e.conftest import quick

SOLAR = "<p>Perovskite solar cells: perovskite layers make solar cells as cheap as the roof that they are on.</p>"


PAGES = {
    "/": f'<title>Seed</title>{SOLAR}<a href="/good">perovskite cells</a> <a href="/secret">secret</a>',
    "/good": f"<title>Good</title>{SOLAR}",
    "/moved": (301, {"Location": "/good"}, ""),
    "/moved-to-secret": (302, {"Location": "/secret"}, ""),
    "/secret": f"<title>Secret</title>{SOLAR}",
    "/paper": (200, {"Content-Type": "application/pdf"}, "%PDF"),
    "/large": f"<title>Large</title><p>{'solar ' * 1000}</p>",
    "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /secret\n"),
}


@pytest.fixture
def solar(site, thresher, tmp_path):
    site.pages = dict(PAGES)
    thresher("new", "solar", "--topic", "perovskite solar cells; 钙钛矿太阳能电池", "--seed", site.url("/"))
    quick(tmp_path / "solar")
    return tmp_path / "solar"


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def reason(tried):
    [answer] = json.loads(tried.stdout)
    assert not answer["judged"]
    return answer["reason"]


def test_a_page_says_its_verdict_its_words_and_its_links_and_nothing_else_is_fetched_or_written(solar, site, thresher):
    before = contents(solar)
    tried = thresher("try", "solar", site.url("/"))
    assert tried.returncode == 0, tried.stderr
    assert "\nRelevant: " in tried.stdout
    assert ", above the cut of " in tried.stdout
    assert "Read 1 seed to know the topic." in tried.stderr
    assert re.search(r"^For: .*perovskite [\d.]+ %", tried.stdout, re.MULTILINE)
    assert re.search("similarity to the topic +0.", thresher("try", "solar", site.url("/"), "--details").stdout)
    assert "Links, the best 2 of 2:" in tried.stdout
    assert site.url("/good") in tried.stdout
    assert site.paths == ["/robots.txt", "/"] * 2
    assert contents(solar) == before


def test_json_is_for_programs(solar, site, thresher):
    tried = thresher("try", "solar", site.url("/"), site.url("/none"), "--links", 1, "--json")
    assert tried.returncode == 0, tried.stderr
    page, missing = json.loads(tried.stdout)
    assert (page["title"], page["language"], page["relevant"]) == ("Seed", "en", True)
    assert 0.5 < page["relevance"] <= 1.0
    assert [link["anchor"] for link in page["links"]] == ["perovskite cells"]
    assert page["links_found"] == 2
    assert (missing["judged"], missing["reason"]) == (False, "http 404")


def test_a_redirect_is_followed_and_reported(solar, site, thresher):
    tried = thresher("try", "solar", site.url("/moved"))
    assert f"redirected to {site.url('/good')}" in tried.stdout
    assert "\nTitle:    Good\n" in tried.stdout


def test_refusals_are_reported_and_end_with_code_1(solar, site, thresher):
    printed = {
        "/none": "http 404",
        "/secret": "robots.txt forbids it",
        "/paper": "cannot be parsed: PDF, damaged",
        "/a.zip": "outside the crawl: not a page",
        "/moved-to-secret": f"redirected to {site.url('/secret')}: robots.txt forbids it",
    }
    tried = thresher("try", "solar", *map(site.url, printed), "--json")
    answers = json.loads(tried.stdout)
    assert {answer["reason"]: answer["judged"] for answer in answers} == dict.fromkeys(printed.values(), False)
    assert (tried.returncode, len(answers)) == (1, len(printed)), tried.stderr
    assert "Traceback" not in tried.stderr
    assert "/secret" not in site.paths


def test_one_refusal_alone_ends_with_code_1(solar, site, thresher):
    tried = thresher("try", "solar", site.url("/none"), "--json")
    assert (tried.returncode, reason(tried)) == (1, "http 404"), tried.stderr


def test_a_page_that_is_too_large_is_judged_by_its_beginning(solar, site, thresher):
    quick(solar, engine="{timeout_seconds: 2, lease_seconds: 8, max_bytes: 2048}")
    tried = thresher("try", "solar", site.url("/large"), "--json")
    assert tried.returncode == 0, tried.stderr


def test_a_private_address_that_is_not_listed_is_not_dialled(solar, site, thresher):
    tried = thresher("try", "solar", "http://10.0.0.1/", "--json")
    assert tried.returncode == 1
    assert reason(tried).startswith("refused: a private address. If this is your own site: network.allow:")


def test_the_delay_between_requests_to_a_host_is_kept(solar, site, thresher):
    quick(solar, politeness="{delay_seconds: 0.4}")
    thresher("try", "solar", site.url("/"), site.url("/good"))
    times = [seconds for seconds, _, _ in site.requests]
    assert len(times) == 3
    assert all(later - earlier >= 0.4 for earlier, later in pairwise(times))


def test_a_page_can_be_tried_while_a_crawl_runs(solar, site, thresher, tmp_path):
    site.seconds = 0.3
    command = [sys.executable, "-m", "thresher", "run", "solar"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while not site.requests:
            time.sleep(0.02)
        tried = thresher("try", "solar", site.url("/good"))
        _, stderr = process.communicate(timeout=30)
    assert tried.returncode == 0, tried.stderr
    assert process.returncode == 0, stderr


def test_ctrl_c_ends_with_one_sentence(solar, site, tmp_path):
    site.seconds = 1.8
    command = [sys.executable, "-m", "thresher", "try", "solar", site.url("/good")]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not site.requests:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout, stderr) == (11, "", "stopped; nothing was stored\n")
