"""A crawl of a web with walls: no wall is judged or learned from, and every count is that of the server's log."""

import subprocess
from collections import Counter

import pytest

from bench.collection.walls import TOPIC, wall
from testing.commands import called
from testing.crawl_process import REPOSITORY, THRESHER
from testing.recording_server import Answer, page, recorder
from testing.recording_server.words import TOPIC_WORDS
from testing.servers import ServerMissing, store_server
from tests.faults.live import crawl
from thresher.assembly import build_judge
from thresher.crawl import CrawlSetup
from thresher.records import BlockKind
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

HOSTS, ORDINARY = 10, 5
WALLS = {BlockKind.CHALLENGE: 10, BlockKind.CONSENT: 6, BlockKind.LOGIN: 4}
EXPECTED = {str(kind): number for kind, number in WALLS.items()}
FLAGSHIP = {
    "strategy": {"name": "thresher"},
    # a slot for every host, however slow: requests are counted, and none may be aborted on a busy machine
    "engine": {"timeout_seconds": 5.0, "lease_seconds": 20.0, "concurrency": 64},
}


def host(number):
    return f"h{number}.test"


def wall_paths():
    """Yield every wall: its host, its path and its kind."""
    for kind, many in WALLS.items():
        yield from ((host(number), f"/{kind}-perovskite", kind) for number in range(many))


def web():
    sites = {host(number): {} for number in range(HOSTS)}
    for number in range(HOSTS):
        own = [path for name, path, _ in wall_paths() if name == host(number)]
        onward = [f"/page-{n}" for n in range(1, ORDINARY)] + own
        links = {link: f"perovskite solar cells {link}" for link in [*onward, f"http://{host((number + 1) % HOSTS)}/"]}
        sites[host(number)]["/"] = page(f"Perovskite {number}", f"{TOPIC} of site {number}. " * 12, links)
        for n in range(1, ORDINARY):
            text = " ".join(f"{word} {number} {n}" for word in TOPIC_WORDS * 6)
            sites[host(number)][f"/page-{n}"] = page(f"Cells {number} {n}", f"{TOPIC} {text}")
    for number, (name, path, kind) in enumerate(wall_paths()):
        sites[name][path] = wall(kind, number)
    return sites


def run_again(folder, *options):
    return subprocess.run(
        [*THRESHER, "run", str(folder), *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def check(w, folder, result):
    asked = Counter((hit.host, hit.path) for hit in w.hits() if hit.path != "/robots.txt")
    blocked = {(name, path): 2 if kind is BlockKind.CHALLENGE else 1 for name, path, kind in wall_paths()}
    assert {place: number for place, number in asked.items() if place in blocked} == blocked
    status = result.status
    assert status["blocked"] == EXPECTED
    assert status["failed"] == sum(EXPECTED.values())
    assert status["pages"] == HOSTS * ORDINARY
    shown = Counter()
    for listed in result.hosts.values():
        shown.update(listed["blocked"])
    assert shown == EXPECTED
    urls = {f"http://{name}{path}" for name, path in blocked}
    assert not urls & result.urls
    judge = build_judge(CrawlSetup.open(folder))
    assert not [url for url in urls if judge.remembers(url)]
    assert sum(judge.remembers(url) for url in result.urls) > HOSTS


@pytest.mark.parametrize("workers", [1, 2])
def test_walls_are_counted_and_neither_judged_nor_learned_from(workers):
    with recorder(web()) as w:
        result = crawl(w, [w.url(host(0))], FLAGSHIP, workers=workers, seconds=120)
        assert result.exit_code == 0, result.stderr
        check(w, result.folder, result)
        assert "blocked: login wall" in result.why(f"http://{host(3)}/login-perovskite")
        assert "blocked  20: " in result.thresher("status")
    with PageStoreReader(result.folder / "pages") as pages:
        rows = [record for name, path, _ in wall_paths() for record in stored(pages, f"http://{name}{path}")]
    assert Counter(record.blocked for record in rows) == {**EXPECTED, "challenge": 20}
    assert not any(record.page or record.relevant or record.text for record in rows)


def stored(pages, url):
    return pages.history(fingerprint(url))


def test_a_run_that_was_interrupted_goes_on_with_the_same_counts():
    with recorder(web()) as w:
        result = crawl(w, [w.url(host(0))], FLAGSHIP, pages=20, seconds=120)
        again = run_again(result.folder)
        assert again.returncode == 0, again.stderr
        check(w, result.folder, result)


def test_walls_are_counted_in_a_shared_store_too(tmp_path):
    try:
        with store_server("redis", tmp_path) as server, recorder(web()) as w:
            settings = {**FLAGSHIP, "store": server.url, "name": "walls"}
            result = crawl(w, [w.url(host(0))], settings, workers=2, seconds=120)
            assert result.exit_code == 0, result.stderr
            check(w, result.folder, result)
    except ServerMissing as error:
        pytest.skip(str(error))


def test_a_host_that_only_blocks_is_parked_after_five_walls():
    pages = {f"/{n}": wall(BlockKind.LOGIN, n) for n in range(12)}
    script = {
        "good.test": {"/": page("Solar", TOPIC * 5, [f"http://walled.test/{n}" for n in range(12)])},
        "walled.test": pages,
    }
    with recorder(script) as w:
        result = crawl(w, [w.url("good.test")], seconds=60)
        assert len([hit for hit in w.hits("walled.test") if hit.path != "/robots.txt"]) == 5
    walled = result.hosts["walled.test"]
    assert (walled["parked"], walled["waiting"]) == ("blocked: login wall, 5 times in a row", 7)
    assert walled["blocked"] == {"login": 5}


def test_a_stored_page_is_not_lost_when_its_site_shows_a_wall_later():
    good = page("Solar", TOPIC * 10)
    with recorder({"a.test": {"/": [good, wall(BlockKind.CONSENT, 0)]}}) as w:
        result = crawl(w, [w.url("a.test")], {"keywords": TOPIC_WORDS}, seconds=60)
        assert [each["title"] for each in result.pages] == ["Solar"]
        relevant = result.pages[0]["relevant"]
        refreshed = run_again(result.folder, "--refresh")
        assert len(w.hits("a.test", "/")) == 2, refreshed.stderr
        exported = called("export", result.folder, "-f", "csv", "--text", folder=REPOSITORY).stdout
    assert relevant
    assert "Solar" in exported
    assert "Before you continue" not in exported
    assert "consent wall" in result.why("http://a.test/")


def test_opt_outs_are_stored_filtered_and_obeyed():
    signals = Answer(body="User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /", content_type="text/plain")
    reserved = page("Reserved", f"{TOPIC} one " * 5, headers=[("TDM-Reservation", "1")])
    script = {
        "open.test": {
            "/": page("Open", f"{TOPIC} two " * 5, ["/tdm", "/noai", "http://signal.test/"]),
            "/tdm": reserved,
            "/noai": page("Tagged", f"{TOPIC} three " * 5, headers=[("X-Robots-Tag", "noai, noimageai")]),
        },
        "signal.test": {"/robots.txt": signals, "/": page("Signal", f"{TOPIC} four " * 5)},
    }
    with recorder(script) as w:
        kept = crawl(w, [w.url("open.test")], seconds=60)
        found = {each["title"]: set(each["opt_outs"].split()) for each in kept.pages}
        assert found == {"Open": set(), "Reserved": {"tdm"}, "Tagged": {"noai", "noimageai"}, "Signal": {"ai-train"}}
        signals = {each["title"]: each["signals"] for each in kept.pages}
        assert [(each["source"], each["statement"]) for each in signals["Tagged"]] == [("header", "x-robots-tag")]
        assert "robots.txt    content-signal: search=yes, ai-train=no" in kept.why("http://signal.test/")
        filtered = kept.thresher("export", "-f", "csv", "--without-optouts")
        assert [line.split(",")[2] for line in filtered.splitlines()[1:]] == ["Open"]
        hits = kept.thresher("search", "perovskite", "--json", "--without-optouts")
        assert "Open" in hits
        assert "Signal" not in hits
        asked = len(w.hits("signal.test", "/"))
        obeyed = crawl(w, [w.url("open.test")], {"politeness": {"ai_optout": "obey"}}, seconds=60)
        assert {each["title"] for each in obeyed.pages} == {"Open"}
        assert len(w.hits("signal.test", "/")) == asked == 1  # the second crawl read robots.txt and went no further
        assert obeyed.status["failed"] == 3


def test_a_user_without_a_browser_is_notified_once():
    shell = "<title>App</title><body><div id=root></div><script src=/app.js></script>"
    with recorder({"app.test": {"/": Answer(body=shell, content_type="text/html")}}) as w:
        result = crawl(w, [w.url("app.test")], {"browser": {"executable": "/nowhere/chromium"}}, seconds=60)
        again = run_again(result.folder)
    assert result.stderr.count("seem to need JavaScript") == 1
    assert "JavaScript" not in again.stderr
