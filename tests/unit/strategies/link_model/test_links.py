import numpy as np
import pytest

from thresher.records import Link, ParsedPage
from thresher.strategies.link_model.link_table import MAX_PARENTS, LinkTable
from thresher.strategies.link_model.model import NAMES
from thresher.strategies.link_model.site_rates import SiteRates
from thresher.strategies.link_model.term_model import NAME_FEATURES, NameModel, TermModel
from thresher.text.word_vectors import load_word_vectors
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint


def known_links(profile=None, **more):
    words = TermModel()
    return LinkTable(profile or TopicProfile(), SiteRates(), words, NameModel(None, words, ""), width=2, **more)


def page(name, *targets):
    links = tuple(Link(url=f"http://a.org/{target}", anchor=str(target)) for target in targets)
    return ParsedPage(url=f"http://a.org/{name}", title=name, text=name, links=links)


def number(known, name):
    return known.find(fingerprint(f"http://a.org/{name}"))


def test_the_links_of_a_page_lead_to_urls_that_wait():
    known = known_links()
    children = known.add_page(page("p", "x", "y", "x"), 1.0)
    assert [known.names[child] for child in children] == ["http://a.org/x", "http://a.org/y"]
    numbers, rows, at = known.waiting()
    assert numbers.tolist() == children.tolist()
    assert (rows.tolist(), at.tolist()) == ([0, 1], [0, 1])


def test_all_links_to_a_url_are_known():
    known = known_links()
    known.add_page(page("p", "x"), 1.0)
    children = known.add_page(page("q", "x", "y"), 0.0)
    rows, at = known.all_links_to(children)
    assert known.links["page"][rows].tolist() == [number(known, "p"), number(known, "q"), number(known, "q")]
    assert at.tolist() == [0, 0, 1]
    assert known.urls["parents"][children].tolist() == [2, 1]


def test_a_fetched_page_waits_no_more_and_its_outcome_is_known_where_it_is_linked():
    known = known_links()
    known.add_page(page("p", "x", "y", "z"), 1.0)
    known.add_page(page("x"), 1.0)
    assert number(known, "x") not in known.waiting()[0].tolist()
    p = number(known, "p")
    assert (known.urls["tries"][p], known.urls["successes"][p]) == (1, 1)
    assert known.links["near"].tolist() == pytest.approx([0, 1, 0.5])
    assert known.links["near_success"].tolist() == pytest.approx([0, 1, 0.5])


def test_a_new_page_counts_its_links_that_were_fetched_before():
    known = known_links()
    known.add_page(page("x"), 1.0)
    known.add_page(page("p", "x", "y"), 0.0)
    assert known.urls["successes"][number(known, "p")] == 1
    assert known.links["near_success"].tolist() == [0, 1]


def test_a_revision_counts_once():
    known = known_links()
    known.add_page(page("p", "x", "y"), 1.0)
    known.add_page(page("x"), 1.0)
    assert known.settle(number(known, "x"), 0.25) == pytest.approx(-0.75)
    p = number(known, "p")
    assert (known.urls["tries"][p], known.urls["successes"][p]) == (1, 0.25)


def test_a_tunnel_grows_with_irrelevant_pages_and_ends_at_a_relevant_one():
    known = known_links()
    for name, relevance, target in (("a", 1.0, "b"), ("b", 0.0, "c"), ("c", 0.0, "d"), ("d", 1.0, "e")):
        known.add_page(page(name, target), relevance)
    away = [known.urls["away"][number(known, name)] for name in "bcde"]
    assert away == [1, 2, 0, 1]


def test_of_a_url_in_every_menu_a_limited_number_of_parents_is_kept():
    known = known_links()
    for one in range(MAX_PARENTS + 5):
        known.add_page(page(f"p{one}", "menu"), 0.0)
    menu = number(known, "menu")
    assert len(known.links_to(menu)) == MAX_PARENTS
    assert known.urls["parents"][menu] == MAX_PARENTS + 5


def test_when_there_are_too_many_links_those_to_the_worst_urls_are_forgotten():
    known = known_links(most_links=100)
    for one in range(20):
        children = known.add_page(page(f"p{one}", *(f"{one}-{link}" for link in range(10))), float(one % 2))
        known.urls["score"][children] = np.linspace(0, 1, 10)
    assert known.links.size <= 100
    assert known.find(fingerprint("http://a.org/0-0")) is None
    numbers, rows, at = known.waiting()
    assert (np.bincount(at, minlength=len(numbers)) > 0).all()
    for row in rows.tolist():
        assert known.names[known.links["url"][row]].startswith(known.names[known.links["page"][row]].replace("/p", "/"))
    assert known.add_page(page("again", "0-0"), 1.0).size == 1


def test_after_forgetting_links_of_a_page_still_stand_side_by_side():
    known = known_links(most_links=60)
    shared = [f"shared-{link}" for link in range(8)]
    for one in range(9):
        children = known.add_page(page(f"p{one}", *shared, f"own-{one}"), 1.0)
        known.urls["score"][children] = 0.5
    known.forget()
    left = [int(number) for number in known.waiting()[0]]
    for number_left in left:
        for row in known.links_to(number_left):
            assert known.links["url"][row] == number_left
    first = known.links_to(number(known, "shared-0"))[0]
    known.settle(number(known, "shared-1"), 1.0)
    assert known.links["near_success"][first : first + 3].tolist() == [1.0, 0.0, 1.0]


def test_what_links_to_a_url_say_is_summed_up():
    known = known_links(TopicProfile(vectors={"en": {"seal": 1.0}}))
    known.add_page(page("p", "seal", "tax"), 1.0)
    link = Link(url="http://a.org/tax", anchor="seal tax", context="seal seal pup")
    known.add_page(ParsedPage(url="http://b.org/", title="", text="", links=(link,)), 1.0)
    tax = number(known, "tax")
    anchor, context, bare, outward, *_ = known.urls["facts"][tax].tolist()
    assert (anchor, context) == pytest.approx((1 / 2**0.5, 2 / 5**0.5))
    assert (bare, outward) == (0, 1)
    assert known.urls["anchor"][tax] == pytest.approx(1 / 2**0.5)
    facts = known.urls["facts"].copy()
    known.update_text_features(known.waiting()[1])
    assert known.urls["facts"].tolist() == facts.tolist()


def test_after_forgetting_outcomes_still_reach_the_pages_that_are_left():
    known = known_links(most_links=40)
    for one in range(6):
        children = known.add_page(page(f"p{one}", *(f"{one}-{link}" for link in range(10))), 1.0)
        known.urls["score"][children] = np.linspace(0, 1, 10)
    left = int(known.waiting()[0][0])
    parent = int(known.links["page"][known.links_to(left)[0]])
    before = float(known.urls["successes"][parent])
    known.settle(left, 1.0)
    assert known.urls["successes"][parent] == before + 1


def test_a_url_whose_outcome_is_known_does_not_wait_when_it_is_found_again():
    known = known_links(most_links=4)
    known.add_page(page("p", "x", "y"), 1.0)
    known.settle(number(known, "x"), 0.7)
    known.urls["score"][number(known, "y")] = 1.0
    known.forget()
    assert number(known, "x") is None
    assert known.add_page(page("q", "x"), 0.0).tolist() == []
    assert known.urls["relevance"][number(known, "x")] == pytest.approx(0.7)
    assert known.urls["tries"][number(known, "q")] == 1


def test_what_others_have_fetched_does_not_wait_either():
    known = known_links()
    known.remember(fingerprint("http://a.org/x"), 1.0)
    children = known.add_page(page("p", "x", "y"), 0.0)
    assert [known.names[child] for child in children] == ["http://a.org/y"]


def test_outcomes_are_remembered_of_the_latest_only(monkeypatch):
    monkeypatch.setattr("thresher.strategies.link_model.link_table.MAX_OUTCOMES", 2)
    known = known_links()
    for key in (1, 2, 1, 3):
        known.remember(key, 0.5)
    assert list(known._outcomes) == [1, 3]


def test_names_cost_at_most_160_bytes_per_url():
    words = TermModel()
    names = NameModel(load_word_vectors(), words, "")
    known = LinkTable(TopicProfile(), SiteRates(), words, names, width=len(NAMES))
    vector, x = known.urls["vector"], known.urls["x"]
    assert vector.itemsize * vector.shape[1] + x.itemsize * len(NAME_FEATURES) <= 160
