"""The sample stays bounded, even, and can be taken up again."""

import numpy as np
import pytest

from thresher.classify.sample import Sample, Terms


def page(number):
    return f"http://a.example/{number}", Terms.of({"tea": 1.0, f"word{number}": 2.0})


def filled(pages, most=100, **options):
    sample = Sample(most, **options)
    for number in range(pages):
        sample.add(*page(number))
    return sample


def test_until_it_is_full_it_holds_every_page():
    sample = filled(20)
    assert (len(sample), sample.seen) == (20, 20)
    assert sample.urls == [page(number)[0] for number in range(20)]


def test_it_never_grows_beyond_its_size():
    assert len(filled(500, most=30)) == 30


def test_early_and_late_pages_have_the_same_chance():
    early = sum(
        int(url.rpartition("/")[2]) < 100 for state in range(40) for url in filled(200, 20, random_state=state).urls
    )
    assert 320 <= early <= 480  # of 800, half are expected


def test_the_page_that_leaves_is_named():
    sample = filled(1, most=1)
    left = {sample.add(*page(number)) for number in range(1, 50)}
    assert page(0)[0] in left


def test_a_page_is_taken_in_once():
    sample = filled(3)
    sample.add(*page(1))
    assert len(sample) == 3


def test_what_is_kept_never_leaves():
    sample = Sample(5)
    sample.keep(*page(0))
    for number in range(1, 200):
        sample.add(*page(number))
    assert sample.urls[0] == page(0)[0]
    assert len(sample) == 6


def test_a_page_of_the_sample_can_be_kept_later():
    sample = filled(4)
    sample.keep_known(page(1)[0])
    sample.keep_known("http://unknown.example/")
    assert sample.urls[0] == page(1)[0]
    assert sorted(sample.urls) == sorted(page(number)[0] for number in range(4))
    assert sample.kept_terms() == {page(1)[0]: {"tea": 1.0, "word1": 2.0}}


def test_the_matrix_adds_up_page_by_page():
    sample = filled(2)
    sample.add("http://a.example/empty", Terms.of({}))
    matrix = sample.matrix()
    assert matrix.sums(matrix.weights).tolist() == [3.0, 3.0, 0.0]
    assert matrix.per_term(np.array([5.0, 7.0, 9.0])).tolist() == [5.0, 5.0, 7.0, 7.0]


def test_an_empty_sample_has_an_empty_matrix():
    matrix = Sample(10).matrix()
    assert (len(matrix.numbers), matrix.starts.tolist()) == (0, [0])


def test_terms_that_nobody_holds_are_forgotten():
    sample = filled(50, most=2)
    sample.keep("http://a.example/kept", Terms.of({"tea": 1.0, "pot": 3.0}))
    sample.forget_unused_terms(most=3)
    assert len(sample.terms) == 4
    assert sample.kept_terms() == {"http://a.example/kept": {"tea": 1.0, "pot": 3.0}}


def test_it_goes_on_where_it_stopped():
    sample = filled(30, most=20)
    sample.keep("http://茶.example/", Terms.of({"茶叶": 1.5}))
    again = Sample(20)
    again.restore(sample.arrays())
    assert (again.urls, again.terms, again.seen) == (sample.urls, sample.terms, sample.seen)
    assert again.matrix().weights == pytest.approx(sample.matrix().weights)
    again.add(*page(1000))
    assert again.seen == sample.seen + 1
