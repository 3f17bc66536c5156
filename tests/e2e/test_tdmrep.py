"""The tdmrep.json of a host is read over real sockets: once, when its pages are worth it, for all workers."""

import pytest

from testing.recording_server import Answer, page, recorder
from testing.recording_server.words import TOPIC_WORDS
from testing.servers import ServerMissing, store_server
from tests.faults.live import crawl

RESERVED = '[{"location": "/late/", "tdm-reservation": 1}]'
PATHS = [f"/early/{number}" for number in range(12)]
LATE = [f"/late/{number}" for number in range(3)]
FILE = "/.well-known/tdmrep.json"


def solar(path, links=()):
    return page(f"Cells {path}", f"Perovskite solar cells {path}: {' '.join(TOPIC_WORDS)}. " * 8, links)


SITES = {
    "a.test": {
        "/": solar("start", PATHS),
        **{path: solar(path, LATE) for path in PATHS},
        **{path: solar(path) for path in LATE},
        FILE: Answer(body=RESERVED, content_type="application/json"),
    },
    "small.test": {"/": solar("small")},
}
SETTINGS = {"engine": {"concurrency": 1}, "scope": {"max_depth": 5}}


def crawled(politeness, **more):
    """Crawl both hosts; return the paths of each in the order of their requests, and the pages by URL."""
    with recorder(SITES) as w:
        settings = {**SETTINGS, "politeness": politeness, **more}
        result = crawl(w, [w.url("a.test"), w.url("small.test")], settings, seconds=60)
        hits = {host: sorted(w.hits(host), key=lambda hit: hit.start_ns) for host in SITES}
        pages = {each["url"]: each for each in result.pages}
    return {host: [hit.path for hit in hits[host]] for host in SITES}, pages, result


def check(paths, pages):
    """Check a crawl that obeyed: one request for the file, after nine pages, and none of what it reserves after it."""
    assert FILE not in paths["small.test"]
    place = paths["a.test"].index(FILE)
    assert len([path for path in paths["a.test"][:place] if path in SITES["a.test"]]) == 9
    assert paths["a.test"].count(FILE) == 1
    assert not [path for path in paths["a.test"][place:] if path.startswith("/late/")]
    assert {f"http://a.test{path}" for path in PATHS} <= pages.keys()


def test_a_host_with_ten_pages_is_asked_once_and_what_it_reserves_is_left_out():
    paths, pages, result = crawled({"ai_optout": "obey"})
    check(paths, pages)
    assert "opted out: tdm" in result.why("http://a.test/late/1")


def test_workers_share_the_file_in_a_store(tmp_path):
    try:
        with store_server("redis", tmp_path) as server:
            paths, pages, _ = crawled({"ai_optout": "obey"}, store=server.url, name="reserved")
    except ServerMissing as error:
        pytest.skip(str(error))
    check(paths, pages)


def test_nobody_is_asked_where_opt_outs_are_only_recorded():
    paths, pages, _ = crawled({"ai_optout": "record"})
    assert FILE not in {*paths["a.test"], *paths["small.test"]}
    assert f"http://a.test{LATE[0]}" in pages


def test_every_host_can_be_asked_before_its_first_page():
    paths, pages, _ = crawled({"ai_optout": "record", "tdmrep": "always"})
    assert [each[:2] for each in paths.values()] == [["/robots.txt", FILE]] * 2
    late = pages[f"http://a.test{LATE[0]}"]
    assert late["opt_outs"] == "tdm"
    assert late["signals"] == [{"source": "tdmrep.json", "statement": "tdm-reservation", "value": "1"}]
