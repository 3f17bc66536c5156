from thresher.frontier.redis import recent
from thresher.frontier.redis.recent import Recent
from thresher.records import Candidate, Merge

HOST = "a.example"


def link(score=0.5, **more):
    return Candidate(url="https://a.example/1", score=score, **more)


def test_a_link_that_was_sent_is_no_news():
    sent = Recent(Merge.MAX)
    assert sent.is_news(link(), HOST)
    sent.note(link(), HOST)
    assert not sent.is_news(link(), HOST)
    assert not sent.is_news(link(0.4), HOST)


def test_a_better_score_fewer_hops_or_a_longer_tunnel_is_news():
    sent = Recent(Merge.MAX)
    sent.note(link(hops=3, depth_left=1), HOST)
    assert sent.is_news(link(0.6, hops=3, depth_left=1), HOST)
    assert sent.is_news(link(hops=2, depth_left=1), HOST)
    assert sent.is_news(link(hops=3, depth_left=2), HOST)


def test_where_the_first_score_wins_a_better_one_is_no_news():
    sent = Recent(Merge.FIRST)
    sent.note(link(), HOST)
    assert not sent.is_news(link(0.9), HOST)


def test_where_the_mean_counts_all_is_news():
    sent = Recent(Merge.MEAN)
    sent.note(link(), HOST)
    assert sent.is_news(link(), HOST)


def test_what_was_sent_is_news_again_after_its_time():
    now = 0.0
    sent = Recent(Merge.MAX, clock=lambda: now)
    sent.note(link(), HOST)
    now = recent.SECONDS
    assert sent.is_news(link(), HOST)


def test_a_changed_score_or_a_full_host_makes_links_news_again():
    sent = Recent(Merge.MAX)
    sent.note(link(), HOST)
    sent.forget(link().url, HOST)
    assert sent.is_news(link(), HOST)
    sent.note(link(), HOST)
    sent.forget_host(HOST)
    assert sent.is_news(link(), HOST)


def test_no_more_links_are_kept_than_the_bound(monkeypatch):
    monkeypatch.setattr(recent, "MOST", 10)
    sent = Recent(Merge.MAX)
    for n in range(100):
        sent.note(Candidate(url=f"https://h{n}.example/", score=0.5), f"h{n}.example")
    assert (
        sum(not sent.is_news(Candidate(url=f"https://h{n}.example/", score=0.5), f"h{n}.example") for n in range(100))
        == 10
    )
