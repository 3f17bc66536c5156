"""One crawl over servers that do with HTTP what servers on the open web do."""

import pytest

from tests.realweb import http_scenarios


@pytest.fixture(scope="module")
def crawled():
    with http_scenarios.serving() as server:
        result = http_scenarios.crawl_scenarios(server)
        outcomes = {name: outcome for name, _, outcome in http_scenarios.rows(result)}
        yield server, result, outcomes


@pytest.mark.parametrize("name", http_scenarios.SCENARIOS)
def test_a_scenario_ends_as_expected(crawled, name):
    _, _, outcomes = crawled
    assert outcomes[name] == http_scenarios.SCENARIOS[name].expected


def test_a_cookie_is_sent_back_to_its_own_host_and_only_on_the_way_back_to_a_page(crawled):
    server, _, _ = crawled
    sent = {(host, path, cookies) for host, path, cookies in server.requests if cookies}
    assert {host for host, _, _ in sent} == {
        "cookie-self",
        "cookie-consent",
        "cookie-check",
        "cookie-query",
        "cookie-chain",
        "cookie-loop",
    }
    assert ("cookie-check", "/article", "id=7; checked=yes") in sent
    assert not any(path in ("/next", "/new", "/robots.txt") for _, path, _ in sent)


def test_a_loop_with_ever_new_cookies_ends(crawled):
    server, _, _ = crawled
    assert sum(host == "cookie-loop" and path == "/" for host, path, _ in server.requests) == 11


def test_a_page_behind_a_consent_page_is_found_as_without_it(crawled):
    _, result, _ = crawled
    [page] = [page for page in result.pages if page["host"] == "cookie-consent.test" and page["url"].endswith("e")]
    assert (page["url"], page["depth"]) == ("http://cookie-consent.test/article", 0)
    assert "http://cookie-consent.test/article" in result.why("http://cookie-consent.test/next")


def test_all_parts_of_the_crawl_agree(crawled):
    _, result, _ = crawled
    assert "agree" in result.thresher("verify")


def test_no_cookie_is_stored(crawled):
    _, result, _ = crawled
    stored = b"".join(path.read_bytes() for path in result.folder.rglob("*") if path.is_file())
    assert b"checked=yes" not in stored
