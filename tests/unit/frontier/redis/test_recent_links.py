from thresher.frontier.redis import frontier
from thresher.frontier.redis.frontier import RecentLinks
from thresher.records import Candidate, Merge

HOST = "a.example"


def link(score=0.5, **more):
    return Candidate(url="https://a.example/1", score=score, **more)


def test_a_link_that_was_sent_is_no_news():
    sent = RecentLinks(Merge.MAX)
    assert sent.should_send(link(), HOST)
    sent.add(link(), HOST)
    assert not sent.should_send(link(), HOST)
    assert not sent.should_send(link(0.4), HOST)


def test_a_better_score_fewer_hops_or_a_longer_tunnel_is_news():
    sent = RecentLinks(Merge.MAX)
    sent.add(link(hops=3, depth_left=1), HOST)
    assert sent.should_send(link(0.6, hops=3, depth_left=1), HOST)
    assert sent.should_send(link(hops=2, depth_left=1), HOST)
    assert sent.should_send(link(hops=3, depth_left=2), HOST)


def test_where_the_first_score_wins_a_better_one_is_no_news():
    sent = RecentLinks(Merge.FIRST)
    sent.add(link(), HOST)
    assert not sent.should_send(link(0.9), HOST)


def test_where_the_mean_counts_all_is_news():
    sent = RecentLinks(Merge.MEAN)
    sent.add(link(), HOST)
    assert sent.should_send(link(), HOST)


def test_what_was_sent_is_news_again_after_its_time():
    now = 0.0
    sent = RecentLinks(Merge.MAX, clock=lambda: now)
    sent.add(link(), HOST)
    now = frontier.SECONDS
    assert sent.should_send(link(), HOST)


def test_a_changed_score_or_a_full_host_makes_links_news_again():
    sent = RecentLinks(Merge.MAX)
    sent.add(link(), HOST)
    sent.forget(link().url, HOST)
    assert sent.should_send(link(), HOST)
    sent.add(link(), HOST)
    sent.forget_host(HOST)
    assert sent.should_send(link(), HOST)


def test_no_more_links_are_kept_than_the_bound(monkeypatch):
    monkeypatch.setattr(frontier, "MAX_LINKS", 10)
    sent = RecentLinks(Merge.MAX)
    for n in range(100):
        sent.add(Candidate(url=f"https://h{n}.example/", score=0.5), f"h{n}.example")
    assert (
        sum(
            not sent.should_send(Candidate(url=f"https://h{n}.example/", score=0.5), f"h{n}.example")
            for n in range(100)
        )
        == 10
    )
