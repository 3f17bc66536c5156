"""Frequent tokens outside the table are candidates for it, counted in bounded memory."""

import random
from collections import Counter

from thresher.topics.token_table import TokenCounter, TokenTable, unmapped

TABLE = TokenTable.shipped()


def counted(urls, **options):
    counter = TokenCounter(**options)
    for url in urls:
        counter.add(url)
    return counter


def test_a_token_must_be_seen_more_than_five_hundred_times():
    urls = ["http://a.example/binghu/"] * 500 + ["http://a.example/curling/"] * 501
    assert [each.token for each in unmapped(counted(urls), TABLE)] == ["a", "example", "curling"]


def test_tokens_of_the_table_and_of_the_topic_are_not_reported():
    urls = ["http://www.x.cn/lanqiu/curling/kaolv/"] * 2
    found = unmapped(counted(urls, least=1), TABLE, labels=["Curling"])
    assert [each.token for each in found] == ["kaolv", "x"]


def test_the_most_frequent_comes_first_with_an_example():
    urls = ["http://x.cn/b/", "http://x.cn/b/a/"]
    [first, *_] = unmapped(counted(urls, least=1), TABLE)
    assert (first.token, first.count, first.example) == ("b", 2, "http://x.cn/b/a/")


def test_what_a_token_counts_as_already_is_reported():
    [found] = unmapped(counted(["http://sportsradio8.cn/"], least=0), TABLE)
    assert found.holds == ("sports", "radio", "sport")


def test_a_token_twice_in_a_url_counts_once():
    assert counted(["http://x.cn/a/a/"], least=0).frequent() == [("a", 1), ("x", 1)]


def test_with_little_room_no_frequent_token_is_missed_and_counts_are_off_by_at_most_the_error():
    chance = random.Random(7)
    words = [f"w{int(chance.paretovariate(0.8))}" for _ in range(20_000)]
    counter = counted((f"http://{word}.cn/" for word in words), least=200, capacity=100)
    truth = Counter(words)
    frequent = dict(counter.frequent())
    assert {word for word, count in truth.items() if count > 200} <= set(frequent)
    assert all(truth[word] - counter.error <= count <= truth[word] for word, count in frequent.items())
    assert 0 < counter.error <= len(words) / 100
