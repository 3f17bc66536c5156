"""Soft and hard focus over the classes of a taxonomy."""

import pytest

from tests.unit.judges.small_corpus import documents
from thresher.errors import ConfigError
from thresher.parsing.html import parse
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.estimators.sections import weighted_counts
from thresher_papers.judges.persistence.files import load, save
from thresher_papers.judges.taxonomy import HardFocusJudge, TaxonomyJudge, target_classes, train

TEXTS, LABELS = documents(120)
CLASSES = {
    f"Top/{label}": [text["body"] for text, own in zip(TEXTS, LABELS, strict=True) if own == label]
    for label in sorted(set(LABELS))
}
NODES = ["Sports", "Sports/Ball", "Sports/Ball/NBA", "Arts"]


def topic_profile(*targets, classes=CLASSES):
    return TopicProfile(classes=lambda: classes, targets=frozenset(targets))


def page(text):
    return ParsedPage(url="http://a.example/", text=text)


def test_relevance_is_the_sum_over_the_wanted_classes():
    text = page("guitar piano concert opera soil rose")
    music, garden, both = (
        TaxonomyJudge(topic_profile(*targets)).judge(text).relevance
        for targets in (["Top/music"], ["Top/garden"], ["Top/music", "Top/garden"])
    )
    assert both == pytest.approx(music + garden)


def test_hard_focus_says_yes_to_pages_of_a_wanted_class_alone():
    judge = HardFocusJudge(topic_profile("Top/music"))
    assert judge.judge(page("guitar piano concert opera")).relevance == 1.0
    assert judge.judge(page("turbine wind power grid 风力")).relevance == 0.0


def test_hard_focus_asks_for_a_likely_class():
    text = page("guitar piano concert opera soil rose turbine grid news")
    assert not HardFocusJudge(topic_profile("Top/music"), least=0.999).judge(text).relevant


def test_a_judgement_names_the_likeliest_classes():
    breakdown = TaxonomyJudge(topic_profile("Top/music")).judge(page("钢琴 音乐")).breakdown
    assert next(iter(breakdown)) == "class Top/music"


def test_words_speak_for_the_wanted_classes_or_against_them():
    words = TaxonomyJudge(topic_profile("Top/music")).words(page("guitar turbine"))
    weights = {word.term: word.weight for word in words}
    assert weights["guitar"] > 0 > weights["turbin"]


def test_words_say_something_even_when_all_classes_are_wanted():
    assert TaxonomyJudge(topic_profile("Top")).words(page("guitar turbine"))


def test_without_classes_the_message_says_what_to_give():
    with pytest.raises(ConfigError, match=r"taxonomy: in topic\.yaml"):
        TaxonomyJudge(TopicProfile(targets=frozenset({"Arts"})))


def test_a_node_stands_for_all_classes_at_or_below_it():
    assert target_classes(NODES, ["Sports/Ball"]) == {"Sports/Ball", "Sports/Ball/NBA"}


def test_a_node_that_was_merged_stands_for_the_nearest_class_above_it():
    assert target_classes(NODES, ["Sports/Ball/NBA/Lakers/Players"]) == {"Sports/Ball/NBA"}


def test_a_name_that_only_begins_alike_is_another_node():
    assert target_classes([*NODES, "Artsy"], ["Arts"]) == {"Arts"}


@pytest.mark.parametrize("targets", [[], ["Health"]])
def test_a_topic_without_a_class_is_refused(targets):
    with pytest.raises(ConfigError):
        target_classes(NODES, targets)


def test_a_trained_taxonomy_can_be_saved(tmp_path):
    scorer = train(CLASSES)
    save(scorer, tmp_path)
    counts = scorer.count("guitar soil 电池")
    assert load(tmp_path).probabilities(counts) == scorer.probabilities(counts)


def test_a_page_counts_in_a_crawl_as_its_text_counts_in_training():
    html = "<title>Guitar</title><meta name=keywords content='opera'><h1>Piano</h1><p>rose <a href='/x'>soil</a></p>"
    parsed = parse("http://a.example/", html.encode(), "text/html; charset=utf-8")
    assert train(CLASSES).count(parsed) == weighted_counts(parsed.text)


def test_classes_of_page_and_text_are_the_same():
    scorer = train(CLASSES)
    parsed = ParsedPage(url="http://a.example/", title="guitar", text="guitar soil rose grid")
    assert scorer.probabilities(scorer.count(parsed)) == scorer.probabilities(scorer.count(parsed.text))
