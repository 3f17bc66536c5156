from dataclasses import replace

from testing.faulty_crawl.excuses import by_trouble
from testing.faulty_crawl.scene import Trouble
from testing.recording_server.log import Hit
from testing.recording_server.report import Repeat
from tests.faults.hammer import overlaps

TROUBLE = Trouble("cut", 100, 200, workers=1)


def fetched(first_ns, second_ns):
    hit = Hit(host="a", path="/", status=200, start_ns=first_ns, sent_ns=first_ns, end_ns=first_ns)
    return Repeat(hit, replace(hit, start_ns=second_ns), None)


def test_a_page_fetched_again_across_trouble_is_excused_by_it():
    assert by_trouble([fetched(50, 300), fetched(150, 160), fetched(50, 150)], [TROUBLE], [3]) == {0: 3}


def test_a_page_fetched_again_before_or_after_trouble_is_not_excused():
    assert by_trouble([fetched(10, 20), fetched(201, 300)], [TROUBLE], [3]) == {None: 2}


def test_the_first_trouble_that_could_have_caused_it_answers_for_a_page():
    troubles = [TROUBLE, replace(TROUBLE, before_ns=300, after_ns=400)]
    assert by_trouble([fetched(50, 500)], troubles, [3, 3]) == {0: 1}


def test_troubles_at_the_same_time_share_what_both_may_have_caused_and_no_more():
    assert by_trouble([fetched(50, 500)] * 3, [TROUBLE, TROUBLE], [1, 1]) == {0: 2, 1: 1}


def test_a_host_that_two_processes_have_at_once_is_seen():
    grants = [("http://a.test/1", 1, 0, 10), ("http://a.test/2", 2, 5, 15), ("http://b.test/", 3, 0, 20)]
    assert overlaps(grants) == 1
    assert overlaps([grants[0], ("http://a.test/2", 2, 10, 15), grants[2]]) == 0
