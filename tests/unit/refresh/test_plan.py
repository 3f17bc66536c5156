"""Pages that have probably changed and are relevant are visited first."""

from contextlib import closing

import pytest

from tests.unit.storage.test_collection import page
from thresher.records import Outcome
from thresher.refresh.plan import candidates, choose
from thresher.refresh.revisit import Validators, validators_of
from thresher.storage.page_store import UNCHANGED, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.strategies.baselines import BreadthFirst

DAY = 86_400.0


def at(number, day, **more):
    return page(number, **{"url": f"http://h{number}.example/", "at": day * DAY, **more})


def same(number, day, **more):
    return at(number, day, page=False, status=304, reason=UNCHANGED, **more)


@pytest.fixture
def chosen(tmp_path):
    def choose_from(*records, number=10, now=30):
        with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
            writer.write(records)
        with PageStoreReader(tmp_path) as collection:
            return choose(collection, number, now=now * DAY)

    return choose_from


def numbers(revisits):
    return [revisit.record.fingerprint for revisit in revisits]


def test_of_equals_the_more_relevant_comes_first(chosen):
    assert numbers(chosen(at(1, 1, relevance=0.5), at(2, 1, relevance=0.9))) == [2, 1]


def test_of_equals_the_one_not_looked_at_for_longer_comes_first(chosen):
    assert numbers(chosen(at(1, 20), at(2, 1), at(3, 10))) == [2, 3, 1]


def test_a_page_that_changes_comes_before_one_that_does_not(chosen):
    steady = [at(1, 1, text_hash=5), same(1, 10), same(1, 20)]
    lively = [at(2, 1, text_hash=5), at(2, 10, text_hash=6), at(2, 20, text_hash=7)]
    first, second = chosen(*steady, *lively)
    assert (first.record.fingerprint, second.record.fingerprint) == (2, 1)
    assert first.per_day > 3 * second.per_day


def test_a_new_page_of_a_lively_host_comes_before_one_of_a_steady_host(chosen):
    def page_of(host, number, day, text_hash):
        return at(number, day, url=f"http://{host}.example/{number}", text_hash=text_hash)

    lively = [page_of("lively", number, day, day) for number in (1, 2) for day in (1, 10, 20)]
    steady = [page_of("steady", number, day, 5) for number in (3, 4) for day in (1, 10, 20)]
    found = chosen(*lively, *steady, page_of("lively", 5, 20, 1), page_of("steady", 6, 20, 1))
    assert numbers(found).index(5) < numbers(found).index(6)


def test_a_page_that_had_not_changed_for_years_is_slow(chosen):
    old = at(1, 20_000, last_modified="Sun, 15 Nov 2015 12:00:00 GMT")
    assert numbers(chosen(old, at(2, 20_000), now=20_010)) == [2, 1]


def test_only_the_given_number_of_pages_is_chosen(chosen):
    assert numbers(chosen(*[at(number, number) for number in range(1, 9)], number=3)) == [1, 2, 3]


def test_what_is_gone_irrelevant_or_a_copy_is_not_visited(chosen):
    gone = at(1, 5, page=False, status=410, outcome=Outcome.FAILED)
    assert chosen(at(1, 1), gone, at(2, 1, relevance=0.0), at(3, 1, duplicate_of=1)) == []


def test_a_visit_is_given_what_the_last_one_learned(chosen):
    [revisit] = chosen(at(1, 1, text_hash=5, etag='"a"'), same(1, 9, etag='"b"', last_modified="then"))
    assert revisit.validators == Validators(text_hash=5, relevant=True, etag='"b"', last_modified="then")


def test_a_page_keeps_its_place_in_the_crawl(chosen):
    revisits = chosen(at(1, 1, depth=4, parent=77, text_hash=5))
    [candidate] = candidates(revisits, BreadthFirst())
    assert (candidate.hops, candidate.parent) == (4, 77)
    assert candidate.score == pytest.approx(revisits[0].gain, rel=1e-6)
    assert validators_of(candidate).text_hash == 5
