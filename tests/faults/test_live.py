"""A crawl of a script, in the few lines that every row needs."""

from testing.recording_server import page, recorder, text
from tests.faults.live import crawl

SCRIPT = {
    "good.test": {
        "/robots.txt": text("User-agent: *\nDisallow: /secret"),
        "/": page("Solar", "perovskite solar cells", ["/a", "/secret", "http://other.test/", "https://good.test/tls"]),
        "/a": page("A", "tandem solar cells"),
        "/tls": page("Safe", "halide perovskite absorber"),
    },
    "other.test": {"/": page("Other", "solar cells elsewhere")},
}


def test_a_script_is_crawled_by_name_and_its_log_tells_how():
    with recorder(SCRIPT) as w:
        result = crawl(w, [w.url("good.test")], {"politeness": {"delay_seconds": 0.1}}, seconds=20)
        report = w.report(delay_seconds=0.1)
        assert w.hits(path="/secret") == []
    assert result.exit_code == 0, result.stderr
    assert result.urls == {"http://good.test/", "http://good.test/a", "https://good.test/tls", "http://other.test/"}
    assert (report.open_at_once, report.violations) == (1, 0), report
    assert {"good.test", "other.test"} <= set(report.hosts)
    assert result.hosts["other.test"]["pages"] == 1
    assert result.status["pages"] == 4
    assert 20 << 20 < result.peak_rss_bytes < 1 << 30
    assert "robots" in result.why("http://good.test/secret")


def test_a_crawl_ends_when_it_has_its_pages():
    with recorder(SCRIPT) as w:
        result = crawl(w, [w.url("good.test")], pages=1, seconds=20)
    assert result.exit_code == 0, result.stderr
