"""Thresher's own strategy, on a small web that is made here: hubs, good pages beside bad ones, dead links."""

from dataclasses import replace

import pytest

from tests.unit.strategies.link_model.test_state import MemoryStateStore
from thresher.records import Judgement, Lease, Link, ParsedPage, Revision
from thresher.strategies.base import Forecaster
from thresher.strategies.link_model.model import GROUPS
from thresher.strategies.link_model.strategy import LinkModelStrategy, forecast
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint


def page(name, *targets, text=""):
    links = tuple(
        Link(url=f"http://a.org/{target}", anchor=target.rpartition("/")[2].replace("-", " "), tag_path="ul/li/a")
        for target in targets
    )
    return ParsedPage(url=f"http://a.org/{name}", title=name, text=text or name, links=links)


def lease(url):
    return Lease(url=url, host="a.org", score=0.0, fence=1, until=0.0)


def crawled(strategy, found, relevance):
    judgement = Judgement(relevance=relevance, relevant=relevance >= 0.5)
    candidates = {one.url: one for one in strategy.score(found, judgement, lease(found.url))}
    return candidates, strategy.revise(())


def test_seeds_start_on_top():
    assert [one.score for one in LinkModelStrategy(TopicProfile()).seeds(["http://a.org/"])] == [1.0]


def test_links_of_relevant_pages_come_before_those_of_others():
    strategy = LinkModelStrategy(TopicProfile())
    good, _ = crawled(strategy, page("good", "x", "y"), 1.0)
    bad, _ = crawled(strategy, page("bad", "u", "v"), 0.0)
    assert min(one.score for one in good.values()) > max(one.score for one in bad.values())


def test_a_score_is_a_probability_and_its_parts_have_names():
    candidates, _ = crawled(LinkModelStrategy(TopicProfile()), page("p", "x", "y", "x"), 0.7)
    assert set(candidates) == {"http://a.org/x", "http://a.org/y"}
    for one in candidates.values():
        assert 0 <= one.score <= 1
        assert list(one.breakdown) == list(GROUPS)


def wide_crawl(strategy, pages=40):
    """Pages of /film/ are the topic and those of /tax/ are not; every hub links to both."""
    changes = {}
    for number in range(pages):
        targets = [f"film/{number}-{one}" for one in range(3)] + [f"tax/{number}-{one}" for one in range(3)]
        _, changed = crawled(strategy, page(f"hub/{number}", *targets), 0.0)
        changes.update(changed)
        for kind, relevance in (("film", 1.0), ("tax", 0.0)):
            _, changed = crawled(strategy, page(f"{kind}/{number}-0"), relevance)
            changes.update(changed)
    return changes


def test_where_links_lead_is_learned_and_waiting_urls_follow():
    strategy = LinkModelStrategy(TopicProfile())
    changes = wide_crawl(strategy)
    films = [change.now for url, change in changes.items() if "/film/" in url]
    taxes = [change.now for url, change in changes.items() if "/tax/" in url]
    assert films
    assert min(films[-5:]) > max([*taxes[-5:], 0.0])
    fresh, _ = crawled(strategy, page("hub/new", "film/new", "tax/new"), 0.0)
    assert fresh["http://a.org/film/new"].score > 3 * fresh["http://a.org/tax/new"].score


def test_changes_begin_where_the_queue_stands():
    strategy, queue = LinkModelStrategy(TopicProfile()), {}
    for number in range(30):
        candidates, changes = crawled(
            strategy, page(f"p{number}", *(f"x{(number + one) % 40}" for one in range(8))), 1.0
        )
        for url, one in candidates.items():
            queue[url] = max(queue.get(url, 0.0), one.score)
        for url, change in changes.items():
            assert change.was == pytest.approx(queue[url])
            queue[url] = change.now


def test_dead_links_are_learned_from():
    strategy = LinkModelStrategy(TopicProfile())
    for number in range(20):
        crawled(strategy, page(f"p{number}", f"image/{number}.htm", f"text/{number}.htm"), 1.0)
        assert list(strategy.on_miss(lease(f"http://a.org/image/{number}.htm"))) == []
        crawled(strategy, page(f"text/{number}.htm"), 1.0)
    fresh, _ = crawled(strategy, page("new", "image/new.htm", "text/new.htm"), 1.0)
    assert fresh["http://a.org/image/new.htm"].score < 0.5 * fresh["http://a.org/text/new.htm"].score


def test_revisions_of_the_judge_reach_what_waits():
    strategy = LinkModelStrategy(TopicProfile(), sweep_pages=1)
    crawled(strategy, page("p", "x"), 1.0)
    verdict = Judgement(relevance=0.0, relevant=False)
    changes = strategy.revise([Revision(url="http://a.org/p", judgement=verdict)])
    assert changes["http://a.org/x"].now < changes["http://a.org/x"].was


def test_it_forecasts_by_the_measured_interval():
    strategy = LinkModelStrategy(TopicProfile())
    assert isinstance(strategy, Forecaster)
    assert strategy.forecast(pages=199, harvest=10.0, waiting=500) is None
    assert strategy.forecast(pages=200, harvest=10.0, waiting=500) == forecast(pages=200, harvest=10.0, waiting=500)


def test_a_restart_goes_on_with_what_was_learned():
    state_store, strategy, other = (
        MemoryStateStore(),
        LinkModelStrategy(TopicProfile()),
        LinkModelStrategy(TopicProfile()),
    )
    strategy.load_state(state_store)
    wide_crawl(strategy)
    strategy.save_state()
    other.load_state(state_store)
    for one in (strategy, other):
        fresh, _ = crawled(one, page("hub/new", "film/new", "tax/new"), 0.0)
        assert fresh["http://a.org/film/new"].score > 3 * fresh["http://a.org/tax/new"].score


def test_its_memory_is_bounded():
    strategy = LinkModelStrategy(TopicProfile(), most_links=500)
    for number in range(100):
        crawled(strategy, page(f"p{number}", *(f"{number}/{one}" for one in range(20))), float(number % 2))
    assert strategy._links.links.size <= 500
    assert strategy._links.urls.size <= 1100


@pytest.mark.parametrize("relevance", [1.0, 0.0])
def test_a_url_that_redirects_counts_as_what_it_led_to(relevance):
    strategy = LinkModelStrategy(TopicProfile())
    crawled(strategy, page("start", "moved", "other"), 1.0)
    moved = strategy._links.find(fingerprint("http://a.org/moved"))
    assert moved in strategy._links.waiting()[0]
    target = replace(lease("http://a.org/target"), redirects=1, parent=fingerprint("http://a.org/moved"))
    judgement = Judgement(relevance=relevance, relevant=relevance >= 0.5)
    list(strategy.score(page("target"), judgement, target) if relevance else strategy.on_miss(target))
    assert moved not in strategy._links.waiting()[0]
    assert strategy._links.urls["relevance"][moved] == relevance


def test_a_revision_counts_only_where_the_fetch_was_counted():
    """A link that is found after the fetch stands at another element, which has no tries."""
    strategy = LinkModelStrategy(TopicProfile())
    crawled(strategy, page("hub", "x"), 0.5)
    crawled(strategy, page("x"), 0.2)
    late = page("late", "x", "y")
    crawled(strategy, replace(late, links=tuple(link._replace(tag_path="footer/a") for link in late.links)), 0.5)
    for relevance in (0.9, 0.1, 1.0):
        judgement = Judgement(relevance=relevance, relevant=relevance > 0.5)
        strategy.revise([Revision(url="http://a.org/x", judgement=judgement)])
    footer, lists = (strategy._site_rates.path("a.org", path) for path in ("footer/a", "ul/li/a"))
    assert strategy._site_rates._successes[footer] == 0
    assert strategy._site_rates._successes[lists] == pytest.approx(1.0)


def titled(name, title, *targets):
    return replace(page(name, *targets), title=title)


def crawl_of_volcanoes(strategy):
    """Pages about volcanoes are relevant; links to them, and others, are in lists of many links."""
    others = [
        "string-quartet",
        "tax-law",
        "football",
        "parliament",
        "bread",
        "opera",
        "novel",
        "bishop",
        "train",
        "tennis",
    ]
    crawled(strategy, titled("1", "Volcano", *others[:5], "crater"), 1.0)
    crawled(strategy, titled("2", "Lava", *others[5:], "eruption"), 1.0)
    crawled(strategy, titled("3", "Opera singer", "aria", "tenor"), 0.0)
    return crawled(strategy, titled("4", "Magma", "geyser", "violin"), 1.0)[0]


def test_links_with_names_similar_to_relevant_titles_come_first():
    scores = crawl_of_volcanoes(LinkModelStrategy(TopicProfile()))
    assert scores["http://a.org/geyser"].score > 2 * scores["http://a.org/violin"].score
    assert (
        scores["http://a.org/geyser"].breakdown["similar names"]
        > scores["http://a.org/violin"].breakdown["similar names"]
    )


def test_without_the_table_scores_are_those_of_the_model_without_vectors(monkeypatch):
    plain = crawl_of_volcanoes(LinkModelStrategy(TopicProfile(), vectors=False, early_pages=0))
    monkeypatch.setattr("thresher.strategies.link_model.strategy.load_word_vectors", lambda: None)
    absent = crawl_of_volcanoes(LinkModelStrategy(TopicProfile()))
    assert {url: one.score for url, one in absent.items()} == {url: one.score for url, one in plain.items()}
    assert {one.breakdown["similar names"] for one in plain.values()} == {0.0}


def test_waiting_urls_are_rescored_after_every_early_page():
    early, late = LinkModelStrategy(TopicProfile()), LinkModelStrategy(TopicProfile(), early_pages=0)
    swept = dict.fromkeys((early, late), 0)
    for strategy in swept:
        for number in range(20):
            _, changes = crawled(strategy, page(f"p{number}", f"x{number}", f"y{number}"), float(number % 2))
            swept[strategy] += bool(changes)
    assert swept[early] >= 12
    assert swept[late] <= 5


def test_a_restart_goes_on_with_the_names_that_were_learned():
    state_store, strategy, other = (
        MemoryStateStore(),
        LinkModelStrategy(TopicProfile()),
        LinkModelStrategy(TopicProfile()),
    )
    strategy.load_state(state_store)
    crawl_of_volcanoes(strategy)
    strategy.save_state()
    other.load_state(state_store)
    words = [
        "sonata",
        "river",
        "bridge",
        "king",
        "horse",
        "church",
        "army",
        "cheese",
        "island",
        "poet",
        "lawyer",
        "school",
    ]
    crawled(other, titled("5", "Index", *words), 0.0)
    scores, _ = crawled(other, titled("6", "Index", "geyser", "violin"), 0.0)
    assert scores["http://a.org/geyser"].score > scores["http://a.org/violin"].score


def test_another_workers_relevant_page_is_an_example_by_its_name():
    names, strategy = ["lava-flow", "ash-cloud", "crater-lake"], LinkModelStrategy(TopicProfile())
    crawled(strategy, page("1", *names, "tax-law"), 0.0)
    for name in names:
        strategy._learn_name(fingerprint(f"http://a.org/{name}"), 1.0)
    assert all(strategy._names.has(fingerprint(f"http://a.org/{name}")) for name in names)
    strategy._learn_name(fingerprint("http://a.org/tax-law"), 0.0)
    assert not strategy._names.has(fingerprint("http://a.org/tax-law"))
