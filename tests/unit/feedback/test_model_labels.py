"""The log of requests as cache and account, and how often a model is wrong."""

import json

import pytest

from thresher.config.model_labels import ModelLabelsConfig
from thresher.feedback.labels import Label, latest_labels, model_labels, verdicts
from thresher.feedback.model_client import ModelAnswer
from thresher.feedback.model_labels import AnswerLog, ErrorRate, Spending, error_rate, label_probability

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
YES = ModelAnswer(relevant=True, input_tokens=1000, output_tokens=10)


def config(**more):
    return ModelLabelsConfig(endpoint="http://127.0.0.1/v1", model="small", **more)


def by_person(url, relevant):
    return Label(url=url, relevant=relevant, at=1.0)


def by_model(url, relevant, probability=None):
    sure = probability or {True: 0.8, False: 0.2, None: 0.5}[relevant]
    return Label(url=url, relevant=relevant, at=1.0, model="small", probability=sure)


def test_an_answer_is_found_again_after_a_restart(tmp_path):
    path = tmp_path / "answers.jsonl"
    log = AnswerLog(path, config(input_price=1.0, output_price=2.0))
    log.add("k", YES)
    log.add("failed", None, "HTTP status 500")
    with path.open("ab") as file:
        file.write(b'{"key": "torn')
    again = AnswerLog(path, config(input_price=1.0, output_price=2.0))
    assert again.find("k") == YES
    assert again.find("failed") is None
    again.add("later", YES)
    assert AnswerLog(path, config()).find("later") == YES
    assert again.spending == Spending(calls=3, tokens=2020, cost=pytest.approx(0.00204))


@pytest.mark.parametrize(
    ("limits", "spent", "what"),
    [
        ({"calls": 3}, Spending(calls=3), "3 calls"),
        ({"tokens": 100}, Spending(calls=1, tokens=100), "100 tokens"),
        ({"cost": 0.5, "input_price": 1.0}, Spending(calls=1, cost=0.5), "a cost of 0.5"),
        ({}, Spending(calls=199, tokens=10**9), ""),
    ],
)
def test_the_budget_ends_at_its_first_limit(limits, spent, what):
    assert spent.exhausted(config(**limits)) == what


def test_a_person_overrules_a_model_whichever_comes_first():
    log = [by_model(A, True), by_person(A, False), by_person(B, True), by_model(B, False), by_model(C, True)]
    assert latest_labels(log) == {A: False, B: True, C: 0.8}
    assert verdicts(log) == {A: False, B: True}


def test_labels_of_a_model_can_be_revoked_and_those_of_people_stay():
    log = [by_model(A, True), by_model(B, True), by_person(B, False), by_model(A, None), by_model(B, None)]
    assert latest_labels(log) == {B: False, A: None}
    assert model_labels(log) == {}


def test_a_person_who_withdraws_a_label_withdraws_that_of_the_model_too():
    assert latest_labels([by_model(A, True), by_person(A, None)]) == {A: None}


def test_a_label_of_a_model_is_never_taken_for_a_persons():
    line = json.dumps({"url": A, "relevant": True, "at": 1.0, "model": "small", "probability": 1.0})
    assert Label.read(line).value == 0.98
    assert Label.read(by_model(A, False).written()) == by_model(A, False)
    assert Label.read('{"url": "a", "relevant": true, "at": 1, "model": "m", "probability": 7}') is None


def test_the_error_rate_is_known_from_five_pages_on():
    log = [by_model(f"{A}{n}", True) for n in range(10)] + [by_person(f"{A}{n}", n != 0) for n in range(4)]
    assert "not known yet (4" in str(error_rate(log))
    log += [by_person(f"{A}{n}", True) for n in range(4, 10)]
    rate = error_rate(log, "small")
    assert (rate.pages, rate.wrong) == (10, 1)
    assert str(rate) == "10% (2% to 40%, by 10 pages that a person labelled too)"
    assert error_rate(log, "another").pages == 0


def test_without_probabilities_a_label_has_the_confidence_in_the_model():
    unknown, good, bad = ErrorRate(pages=0, wrong=0), ErrorRate(pages=95, wrong=0), ErrorRate(pages=95, wrong=60)
    no = ModelAnswer(relevant=False)
    assert label_probability(YES, unknown) == 0.65
    assert label_probability(no, unknown) == pytest.approx(0.35)
    assert label_probability(YES, good) == 0.98
    assert label_probability(YES, bad) == 0.5


def test_no_answer_is_surer_than_the_model_has_been_right():
    sure = ModelAnswer(relevant=True, probability=0.999)
    assert label_probability(sure, ErrorRate(pages=0, wrong=0)) == 0.65
    assert label_probability(sure, ErrorRate(pages=15, wrong=5)) == pytest.approx(0.6625)
    assert label_probability(sure, ErrorRate(pages=95, wrong=0)) == 0.98
    assert label_probability(ModelAnswer(relevant=False, probability=0.4), ErrorRate(pages=0, wrong=0)) == 0.4
