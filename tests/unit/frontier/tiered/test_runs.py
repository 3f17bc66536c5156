import numpy as np
import pytest

from thresher.frontier.redis.codec import HostRecord, Name, Record
from thresher.frontier.tiered.migrator import first_to_merge
from thresher.frontier.tiered.runs import (
    FALSE_POSITIVE_RATE,
    ColdRun,
    ColdUrl,
    NewScore,
    Rows,
    filter_of,
    key_of,
    merge_rows,
)
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import NO_REASON
from thresher.records import Merge, RequestKind


def cold(rest, score, age=1, host=b"a.example", **more):
    fields = {"hops": 1, "depth_left": 0, "tries": 0, "redirects": 0, "reason": NO_REASON, "parent": 0}
    fields |= {"strategy_data": {}, "kind": RequestKind.PAGE}
    record = Record(age=age, score=score, **{**fields, **more})
    return ColdUrl.of(host, rest, key_of(Name.within(host, rest)), record.to_bytes())


def test_a_run_has_hosts_in_order_and_the_best_of_each_first():
    urls = [cold(b"/1", 0.2), cold(b"/2", 0.9), cold(b"/3", 0.9, age=0), cold(b"/", 0.1, host=b"B.example")]
    content = Rows.of(urls).sorted().to_parquet()
    assert [url.rest for url in Rows.read(content).urls()] == [b"/", b"/3", b"/2", b"/1"]
    assert [url.rest for url in Rows.read(content, {b"B.example"}).urls()] == [b"/"]


def test_a_record_survives_a_run():
    url = cold(
        b"/1",
        0.1 + 0.2,
        age=7,
        depth_left=3,
        tries=2,
        unbegun=19,
        reason=legacy_reason("slow"),
        parent=-5,
        strategy_data={"大": [1, None]},
    )
    [same] = Rows.read(Rows.of([url]).to_parquet()).urls()
    assert same.record == url.record
    assert Record.read(same.record).to_bytes() == url.record


def test_of_two_states_of_a_url_the_newer_counts():
    merged = merge_rows([Rows.of([cold(b"/1", 0.9)]), Rows.of([cold(b"/1", 0.4, tries=1)])], Merge.MAX, {}, {})
    [url] = merged.urls()
    assert (url.score, Record.read(url.record).tries) == (pytest.approx(0.4), 1)


@pytest.mark.parametrize(("merge", "score", "strategy_data"), [("max", 0.5, 2), ("first", 0.25, 1), ("mean", 0.375, 2)])
def test_a_url_that_was_found_again_is_merged(merge, score, strategy_data):
    old = cold(b"/1", 0.25, age=3, hops=2, depth_left=4, strategy_data={"of": 1})
    new = cold(b"/1", 0.5, age=9, hops=5, depth_left=1, strategy_data={"of": 2})
    [url] = merge_rows([Rows.of([old]), Rows.of([new])], Merge(merge), {}, {}).urls()
    record = Record.read(url.record)
    assert (record.score, record.strategy_data, record.age) == (
        score,
        {"of": strategy_data},
        3 if strategy_data == 1 else 9,
    )
    assert (record.hops, record.depth_left) == (2, 4)


def test_tries_and_leases_without_a_request_of_two_copies_are_merged_apart():
    old, new = cold(b"/1", 0.25, age=3, tries=2), cold(b"/1", 0.5, age=9, unbegun=19)
    [url] = merge_rows([Rows.of([old]), Rows.of([new])], Merge.MAX, {}, {}).urls()
    record = Record.read(url.record)
    assert (record.tries, record.unbegun) == (2, 19)


@pytest.mark.parametrize("merge", Merge)
def test_a_copy_that_was_loaded_is_not_merged_into_a_later_one(merge):
    old, new = cold(b"/1", 0.5, age=3), cold(b"/1", 0.25, age=9)
    host = HostRecord(0, 1, 0, 0, 0.0, 0, 0.0, 0.0, 0.0, 0, 0, 0, "", cold=1, best_cold=0.4, best_cold_age=1)
    [url] = merge_rows([Rows.of([old]), Rows.of([new])], merge, {}, {old.host: host}).urls()
    assert url.record == new.record


def test_a_new_score_counts_if_the_old_one_is_the_expected():
    urls = [cold(b"/1", 0.25), cold(b"/2", 0.5), cold(b"/3", 0.75)]
    scores = {urls[0].key: [NewScore(0.9)], urls[1].key: [NewScore(0.9, 0.5)], urls[2].key: [NewScore(0.9, 0.1)]}
    merged = merge_rows([Rows.of(urls)], Merge.MAX, scores, {})
    assert {url.rest: url.score for url in merged.urls()} == {b"/1": 0.9, b"/2": 0.9, b"/3": 0.75}


def test_new_scores_follow_each_other_and_do_not_change_what_was_found_later():
    old, found = cold(b"/1", 0.75, age=3), cold(b"/1", 0.5, age=9)
    scores = {old.key: NewScore.read_all(b"0.25  7;0.125 0.25 8;0.9 0.7 9")}
    assert [url.score for url in merge_rows([Rows.of([old])], Merge.MAX, scores, {}).urls()] == [0.125]
    assert [url.score for url in merge_rows([Rows.of([old]), Rows.of([found])], Merge.MAX, scores, {}).urls()] == [0.5]


def test_a_filter_knows_all_its_urls_and_few_others():
    keys = np.random.default_rng(1).integers(0, 2**64, 30_000, dtype=np.uint64)
    bits = ColdRun.new(1, 1, 10_000).bits
    is_set = np.unpackbits(np.frombuffer(filter_of(keys[:10_000], bits), dtype=np.uint8))
    at = keys & np.uint64(0xFFFFFFFF)
    known = np.ones(len(keys), dtype=bool)
    for probe in range(6):
        known &= is_set[(at + np.uint64(probe) * (keys >> np.uint64(32))) % np.uint64(bits)] == 1
    assert known[:10_000].all()
    assert known[10_000:].mean() == pytest.approx(FALSE_POSITIVE_RATE, rel=0.4)
    assert FALSE_POSITIVE_RATE < 0.004


@pytest.mark.parametrize(
    ("sizes", "first"), [([100], 0), ([100, 10], 1), ([100, 30], 0), ([100, 10, 9], 1), ([1000, 100, 10], 2)]
)
def test_runs_are_merged_until_each_is_much_larger_than_all_later_ones(sizes, first):
    assert first_to_merge([ColdRun(b"", size) for size in sizes]) == first
