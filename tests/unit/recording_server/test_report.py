from collections import Counter
from dataclasses import replace
from math import inf

from testing.recording_server import report
from testing.recording_server.log import Hit, HitLog, read_log

MILLISECOND = 1_000_000


def hit(start: int, end: int, *, host="127.0.0.2", path="/a.html", status=200, sent: int | None = None) -> Hit:
    """A hit with times in milliseconds; sent is end unless given."""
    sent_ns = (end if sent is None else sent) * MILLISECOND
    return Hit(start * MILLISECOND, sent_ns, end * MILLISECOND, host, status, path)


def test_lost_pages_are_those_without_an_answer():
    hits = [hit(0, 1, path="/a"), hit(2, 3, path="/b", status=0), hit(4, 5, path="/robots.txt")]
    assert report.lost({"127.0.0.2/a", "127.0.0.2/b", "127.0.0.2/c"}, hits) == {"127.0.0.2/b", "127.0.0.2/c"}


def test_requests_that_touch_are_not_open_at_once():
    assert report.max_parallel([hit(0, 10), hit(10, 20)]) == {"127.0.0.2": 1}


def test_one_nanosecond_of_overlap_is_two_at_once():
    late = Hit(10 * MILLISECOND - 1, 12 * MILLISECOND, 12 * MILLISECOND, "127.0.0.2", 200, "/b")
    assert report.max_parallel([late, hit(0, 10)]) == {"127.0.0.2": 2}


def test_hosts_do_not_disturb_each_other():
    hits = [hit(0, 10), hit(0, 10, host="127.0.0.3"), hit(5, 15, host="127.0.0.3")]
    assert report.max_parallel(hits) == {"127.0.0.2": 1, "127.0.0.3": 2}


def test_a_gap_runs_from_the_last_bytes_to_the_next_request():
    [gap] = report.gaps([hit(300, 310), hit(0, 90, sent=80)])
    assert (gap.host, gap.seconds) == ("127.0.0.2", 0.22)


def test_a_long_request_counts_against_all_that_follow_it():
    gaps = report.gaps([hit(0, 500), hit(100, 110), hit(600, 610)])
    assert [gap.seconds for gap in gaps] == [-0.4, 0.1]


def test_a_delay_is_kept_at_its_very_length_and_not_below():
    gaps = report.gaps([hit(0, 0), hit(200, 200), hit(399, 399)])
    assert [gap.after.start_ns // MILLISECOND for gap in report.violations(gaps, 0.2)] == [399]


def test_robots_txt_and_lost_connections_count_for_politeness():
    hits = [hit(0, 10, path="/robots.txt"), hit(20, 30, status=0), hit(35, 40)]
    assert [gap.seconds for gap in report.gaps(hits)] == [0.01, 0.005]


def test_requests_in_flight_at_a_moment():
    hits = [hit(0, 10), hit(5, 20), hit(10, 30)]
    assert [report.in_flight(hits, moment * MILLISECOND) for moment in (4, 5, 10, 30)] == [1, 2, 2, 0]


def test_a_refetch_is_charged_to_the_first_kill_after_the_earlier_request_began():
    hits = [hit(0, 10), hit(100, 110), hit(200, 210)]
    kills = [moment * MILLISECOND for moment in (-5, 12, 50, 150)]
    assert Counter(repeat.kill for repeat in report.refetches(hits, kills)) == {1: 1, 3: 1}


def test_a_refetch_without_a_kill_in_between_has_no_excuse():
    found = report.refetches([hit(20, 30), hit(40, 50)], [10 * MILLISECOND, 45 * MILLISECOND])
    assert Counter(repeat.kill for repeat in found) == {None: 1}


def test_only_answers_make_a_refetch():
    assert report.refetches([hit(0, 10, status=0), hit(20, 30), hit(0, 1, path="/robots.txt")]) == []


def test_the_rate_leaves_out_robots_txt():
    hits = [hit(0, 1, path="/robots.txt"), hit(100, 200, path="/a"), hit(300, 600, path="/b")]
    assert report.pages_per_second(hits) == 4.0


def test_a_report_tells_of_every_host_and_of_all():
    hits = [hit(0, 10), hit(110, 120), hit(200, 210), hit(0, 10, host="a.test"), hit(5, 15, host="a.test")]
    reported = report.report([*hits, hit(0, 1, host="b.test")], 0.1)
    assert reported.hosts == {
        "127.0.0.2": report.HostReport("127.0.0.2", 3, 1, 0.08, 1),
        "a.test": report.HostReport("a.test", 2, 2, -0.005, 1),
        "b.test": report.HostReport("b.test", 1, 1, inf, 0),
    }
    assert (reported.requests, reported.gaps, reported.open_at_once, reported.violations) == (6, 3, 2, 2)
    assert reported.shortest_gap_seconds == -0.005


def test_names_on_one_address_can_be_reported_together():
    hits = [replace(hit(start, start + 10, host=host), address="127.0.0.9") for start, host in ((0, "a"), (5, "b"))]
    assert report.report(hits).open_at_once == 1
    assert report.report(hits, by_address=True).hosts["127.0.0.9"].open_at_once == 2


def test_a_scripted_request_is_logged_with_its_headers(tmp_path):
    written = Hit(1, 2, 3, "a.test", 200, "/b,c", "127.0.0.9", (("Host", "a.test"), ("X", "1,\t2")), 17, left=True)
    path = tmp_path / "hits.csv"
    with path.open("w") as file:
        log = HitLog(file)
        log.add(written)
        log.flush()
    assert read_log(path) == [written]
    assert written.header("host") == "a.test"
    assert written.header("Cookie") is None


def test_a_log_is_read_as_it_was_written(tmp_path):
    written = [hit(5, 9, path="/b,c?d=1"), hit(1, 3)]
    path = tmp_path / "hits.csv"
    with path.open("w") as file:
        log = HitLog(file)
        for each in written:
            log.add(each)
        log.flush()
        file.write("12,13")  # the recording server is in the middle of a line
    assert read_log(path) == written[::-1]
