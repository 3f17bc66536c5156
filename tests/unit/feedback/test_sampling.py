"""A model's questions are spread over the better part of a crawl; a person's are the nearest to the threshold."""

from itertools import pairwise

import pytest

from thresher.feedback.sampling import MIN_REACH, LabelCandidate, most_informative, nearest_to_threshold


def asked(number, chance, *, host="a.example"):
    return LabelCandidate(url=f"http://{host}/{number}", relevance=chance, host=host)


def crawl(count):
    """Pages from sure to hopeless, in no order."""
    pages = [asked(number, 1 - number / count) for number in range(count)]
    return pages[::2] + pages[1::2]


def places(chosen):
    return [int(url.rpartition("/")[2]) for url in chosen]


def test_nothing_is_asked_where_nothing_was_crawled():
    assert most_informative([], 5) == []


def test_few_pages_are_all_asked_about():
    assert sorted(places(most_informative(crawl(3), 5))) == [0, 1, 2]


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_as_many_pages_as_were_requested_and_none_twice(count):
    chosen = places(most_informative(crawl(100), count))
    assert len(set(chosen)) == len(chosen) == count


def test_the_likeliest_is_always_asked_about():
    assert places(most_informative(crawl(100), 5))[0] == 0


def test_questions_go_evenly_down_to_twice_as_far_as_the_topic_seems_to_go():
    pages = [asked(number, (0.9 if number < 50 else 0.1) - number / 10_000) for number in range(400)]
    chosen = places(most_informative(pages, 5))
    steps = [after - before for before, after in pairwise(chosen)]
    assert max(chosen) == 99
    assert max(steps) - min(steps) <= 1


def test_a_crawl_that_seems_to_have_found_nothing_is_asked_about_all_the_same():
    pages = [asked(number, 0.1 - number / 10_000) for number in range(400)]
    assert max(places(most_informative(pages, 5))) == MIN_REACH - 1


@pytest.mark.parametrize(("threshold", "numbers"), [(0.5, [2, 1]), (0.9, [0, 1]), (0.02, [3, 2])])
def test_the_pages_nearest_to_the_threshold_come_first_on_whichever_side_they_are(threshold, numbers):
    pages = [asked(0, 0.9), asked(1, 0.7), asked(2, 0.45), asked(3, 0.05)]
    chosen = nearest_to_threshold(pages, 2, threshold=threshold)
    assert places([page.url for page in chosen]) == numbers


def test_of_pages_that_lie_close_together_one_is_asked_about_from_a_host_that_is_new():
    pages = [asked(number, 1 - number / 100, host="b.example" if number % 2 else "a.example") for number in range(100)]
    hosts = [url.split("/")[2] for url in most_informative(pages, 6)]
    assert hosts.count("a.example") == hosts.count("b.example") == 3


def test_the_order_of_the_pages_does_not_matter():
    pages = crawl(60)
    assert most_informative(pages, 7) == most_informative(pages[::-1], 7)


def test_a_single_question_is_about_the_page_nearest_to_the_threshold_on_either_side():
    pages = [asked(0, 0.9), asked(1, 0.45), asked(2, 0.3), asked(3, 0.1)]
    assert places(page.url for page in nearest_to_threshold(pages, 1, threshold=0.4)) == [1]
