"""From an empty folder to a ranked collection, over real sockets, as the README says."""

import csv
import io
import json
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import quick

SOLAR = "<p>Perovskite solar cells: perovskite layers make solar cells cheap.</p>"
TEA = "<p>How to brew green tea, and which pot to use for it.</p>"


def page(title, body, *links):
    anchors = "".join(f'<a href="{target}">{words}</a> ' for target, words in links)
    return f"<html><head><title>{title}</title></head><body>{body}{anchors}</body></html>"


@pytest.fixture
def small_site(site):
    site.pages = {
        "/": page("Seed", SOLAR, ("/good", "perovskite cells"), ("/tea", "tea"), ("/moved", "old"), ("/gone", "gone")),
        "/good": page("Good", SOLAR + "<p>Tandem.</p>", ("/better", "tandem solar cells"), ("/secret/x", "secret")),
        "/better": page("钙钛矿", "<p>钙钛矿太阳能电池的研究与产业。</p>", ("/", "home")),
        "/tea": page("Tea", TEA, ("/copy", "the same again")),
        "/copy": page("Tea", TEA, ("/copy", "the same again"), ("/only-from-copy", "")),
        "/moved": (301, {"Location": "/good?utm_source=old"}, ""),
        "/secret/x": page("Secret", SOLAR),
        "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /secret\n"),
    }
    return site


@pytest.fixture
def crawl(small_site, thresher, tmp_path):
    topic = "perovskite solar cells; 钙钛矿太阳能电池"
    made = thresher("new", "solar", "--topic", topic, "--seed", small_site.url("/"))
    assert made.returncode == 0, made.stderr
    quick(tmp_path / "solar")
    return tmp_path / "solar"


def test_a_crawl_from_new_to_export(crawl, small_site, thresher, tmp_path):
    ran = thresher("run", "solar", "--pages", 100)
    assert ran.returncode == 0, ran.stderr
    assert "nothing is left to fetch" in ran.stderr.lower()

    exported = thresher("export", "solar", "-f", "jsonl")
    rows = [json.loads(line) for line in exported.stdout.splitlines()]
    by_title = {row["title"]: row for row in rows}
    assert [row["relevance"] for row in rows] == sorted((row["relevance"] for row in rows), reverse=True)
    assert set(by_title) == {"Seed", "Good", "钙钛矿", "Tea"}
    assert by_title["钙钛矿"]["language"] == "zh"
    assert by_title["钙钛矿"]["parent"] == small_site.url("/good")
    assert by_title["钙钛矿"]["anchor"] == "tandem solar cells"
    assert by_title["钙钛矿"]["depth"] == 2
    assert by_title["Good"]["status"] == 200

    parquet = tmp_path / "pages.parquet"
    assert thresher("export", "solar", "-f", "parquet", "-o", parquet).returncode == 0
    assert pq.read_table(parquet).num_rows == len(rows)
    table = list(csv.DictReader(io.StringIO(thresher("export", "solar", "-f", "csv").stdout)))
    assert [row["url"] for row in table] == [row["url"] for row in rows]


def test_robots_are_asked_first_and_obeyed(crawl, small_site, thresher):
    thresher("run", "solar")
    assert small_site.paths[0] == "/robots.txt"
    assert "/secret/x" not in small_site.paths
    why = thresher("why", "solar", small_site.url("/secret/x"))
    assert "failed: robots.txt" in why.stdout


def test_a_copy_is_recorded_and_its_links_are_not_followed(crawl, small_site, thresher):
    thresher("run", "solar")
    assert "/copy" in small_site.paths
    assert "/only-from-copy" not in small_site.paths
    rows = [json.loads(line) for line in thresher("export", "solar", "--duplicates").stdout.splitlines()]
    [copy] = [row for row in rows if row["url"].endswith("/copy")]
    assert copy["duplicate_of"] == small_site.url("/tea")


def test_why_prints_the_path_and_the_parts_of_every_score(crawl, small_site, thresher):
    thresher("run", "solar")
    why = thresher("why", "solar", small_site.url("/better")).stdout
    assert "0. " + small_site.url("/") in why
    assert 'by "tandem solar cells", score' in why
    assert "= page 1." in why
    assert "relevant, probability " in why
    assert "likeness 0." in why
    told = json.loads(thresher("why", "solar", small_site.url("/better"), "--json").stdout)
    assert [hop["url"] for hop in told["path"]] == [small_site.url(path) for path in ("/", "/good", "/better")]
    assert told["state"] == "done"


def test_why_of_an_unknown_page_says_so(crawl, thresher, small_site):
    thresher("run", "solar")
    why = thresher("why", "solar", small_site.url("/nowhere"))
    assert why.returncode == 1
    assert "never queued: no page that was fetched links to it" in why.stdout


def test_a_failure_and_a_redirect_say_what_they_were(crawl, small_site, thresher):
    thresher("run", "solar")
    assert "failed: http 404" in thresher("why", "solar", small_site.url("/gone")).stdout
    assert "redirected to" in thresher("why", "solar", small_site.url("/moved")).stdout


def test_status_hosts_and_frontier_speak_json(crawl, small_site, thresher):
    ended = thresher("run", "solar", "--pages", 2, "--json")
    assert ended.returncode == 14, ended.stderr
    result = json.loads(ended.stdout)
    assert (result["pages"], result["ending"]) == (2, "pages")
    status = json.loads(thresher("status", "solar", "--json").stdout)
    assert (status["pages"], status["name"]) == (2, "solar")
    assert status["waiting"] > 0
    [host] = json.loads(thresher("hosts", "solar", "--json").stdout)
    assert (host["host"], host["pages"]) == (f"127.0.0.1:{small_site.port}", 2)
    queue = json.loads(thresher("frontier", "solar", "--json").stdout)
    assert len(queue) == status["waiting"]
    assert queue[0]["parts"]
    for command in ("status", "hosts", "frontier"):
        assert thresher(command, "solar").stdout


def test_the_same_command_goes_on(crawl, small_site, thresher):
    thresher("run", "solar", "--pages", 2)
    assert thresher("run", "solar").returncode == 0
    fetched = [path for path in small_site.paths if path != "/robots.txt"]
    assert len(fetched) == len(set(fetched))


def test_two_workers_share_one_frontier(crawl, small_site, thresher):
    assert thresher("run", "solar", "--workers", 2).returncode == 0
    fetched = [path for path in small_site.paths if path != "/robots.txt"]
    assert len(fetched) == len(set(fetched)) == 7


def test_ctrl_c_drains_and_saves(crawl, small_site, thresher, tmp_path):
    small_site.seconds = 0.3
    command = [sys.executable, "-m", "thresher", "run", "solar"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while len(small_site.requests) < 2:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 11, stderr
    status = json.loads(thresher("status", "solar", "--json").stdout)
    assert status["leased"] == 0
    assert thresher("run", "solar").returncode == 0
    fetched = [path for path in small_site.paths if path != "/robots.txt"]
    assert len(fetched) == len(set(fetched)) == 7


def test_the_user_agent_says_who_asks(crawl, small_site, thresher, tmp_path):
    quick(tmp_path / "solar", manners="{delay_seconds: 0, contact: me@example.org}")
    thresher("run", "solar", "--pages", 1)
    _, _, headers = small_site.requests[0]
    assert headers["User-Agent"].startswith("Thresher/")
    assert "(+me@example.org)" in headers["User-Agent"]


def test_a_private_seed_that_is_not_listed_is_refused_with_the_remedy(crawl, small_site, thresher, tmp_path):
    quick(tmp_path / "solar", network="{allow: []}")
    refused = thresher("run", "solar")
    assert refused.returncode == 4
    assert refused.stderr.strip() == (
        f'refused {small_site.url("/")}: a private address. If this is your own site: network.allow: ["127.0.0.0/8"].'
    )
    assert small_site.requests == []


def test_a_public_seed_needs_a_contact(thresher):
    thresher("new", "solar", "--topic", "solar cells", "--seed", "https://example.org/")
    refused = thresher("run", "solar")
    assert refused.returncode == 4
    assert "manners.contact is empty" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "nothing"], 2, "does not exist"),
        (["new", "x"], 4, "the topic has no words"),
        (["new", "x", "--topic", "tea", "--seed", "example.org"], 4, "did you mean https://example.org?"),
        (["new", "x", "--topic", "tea", "--strategy", "bets"], 4, "no strategy is called 'bets'"),
        (["strategies", "bets"], 4, "no strategy is called 'bets'"),
        (["status", "."], 1, "holds no crawl"),
    ],
)
def test_errors_say_what_is_wrong_and_end_with_their_code(thresher, arguments, code, said):
    ended = thresher(*arguments)
    assert (ended.returncode, said in ended.stderr) == (code, True), ended.stderr
    assert "Traceback" not in ended.stderr


def test_doctor_and_strategies_answer(thresher):
    assert thresher("doctor").returncode == 0
    listed = json.loads(thresher("strategies", "--json").stdout)
    assert {"best-first", "breadth-first"} <= {strategy["name"] for strategy in listed}
    assert "relevance" not in thresher("strategies", "breadth-first").stderr
