"""The strategy of interclass rules: a page's class decides, and soft focus where no rule does."""

import pytest

from tests.unit.papers.strategies.rules.test_rule_table import TABLE_1
from thresher.errors import ConfigError
from thresher.records import Judgement, Lease, Link, ParsedPage
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.persistence.files import save
from thresher_papers.strategies.rules.strategy import CLASSES, InterclassRules
from thresher_papers.strategies.rules.table import RuleTable

SOFT = Judgement(relevance=0.07, relevant=False)
LEASE = Lease(url="http://a.example/", host="a.example", score=1.0, fence=1, until=0.0)


@pytest.fixture
def topic_profile(tmp_path):
    RuleTable(TABLE_1, frozenset({"PH"})).save(tmp_path)
    return TopicProfile(model=tmp_path)


def page(text):
    return ParsedPage(url="http://a.example/", text=text, links=(Link(url="http://a.example/1"),))


def by_first_word(found):
    return {found.text.split()[0]: 1.0} if found.text else {}


def score(topic_profile, text, judgement=SOFT, **parameters):
    [candidate] = InterclassRules(topic_profile, by_first_word, **parameters).score(page(text), judgement, LEASE)
    return candidate


@pytest.mark.parametrize(("label", "worth"), [("DH", 0.42), ("CH", 0.42), ("PH", 0.3)])
def test_links_of_a_page_get_the_score_of_its_class(label, worth, topic_profile):
    candidate = score(topic_profile, label)
    assert candidate.score == pytest.approx(worth)
    assert candidate.breakdown == {f"rules from {label}": pytest.approx(worth)}


@pytest.mark.parametrize("text", ["SP", "unknown", ""])
def test_where_no_rule_leads_on_soft_focus_decides(text, topic_profile):
    candidate = score(topic_profile, text)
    assert candidate.score == 0.07
    assert candidate.breakdown == {"soft focus": 0.07}


def test_soft_focus_asks_for_the_relevance_and_not_for_the_reward(topic_profile):
    assert score(topic_profile, "SP", Judgement(relevance=0.6, relevant=True, reward=1.0)).score == 0.6


def test_depth_and_combination_are_the_users(topic_profile):
    assert score(topic_profile, "DH", max_depth=1).score == pytest.approx(0.1)
    assert score(topic_profile, "DH", combine="max").score == pytest.approx(0.32)


@pytest.mark.parametrize("parameters", [{"max_depth": 0}, {"combine": "mean"}])
def test_parameters_without_sense_are_refused(parameters, topic_profile):
    with pytest.raises(ValueError, match="must be"):
        InterclassRules(topic_profile, by_first_word, **parameters)


def test_without_rules_the_error_names_the_command_to_run(tmp_path):
    for topic_profile in (TopicProfile(), TopicProfile(model=tmp_path)):
        with pytest.raises(ConfigError, match="thresher train"):
            InterclassRules(topic_profile)


def test_the_trained_classifier_lies_beside_the_rules(topic_profile):
    pytest.importorskip("sklearn")
    from thresher_papers.judges.taxonomy import train

    courses = ["lecture exercise exam credit", "exam lecture homework", "exercise credit lecture", "homework exam"]
    sports = ["football goal match", "match goal league", "league football score", "goal score match"]
    save(train({"CH": courses, "SP": sports}), topic_profile.model / CLASSES)
    strategy = InterclassRules(topic_profile)
    [course] = strategy.score(page("lecture homework exam"), SOFT, LEASE)
    [nothing] = strategy.score(page("zebra"), SOFT, LEASE)
    assert course.score == pytest.approx(0.42)
    assert nothing.score == 0.07
