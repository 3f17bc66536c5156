"""A URL speaks for a topic when it spells the topic's labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.topics.profile import UrlEvidence
from thresher.topics.token_table import SpellingKind, TokenTable

SPORTS = {"en": "Sports", "zh": "体育"}
BASKETBALL = {"en": "Basketball", "zh": "篮球"}
SHANGHAI = {"en": "Shanghai", "zh": "上海"}
TABLE = TokenTable.shipped()


def evidence(*paths, **options):
    return UrlEvidence(paths, TABLE, **options)


def test_the_example_of_the_paper():
    assert evidence([SPORTS, BASKETBALL]).score("http://sports.sohu.com/lanqiu.shtml") == pytest.approx(1)


@pytest.mark.parametrize(
    ("url", "R_url"),
    [
        ("http://sports.sohu.com/a.html", (1 / 2) * (2 / 3)),
        ("http://www.example.cn/lanqiu/", 1 * (2 / 3)),
        ("http://www.example.cn/NBA/", 1 * 0.5 * (2 / 3)),
        ("http://www.example.cn/lq/", 1 * 0.2 * (2 / 3)),
        ("http://www.example.cn/%E7%AF%AE%E7%90%83", 1 * (2 / 3)),
        ("http://www.example.cn/lan_qiu/", 1 * (2 / 3)),
        ("http://www.example.cn/news/", 0),
    ],
)
def test_deeper_labels_weigh_more_and_unsure_kinds_less(url, R_url):
    assert evidence([SPORTS, BASKETBALL]).score(url) == pytest.approx(R_url)


def test_of_several_spellings_of_a_label_the_best_counts():
    assert evidence([BASKETBALL]).score("http://nba.example.com/lq/basketball/") == 1


def test_of_several_nodes_the_best_counts():
    url = "http://example.com/basketball/"
    assert evidence([SPORTS, SHANGHAI], [BASKETBALL]).score(url) == 1


def test_a_short_spelling_must_be_a_whole_token():
    assert evidence([SHANGHAI]).score("http://shop.example.com/") == 0
    assert evidence([SHANGHAI]).score("http://www.sh.xinhuanet.com/") == 0.2


def test_a_short_spelling_may_be_a_part_between_joints():
    assert evidence([SHANGHAI]).score("http://example.com/sh-news/") == 0.2


def test_the_papers_own_rule_finds_short_spellings_inside_words():
    assert evidence([SHANGHAI], whole_token_up_to=0).score("http://shop.example.com/") == 0.2


def test_the_ending_of_a_host_is_no_evidence():
    schools = evidence([{"en": "Education"}])
    assert schools.score("http://www.example.edu/") == 0
    assert schools.score("http://edu.example.com.cn/") == 0.5


def test_matches_say_what_was_spelled_and_what_it_brought():
    [one, two] = evidence([SPORTS, BASKETBALL]).matches("http://sports.sohu.com/lanqiu.shtml")
    assert (one.label, one.level, one.kind, one.spelling, one.token) == (
        "Sports",
        1,
        SpellingKind.WORD,
        "sports",
        "sports",
    )
    assert (two.label, two.level, two.kind, two.spelling) == ("Basketball", 2, SpellingKind.PINYIN, "lanqiu")
    assert one.part + two.part == pytest.approx(1)


def test_a_topic_without_labels_is_never_matched():
    assert evidence().score("http://example.com/") == 0
    assert evidence([]).matches("http://example.com/") == []


PIECES = st.lists(st.sampled_from(["sports", "lan", "qiu", "lq", "nba", "%E7%AF%AE", "%E7%90%83", *"/.-_?=%+:x"]))


@given(PIECES, st.sampled_from([0, 3]))
def test_the_score_is_the_sum_of_its_matches(pieces, whole_token_up_to):
    found = evidence([SPORTS, BASKETBALL], whole_token_up_to=whole_token_up_to)
    url = "http://" + "".join(pieces)
    assert found.score(url) == pytest.approx(sum(match.part for match in found.matches(url)))


def test_a_level_without_a_label_still_has_its_weight():
    assert evidence([{}, BASKETBALL]).score("http://example.com/basketball/") == pytest.approx(2 / 3)
