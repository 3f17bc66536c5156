"""From an empty folder to a ranked collection, over real sockets, as the README says."""

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import CommandLine, Site, quick, serving

SOLAR = "<p>Perovskite solar cells: perovskite layers make solar cells cheap.</p>"
TEA = "<p>How to brew green tea, and which pot to use for it.</p>"


def page(title, body, *links):
    anchors = "".join(f'<a href="{target}">{words}</a> ' for target, words in links)
    return f"<html><head><title>{title}</title></head><body>{body}{anchors}</body></html>"


PAGES = {
    "/": page("Seed", SOLAR, ("/good", "perovskite cells"), ("/tea", "tea"), ("/moved", "old"), ("/gone", "gone")),
    "/good": page("Good", SOLAR + "<p>Tandem.</p>", ("/better", "tandem solar cells"), ("/secret/x", "secret")),
    "/better": page("钙钛矿", "<p>钙钛矿太阳能电池的研究与产业。</p>", ("/", "home")),
    "/tea": page("Tea", TEA, ("/copy", "the same again")),
    "/copy": page("Tea", TEA, ("/copy", "the same again"), ("/only-from-copy", "")),
    "/moved": (301, {"Location": "/good?utm_source=old"}, ""),
    "/secret/x": page("Secret", SOLAR),
    "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /secret\n"),
}
NEW = ("new", "solar", "--topic", "perovskite solar cells; 钙钛矿太阳能电池", "--seed")


@dataclass(frozen=True)
class Crawled:
    """A crawl of the whole site that is over: the site, its command line, and what the run printed."""

    site: Site
    thresher: CommandLine
    ran: CompletedProcess[str]

    def rows(self, *options):
        return [json.loads(line) for line in self.thresher("export", "solar", *options).stdout.splitlines()]

    def why(self, path, *options):
        return self.thresher("why", "solar", self.site.url(path), *options)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """One crawl for all tests that look at what became of it, each command in a process of its own."""
    folder = tmp_path_factory.mktemp("whole")
    thresher = CommandLine(folder)
    with serving() as site:
        site.pages = dict(PAGES)
        made = thresher.apart(*NEW, site.url("/"))
        assert made.returncode == 0, made.stderr
        quick(folder / "solar")
        yield Crawled(site, thresher, thresher("run", "solar", "--pages", 100))


@pytest.fixture
def small_site(site):
    site.pages = dict(PAGES)
    return site


@pytest.fixture
def crawl(small_site, thresher, tmp_path):
    made = thresher(*NEW, small_site.url("/"))
    assert made.returncode == 0, made.stderr
    quick(tmp_path / "solar")
    return tmp_path / "solar"


def test_a_crawl_from_new_to_export(crawled, tmp_path):
    site, thresher, ran = crawled.site, crawled.thresher, crawled.ran
    assert ran.returncode == 0, ran.stderr
    assert "nothing is left to fetch" in ran.stderr.lower()

    exported = thresher.apart("export", "solar", "-f", "jsonl")
    rows = [json.loads(line) for line in exported.stdout.splitlines()]
    by_title = {row["title"]: row for row in rows}
    assert [row["relevance"] for row in rows] == sorted((row["relevance"] for row in rows), reverse=True)
    assert set(by_title) == {"Seed", "Good", "钙钛矿", "Tea"}
    assert by_title["钙钛矿"]["language"] == "zh"
    assert by_title["钙钛矿"]["parent"] == site.url("/good")
    assert by_title["钙钛矿"]["anchor"] == "tandem solar cells"
    assert by_title["钙钛矿"]["depth"] == 2
    assert by_title["Good"]["status"] == 200

    parquet = tmp_path / "pages.parquet"
    assert thresher("export", "solar", "-f", "parquet", "-o", parquet).returncode == 0
    assert pq.read_table(parquet).num_rows == len(rows)
    table = list(csv.DictReader(io.StringIO(thresher("export", "solar", "-f", "csv").stdout)))
    assert [row["url"] for row in table] == [row["url"] for row in rows]


def test_the_text_of_clearly_irrelevant_pages_is_not_kept(crawled):
    texts = {row["title"]: row["text"] for row in crawled.rows("--text")}
    assert texts["Tea"] == ""
    assert "Tandem" in texts["Good"]


def test_robots_are_asked_first_and_obeyed(crawled):
    assert crawled.site.paths[0] == "/robots.txt"
    assert "/secret/x" not in crawled.site.paths
    assert "Failed: disallowed by robots.txt" in crawled.why("/secret/x").stdout


def test_a_copy_is_recorded_and_its_links_are_not_followed(crawled):
    assert "/copy" in crawled.site.paths
    assert "/only-from-copy" not in crawled.site.paths
    [copy] = [row for row in crawled.rows("--duplicates") if row["url"].endswith("/copy")]
    assert copy["duplicate_of"] == crawled.site.url("/tea")


def test_why_prints_the_path_and_the_parts_of_every_score(crawled):
    site = crawled.site
    why = crawled.thresher.apart("why", "solar", site.url("/better"), "--details").stdout
    assert "0. " + site.url("/") in why
    assert "by the link “tandem solar cells”, score" in why
    assert re.search(r"similarity to the topic +0\.", why)
    reported = json.loads(crawled.why("/better", "--json", "--details").stdout)
    assert [hop["url"] for hop in reported["path"]] == [site.url(path) for path in ("/", "/good", "/better")]
    assert reported["state"] == "done"
    link = reported["details"]["link"]
    assert link["parts"] == reported["details"]["path"][-1]["score_parts"]
    parts = why.partition("Parts of the link score")[2].partition("  Relevance:")[0]
    assert all(f"{part} " in parts for part in link["parts"]), parts


def test_why_of_an_unknown_page_says_so(crawled):
    why = crawled.why("/nowhere")
    assert why.returncode == 1
    assert "Never queued: no fetched page links to it" in why.stdout


def test_a_failure_and_a_redirect_say_what_they_were(crawled):
    assert "Failed: HTTP 404" in crawled.why("/gone").stdout
    assert "redirected to" in crawled.why("/moved").stdout


@pytest.mark.parametrize("arguments", [("status", "solar"), ("strategies",)], ids=lambda arguments: arguments[0])
def test_commands_say_the_same_in_a_process_of_their_own(crawled, arguments):
    apart, here = crawled.thresher.apart(*arguments, "--json"), crawled.thresher(*arguments, "--json")
    assert (apart.returncode, apart.stdout, apart.stderr) == (here.returncode, here.stdout, here.stderr)
    assert apart.returncode == 0


def test_status_hosts_and_frontier_speak_json(crawl, small_site, thresher):
    ended = thresher("run", "solar", "--pages", 2, "--json")
    assert ended.returncode == 0, ended.stderr
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
    quick(tmp_path / "solar", politeness="{delay_seconds: 0, contact: me@example.org}")
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
    assert "politeness.contact is empty" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "printed"),
    [
        (["run", "nothing"], 2, "does not exist"),
        (["new", "x"], 4, "the topic has no words"),
        (["new", "x", "--topic", "tea", "--seed", "example.org"], 4, "did you mean https://example.org?"),
        (["new", "x", "--topic", "tea", "--strategy", "bets"], 4, "no strategy is called 'bets'"),
        (["strategies", "bets"], 4, "no strategy is called 'bets'"),
        (["status", "."], 1, "holds no crawl"),
    ],
)
def test_errors_say_what_is_wrong_and_end_with_their_code(thresher, arguments, code, printed):
    ended = thresher(*arguments)
    assert (ended.returncode, printed in ended.stderr) == (code, True), ended.stderr
    assert "Traceback" not in ended.stderr


def test_doctor_and_strategies_answer(thresher):
    assert thresher.apart("doctor").returncode == 0
    listed = json.loads(thresher("strategies", "--json").stdout)
    assert {"best-first", "breadth-first"} <= {strategy["name"] for strategy in listed}
    assert "relevance" not in thresher("strategies", "breadth-first").stderr


def test_the_log_has_a_line_per_failure_and_per_event(crawled):
    log = (crawled.thresher.folder / "solar" / "crawl.log.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in log.splitlines()]
    assert (lines[0]["message"], lines[0]["limits"]["pages"]) == ("run started", 100)
    failed = {line["url"]: line["reason"] for line in lines if line["message"] == "failed"}
    assert failed == {crawled.site.url("/gone"): "http 404", crawled.site.url("/secret/x"): "robots.txt"}
    assert (lines[-1]["message"], lines[-1]["reason"]) == ("run ended", "nothing is left to fetch")


def test_status_says_why_more_urls_are_done_than_there_are_pages(crawled):
    status = crawled.thresher("status", "solar").stdout
    assert re.search(r"done  6: 5 pages, 1 without a page, such as redirects and sitemaps", status), status


def test_export_says_that_duplicates_are_left_out(crawled):
    assert "4 pages, without 1 duplicate (--duplicates)" in crawled.thresher("export", "solar").stderr
    assert "duplicate" not in crawled.thresher("export", "solar", "--relevant").stderr


def test_a_run_names_seeds_that_no_word_of_the_phrase_names(site, thresher):
    site.pages = {
        "/solar-cells": page("Overview", SOLAR),
        "/sun": page("Energy of all kinds", SOLAR),
        "/pots": page("Pots", TEA),
    }
    seeds = [option for path in site.pages for option in ("--seed", site.url(path))]
    thresher("new", "solar", "--topic", "perovskite solar cells", *seeds, "--contact", "me@example.org")
    quick(thresher.folder / "solar", network='{allow: ["127.0.0.0/8"]}')
    printed = thresher("run", "solar").stderr
    named = [line.strip() for line in printed.splitlines() if line.strip().startswith("Seed ")]
    assert named == [
        f"Seed {site.url('/sun')}: no word of the phrase is in its title, first heading or address. "
        "If it is about more than the topic, so are the verdicts.",
        f"Seed {site.url('/pots')}: no word of the phrase is on the page. "
        "Is it about the topic? Verdicts follow the seeds.",
    ]
    assert [seed["has_words"] for seed in json.loads(thresher("run", "solar", "--json").stdout)["doubtful_seeds"]] == [
        True,
        False,
    ]
