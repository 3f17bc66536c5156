"""The sample stays bounded, even, and can be taken up again."""

import numpy as np
import pytest

from thresher.judges.adaptive.calibration import OPENING_TERMS
from thresher.judges.adaptive.reservoir import Reservoir
from thresher.judges.adaptive.snapshot import ReservoirSnapshot
from thresher.judges.adaptive.terms import TermVector
from thresher.modelstate.codec import BadEntry
from thresher.text.word_vectors import WordVectors


def page(number):
    return f"http://a.example/{number}", TermVector.of({"tea": 1.0, f"word{number}": 2.0})


def filled(pages, most=100, **options):
    sample = Reservoir(most, **options)
    for number in range(pages):
        sample.add(*page(number))
    return sample


def kept_terms(sample):
    snapshot = sample.snapshot(1000)
    return {snapshot.urls[place]: snapshot.terms_of(place) for place in range(snapshot.kept)}


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


def test_a_page_that_is_there_already_is_kept_without_a_copy():
    sample = filled(3)
    sample.keep(*page(1))
    assert (len(sample), sample.seen, list(sample.kept_urls)) == (3, 3, [page(1)[0]])


def test_a_page_is_taken_in_once():
    sample = filled(3)
    sample.add(*page(1))
    assert len(sample) == 3


def test_what_is_kept_never_leaves():
    sample = Reservoir(5)
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
    assert kept_terms(sample) == {page(1)[0]: {"tea": 1.0, "word1": 2.0}}


def test_the_matrix_adds_up_page_by_page():
    sample = filled(2)
    sample.add("http://a.example/empty", TermVector.of({}))
    matrix = sample.matrix()
    assert matrix.sums(matrix.weights).tolist() == [3.0, 3.0, 0.0]
    assert matrix.per_term(np.array([5.0, 7.0, 9.0])).tolist() == [5.0, 5.0, 7.0, 7.0]


def test_an_empty_sample_has_an_empty_matrix():
    matrix = Reservoir(10).matrix()
    assert (len(matrix.numbers), matrix.starts.tolist()) == (0, [0])


def test_terms_that_nobody_holds_are_forgotten():
    sample = filled(50, most=2)
    sample.keep("http://a.example/kept", TermVector.of({"tea": 1.0, "pot": 3.0}))
    sample.forget_unused_terms(most=3)
    assert len(sample.terms) == 4
    assert kept_terms(sample) == {"http://a.example/kept": {"tea": 1.0, "pot": 3.0}}


def sent(sample, most=1000):
    """Let a draw of a sample travel."""
    return ReservoirSnapshot.decode(*sample.snapshot(most).encode())


def test_it_goes_on_where_it_stopped():
    sample = filled(30, most=20)
    sample.keep("http://茶.example/", TermVector.of({"茶叶": 1.5}))
    again = Reservoir(20)
    again.restore(sent(sample))
    assert (sorted(again.urls), again.seen) == (sorted(sample.urls), sample.seen)
    assert rows(again) == rows(sample)
    again.add(*page(1000))
    assert again.seen == sample.seen + 1


def rows(sample):
    """Give the terms of every page with their weights."""
    names, matrix = list(sample.terms), sample.matrix()
    found = zip(sample.urls, matrix.starts[:-1], matrix.starts[1:], strict=True)
    return {
        url: {names[n]: w for n, w in zip(matrix.numbers[a:b], matrix.weights[a:b], strict=True)} for url, a, b in found
    }


def test_a_sample_that_was_cut_short_stands_for_all_its_pages_and_new_pages_for_themselves():
    again = Reservoir(100)
    again.restore(sent(filled(80), most=20))
    for number in range(100, 120):
        again.add(*page(number))
    each = dict(zip(again.urls, again.matrix().pages, strict=True))
    old, new = [each[url] for url in again.urls[:20]], [each[page(number)[0]] for number in range(100, 120)]
    assert old == pytest.approx([4 * share for share in new])
    assert sum(each.values()) == pytest.approx(40)


def test_old_and_new_pages_keep_their_shares_when_they_are_drawn_from_again():
    again = Reservoir(100)
    again.restore(sent(filled(80), most=20))
    for number in range(100, 120):
        again.add(*page(number))
    places = [int(url.rpartition("/")[2]) for url in sent(again).urls]
    assert (sum(place < 80 for place in places), sum(place >= 100 for place in places)) == (20, 5)


def test_a_page_of_the_cut_part_can_be_kept_later():
    again = Reservoir(100)
    again.restore(sent(filled(80), most=20))
    again.add(*page(100))
    first = again.urls[0]
    again.keep_known(first)
    assert again.urls[0] == first
    assert len(set(again.urls)) == len(again.urls) == 21
    assert dict(zip(again.urls, again.matrix().pages, strict=True))[page(100)[0]] < 1


def test_what_others_lend_stands_beside_the_own_pages():
    own, other = filled(10), Reservoir(100)
    for number in range(50, 60):
        other.add(*page(number))
    own.set_peer_snapshot("w2", sent(other))
    assert sorted(own.urls) == sorted([*filled(10).urls, *other.urls])
    assert (own.seen, own.seen_by_all) == (10, 20)
    assert own.matrix().pages.tolist() == [1.0] * 20
    assert rows(own) == rows(filled(10)) | rows(other)
    assert other.urls[0] not in own


def test_a_lender_takes_the_place_of_what_it_lent_before():
    own, other = filled(10), Reservoir(100)
    for number in range(50, 60):
        other.add(*page(number))
        own.set_peer_snapshot("w2", sent(other))
    assert (len(own), own.seen_by_all) == (20, 20)


def test_a_page_that_was_left_behind_is_stood_for():
    own, other = filled(10), Reservoir(100)
    for number in range(50, 90):
        other.add(*page(number))
    own.set_peer_snapshot("w2", sent(other, most=10))
    pages = own.matrix().pages
    assert pages.sum() == pytest.approx(20)
    assert pages[10:].sum() == pytest.approx(4 * pages[:10].sum())


def test_however_many_lend_the_sample_is_bounded():
    own = filled(10, most=40)
    for worker in range(30):
        other = Reservoir(40)
        for number in range(20):
            other.add(*page(1000 * worker + number))
        own.set_peer_snapshot(f"w{worker}", sent(other))
    assert len(own) <= 10 + 20
    assert own.seen_by_all == 10 + 30 * 20


def test_only_a_workers_own_pages_are_sent():
    own, other = filled(10), Reservoir(100)
    other.add(*page(50))
    own.set_peer_snapshot("w2", sent(other))
    assert sorted(sent(own).urls) == sorted(filled(10).urls)


def test_any_beginning_of_a_draw_is_an_even_draw():
    early = sum(
        int(url.rpartition("/")[2]) < 100
        for pages in range(200, 240)
        for url in filled(pages, 300).snapshot(200).urls[:20]
        if int(url.rpartition("/")[2]) < 200
    )
    late = sum(
        100 <= int(url.rpartition("/")[2]) < 200
        for pages in range(200, 240)
        for url in filled(pages, 300).snapshot(200).urls[:20]
    )
    assert 0.75 < early / late < 1.33


def test_a_draw_can_be_empty():
    again = Reservoir(10)
    again.restore(sent(Reservoir(10)))
    assert (again.urls, again.seen) == ([], 0)


BROKEN = [
    {"lengths": np.array([9, 9])},
    {"steps": np.array([0, 1, 0, 99])},
    {"codes": np.array([0, 9, 0, 1])},
    {"weights": np.array([np.nan, np.inf])},
    {"urls": ["http://a.example/"]},
    {"kept": 7},
    {"terms": [1, 2, 3]},
    {"opening": np.array([255, 255], dtype=np.uint8)},
]


@pytest.mark.parametrize("change", BROKEN, ids=lambda change: next(iter(change)))
def test_a_draw_whose_parts_do_not_fit_is_refused(change):
    arrays, values = filled(2).snapshot(10).encode()
    with pytest.raises(BadEntry):
        ReservoirSnapshot.decode(
            arrays | {name: value for name, value in change.items() if name in arrays},
            values | {name: value for name, value in change.items() if name in values},
        )


LONG = {f"word{number:03}": 1.0 for number in reversed(range(100))} | {"tea": 5.0}


def opening_terms(snapshot):
    return set(snapshot.opening_of(0).names)


def test_the_terms_of_the_opening_come_first_again():
    sample = filled(3)
    sample.keep("http://a.example/long", TermVector.of(LONG))
    assert opening_terms(sent(sample)) == set(list(LONG)[:OPENING_TERMS])
    assert sent(sample).terms_of(0) == LONG


def test_where_the_opening_is_not_marked_the_heaviest_terms_come_first():
    sample = filled(0)
    sample.keep("http://a.example/long", TermVector.of(LONG))
    arrays, values = sample.snapshot(10).encode()
    del arrays["opening"]
    assert "tea" in opening_terms(ReservoirSnapshot.decode(arrays, values))


def test_restored_pages_have_the_vectors_of_their_openings():
    known = ["tea", *(f"word{number:03}" for number in range(60, 100))]
    table = WordVectors(known, np.eye(41, dtype=np.int8), np.full(41, 255, dtype=np.uint8))
    sample, again = Reservoir(10, word_vectors=table), Reservoir(10, word_vectors=table)
    sample.keep("http://a.example/long", TermVector.of(LONG))
    again.restore(sent(sample))
    assert again.openings().tolist() == sample.openings().tolist()
    assert [value > 0.0 for value in again.openings()[0]] == [False, *[True] * 40]
