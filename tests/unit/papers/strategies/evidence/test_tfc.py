"""Rare terms weigh more, by what was seen so far."""

from math import log, sqrt

import pytest

from thresher_papers.strategies.evidence import tfc
from thresher_papers.strategies.evidence.tfc import UnitTable, heaviest


def units(*texts):
    return [dict.fromkeys(text.split(), 1) for text in texts]


def test_a_term_weighs_by_how_few_units_it_stands_in():
    table = UnitTable(units("a b", "a"))
    assert table.weigh({"a": 1, "b": 2}) == pytest.approx({"a": log(3 / 2.5), "b": 2 * log(3 / 1.5)})


def test_the_first_unit_has_weights_too():
    assert UnitTable(units("a")).weigh({"a": 1}) == pytest.approx({"a": log(2 / 1.5)})


def test_before_any_unit_all_terms_weigh_the_same():
    assert UnitTable().weigh({"a": 1}) == pytest.approx({"a": log(2 / 1.5)})


def test_an_unknown_term_is_as_rare_as_one_seen_once():
    table = UnitTable(units("a b", "a"))
    assert table.weigh({"new": 1})["new"] == table.weigh({"b": 1})["b"]


def test_a_term_counts_once_per_unit():
    assert UnitTable([{"a": 7}]).state() == {"N": 1, "n": {"a": 1}}


def test_the_likeness_is_the_cosine_of_the_weights():
    table = UnitTable(units("a b", "a"))
    a, b = log(3 / 2.5), log(3 / 1.5)
    assert table.similarity({"a": 1, "b": 1}, [{"b": 1.0}]) == pytest.approx(b / sqrt(a * a + b * b))
    assert table.similarity({"a": 1}, [{"b": 1.0}]) == 0.0


@pytest.mark.parametrize(("m", "K", "cosine"), [(1, 4, 0.5), (2, 8, 0.5), (1, 1, 1.0), (1, 9, 1 / 3)])
def test_m_of_k_equal_terms_have_the_cosine_root_of_m_over_k(m, K, cosine):
    topic = {f"t{number}": 1.0 for number in range(K)}
    assert UnitTable([topic]).similarity(dict(list(topic.items())[:m]), [topic]) == pytest.approx(cosine)


def test_of_several_topic_vectors_the_nearest_counts():
    assert UnitTable().similarity({"茶": 1}, [{"tea": 1.0}, {"茶": 1.0}]) == pytest.approx(1.0)


def test_the_heaviest_terms_of_a_topic_stay():
    vector = {f"t{number}": number / 10 for number in range(1, 11)}
    assert list(heaviest([vector])[0]) == ["t10", "t9", "t8", "t7", "t6", "t5", "t4", "t3"]


def test_what_was_counted_can_be_taken_up():
    table, again = UnitTable(units("a b", "a")), UnitTable()
    again.restore(table.state())
    assert again.weigh({"a": 1, "b": 1}) == table.weigh({"a": 1, "b": 1})


def test_counts_of_workers_add_up_and_are_replaced():
    table = UnitTable(units("a b"))
    table.merge("w2", {"N": 9, "n": {"a": 9}})
    table.merge("w2", {"N": 3, "n": {"a": 2}})
    assert table.weigh({"a": 1, "b": 1}) == pytest.approx({"a": log(5 / 3.5), "b": log(5 / 1.5)})
    assert table.state() == {"N": 1, "n": {"a": 1, "b": 1}}


def test_a_table_stays_bounded_and_keeps_what_is_frequent(monkeypatch):
    monkeypatch.setattr(tfc, "MAX_TERMS", 10)
    table = UnitTable(units(*["often"] * 3))
    table.add(units(*(f"rare{number}" for number in range(50))))
    assert len(table.state()["n"]) <= 10
    assert table.state()["n"]["often"] == 3
    assert table.state()["N"] == 53
