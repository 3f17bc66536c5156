"""The arithmetic of the adaptive judge, on pages of a few words."""

import numpy as np
import pytest

from thresher.judges.adaptive.label_correction import LabelledRows
from thresher.judges.adaptive.reservoir import Reservoir
from thresher.judges.adaptive.terms import TermVector
from thresher.judges.adaptive.topic_model import (
    LEVEL_WITHOUT_SEEDS,
    TopicExamples,
    TopicModelConstants,
    TopicSimilarity,
    fit,
)

SOLAR = {"solar": 1.0, "cell": 1.0, "page": 1.0}


def learned(pages, examples=(), phrase=(), yes=(), no=(), **constants):
    sample = Reservoir(1000)
    for url, terms in pages.items():
        sample.add(url, TermVector.of(dict.fromkeys(terms.split(), 1.0)))
    numbers = sample.row("", TermVector.of(dict.fromkeys(phrase, 1.0))).numbers.tolist()
    places = [sample.urls.index(url) for url in examples]
    labelled = LabelledRows(yes=[sample.urls.index(url) for url in yes], no=[sample.urls.index(url) for url in no])
    topic = TopicExamples(places=places, seeds=places, phrase=dict.fromkeys(numbers, 1.0), labelled=labelled)
    model, s = fit(sample.matrix(), len(sample.terms), topic, TopicModelConstants(**constants))
    return model, {url: each.corrected for url, each in zip(sample.urls, s, strict=True)}, sample


def crawl(topical=6, others=60):
    """Seeds and others about solar cells, and many pages about other things; every page says page."""
    words = ["tea", "ship", "bird", "rock", "moon"]
    pages = {f"solar{number}": f"solar cell page mark{number}" for number in range(topical)}
    pages |= {f"other{number}": f"{words[number % 5]} {words[number % 3]} page x{number}" for number in range(others)}
    return pages


def test_with_nothing_but_a_phrase_it_is_the_cosine_with_the_phrase():
    model, _, sample = learned({}, phrase=["solar", "cell"])
    row = sample.row("", TermVector.of(SOLAR))
    assert model.similarity(row.numbers[:2], row.weights[:2], new_squares=1.0).plain == pytest.approx(2 / np.sqrt(6))
    assert (model.middle, model.level) == (0.0, LEVEL_WITHOUT_SEEDS)


def test_the_level_is_what_a_seed_scores_without_itself():
    # unit vectors (a, b)/√2 and (a, c)/√2: each is like the other by a half, and there is no background yet
    model, s, _ = learned({"one": "a b", "two": "a c"}, examples=["one", "two"], phrase_weight=0.0, agreement=0.0)
    assert model.level == pytest.approx(0.5)
    # the mean of both is (2a, b, c)/√6, and (a, b)/√2 is like it by 3/√12
    assert s["one"] == pytest.approx(3 / np.sqrt(12))


def test_words_that_the_seeds_share_count_more():
    _, plain, _ = learned({"one": "a b", "two": "a c"}, examples=["one", "two"], agreement=0.0)
    model, agreed, sample = learned({"one": "a b", "two": "a c"}, examples=["one", "two"], agreement=1.0)
    # b and c stand in half of the seeds: (2a, b/2, c/2) up to length, 2.5/√(4.5·2) with (a, b)
    assert agreed["one"] == pytest.approx(2.5 / np.sqrt(9.0))
    assert model.direction[sample.terms["a"]] > plain["one"]


def test_pages_about_the_topic_rise_above_the_others():
    model, s, _ = learned(crawl(), examples=["solar0", "solar1", "solar2"])
    topical = [s[f"solar{number}"] for number in range(3, 6)]
    others = [score for url, score in s.items() if url.startswith("other")]
    assert min(topical) > max(others)
    assert min(model.reward(TopicSimilarity(score, score)) for score in topical) > 0.9
    assert model.reward(TopicSimilarity(model.middle, model.middle)) == 0.0


def test_what_every_page_says_matters_little():
    model, _, sample = learned(crawl(others=300), examples=["solar0", "solar1"])
    assert model.importance[sample.terms["page"]] < 0.4
    assert model.importance[sample.terms["solar"]] > 0.8
    assert abs(model.direction[sample.terms["page"]]) < 0.2 * model.direction[sample.terms["solar"]]


def test_a_crawl_that_meets_only_its_topic_does_not_forget_it():
    model, _, sample = learned(crawl(topical=60, others=3), examples=["solar0", "solar1"])
    assert model.importance[sample.terms["solar"]] > 0.6
    assert model.direction[sample.terms["solar"]] > 0.4


def test_few_pages_change_the_importance_of_words_only_a_little():
    few, _, first = learned(crawl(others=12), examples=["solar0", "solar1"])
    many, _, second = learned(crawl(others=400), examples=["solar0", "solar1"])
    assert 0.8 < few.importance[first.terms["page"]] < 1.0
    assert many.importance[second.terms["page"]] < few.importance[first.terms["page"]]


def test_pages_without_words_are_like_nothing():
    _, s, _ = learned({**crawl(), "empty": ""}, examples=["solar0"])
    assert s["empty"] == 0.0


def test_terms_that_are_new_lengthen_a_page():
    model, _, sample = learned(crawl(), examples=["solar0", "solar1"])
    row = sample.row("", TermVector.of({"solar": 1.0}))
    alone = model.similarity(row.numbers, row.weights, new_squares=0.0).plain
    assert model.similarity(row.numbers, row.weights, new_squares=3.0).plain == pytest.approx(
        alone * model.importance[row.numbers[0]] / np.sqrt(model.importance[row.numbers[0]] ** 2 + 3)
    )


def test_all_is_well_without_any_word_of_the_topic():
    model, s, _ = learned(crawl())
    assert not any(s.values())
    assert model.reward(TopicSimilarity(0.0, 0.0)) == 0.0


def test_people_raise_and_lower_pages_like_those_they_spoke_about():
    examples, words = ["solar0", "solar1"], {"yes": ["other0"], "no": ["other1"]}
    _, before, _ = learned(crawl(), examples=examples)
    _, after, _ = learned(crawl(), examples=examples, **words)
    assert after["other15"] > before["other15"] + 0.05  # of the same words as other0
    assert after["other16"] < before["other16"] - 0.01  # and as other1


def test_a_no_leaves_the_reward_of_pages_like_it_and_a_yes_raises_it():
    model, _, _ = learned(crawl(), examples=["solar0", "solar1"])
    good = model.level
    assert model.reward(TopicSimilarity(good, model.middle)) == pytest.approx(1.0)
    assert model.reward(TopicSimilarity(model.middle, good)) == pytest.approx(1.0)


def with_pair(examples):
    """Pages of two words that are side by side or not, and a model of a phrase that has them side by side."""
    sample = Reservoir(1000)
    pages = {"seed": "red star pair", "near": "red star pair ship", "far": "red star moon", "other": "tea bird"}
    for url, terms in pages.items():
        sample.add(url, TermVector.of(dict.fromkeys(terms.split(), 1.0)))
    places = [sample.urls.index(url) for url in examples]
    phrase = {sample.terms["red"]: 1.0, sample.terms["star"]: 1.0}
    topic = TopicExamples(places=places, seeds=places, phrase=phrase, pairs=[sample.terms["pair"]])
    model, similarities = fit(sample.matrix(), len(sample.terms), topic, TopicModelConstants())
    return model, dict(zip(sample.urls, similarities, strict=True))


def test_a_page_without_the_words_of_the_phrase_side_by_side_is_less_probable_when_the_examples_have_them():
    model, s = with_pair(["seed"])
    assert [s[url].apart for url in ("near", "far")] == [0.0, 1.0]
    assert model.probabilities([s["far"]])[0] < model.probabilities([s["far"]._replace(apart=0.0)])[0]


def test_words_side_by_side_are_not_asked_for_when_an_example_lacks_them_or_there_is_none():
    for examples in ([], ["seed", "far"]):
        _, s = with_pair(examples)
        assert {each.apart for each in s.values()} == {0.0}


def test_a_page_is_alike_whether_it_is_in_the_sample_or_comes_new():
    model, s = with_pair(["seed"])
    red, star, moon = 0, 1, 4  # numbered as they came
    far = model.similarity(np.array([red, star, moon], dtype=np.int32), np.ones(3), 0.0)
    assert tuple(far) == pytest.approx(tuple(s["far"]))
