"""The figures of E7 are counted as they are named."""

import os

import numpy as np
import pytest

from bench.papers.e7 import difference, read_cells
from thresher_lab.reproduce.itfidf_runs import NAMES, cells_of, f1
from thresher_lab.reproduce.text_corpora import CORPORA, newsgroups, post_sections, reuters, reuters_binary
from thresher_papers.judges.estimators.sections import weighted_counts

needs_corpora = pytest.mark.skipif("THRESHER_WEBS" not in os.environ, reason="THRESHER_WEBS names no folder")

TRUTH = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool)
PREDICTED = np.array([[1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool)


def row(printed):
    tables = [TRUTH] + [printed.get(name, TRUTH) for name in NAMES]
    values = {name: f1(np.ones(4), TRUTH, table).tolist() for name, table in zip(NAMES, tables[1:], strict=True)}
    return {"classes": ["a", "b"], "f1": values, "cells": cells_of(tables)}


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    # class a: precision 1, recall 1/2; class b: precision 2/3, recall 1
    assert f1(np.ones(4), TRUTH, PREDICTED) == pytest.approx([2 / 3, 0.8])


def test_a_document_counts_as_often_as_its_weight_says():
    assert f1(np.array([2.0, 0, 1, 1]), TRUTH, PREDICTED) == pytest.approx([1.0, 1.0])


def test_cells_give_back_what_every_method_predicted():
    counts, tables = read_cells(row({"TFIDF": PREDICTED}))
    assert f1(counts, tables["truth"], tables["TFIDF"]) == pytest.approx([2 / 3, 0.8])
    assert counts.sum() == 4


def test_methods_that_say_the_same_do_not_differ():
    assert difference([row({})], "ITFIDF", "TFIDF") == (0.0, 0.0, 0.0)


def test_the_interval_holds_the_difference():
    mean, low, high = difference([row({"TFIDF": PREDICTED})], "ITFIDF", "TFIDF")
    assert mean == pytest.approx(100 * (1 - (2 / 3 + 0.8) / 2))
    assert low <= mean <= high


@pytest.mark.parametrize("end", ["\t", "\n"])
def test_of_the_headers_of_a_post_only_the_subject_is_kept(end):
    post = end.join(["From: someone@there", "Subject: Re: brakes", "Lines: 2", "", "They squeak.", "", "Still."])
    assert post_sections(post) == {"headline": " Re: brakes", "body": "They squeak.\n\nStill."}


@needs_corpora
def test_reuters_is_parted_as_modapte_asks():
    corpus = reuters()
    assert [len(part) for part in corpus.splits[0]] == [5754, 2254]
    assert not corpus.several_labels


@needs_corpora
def test_the_ten_largest_topics_of_reuters_are_the_known_ones():
    known = {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"}
    assert set(reuters_binary().classes) == known


@needs_corpora
def test_both_halves_of_the_newsgroups_have_ten_groups_each():
    first, second = newsgroups(0), newsgroups(1)
    assert len(first.classes) == len(second.classes) == 10
    assert not set(first.classes) & set(second.classes)


@needs_corpora
@pytest.mark.parametrize("name", CORPORA)
def test_training_and_test_share_no_document(name):
    for train, test in CORPORA[name]().splits:
        assert not set(train.tolist()) & set(test.tolist())


@needs_corpora
@pytest.mark.parametrize("name", CORPORA)
def test_hardly_a_document_of_training_or_test_is_empty(name):
    corpus = CORPORA[name]()
    for part in corpus.splits[0]:
        sample = [corpus.documents[number] for number in part[::20]]
        assert sum(not weighted_counts(document) for document in sample) < 0.05 * len(sample)
