"""Rules between classes: the worked example of the paper, its paths and their sums."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import ThresherError
from thresher_papers.strategies.rules.table import FILE, RuleTable, class_of, count_rules, find_paths, rule_scores

TABLE_1 = {
    "DH": {"CH": 8, "PH": 1, "SP": 1},
    "CH": {"DH": 2, "CH": 4, "PH": 4},
    "PH": {"DH": 3, "CH": 4, "PH": 3},
    "SP": {"SP": 10},
}
TABLE_2 = {
    "DH": {"CH": 0.8, "PH": 0.1, "SP": 0.1},
    "CH": {"DH": 0.2, "CH": 0.4, "PH": 0.4},
    "PH": {"DH": 0.3, "CH": 0.4, "PH": 0.3},
    "SP": {"SP": 1.0},
}


def scores(target, **options):
    return pytest.approx(RuleTable(TABLE_1, frozenset(target.split())).scores(**options))


def test_table_1_makes_the_rules_of_table_2():
    assert RuleTable(TABLE_1).rules() == TABLE_2


def test_one_rule_leads_to_personal_homepages():
    assert scores("PH", max_depth=1) == {"DH": 0.1, "CH": 0.4, "PH": 0.3}


def test_two_rules_lead_there_more_often():
    assert scores("PH", max_depth=2) == {"DH": 0.42, "CH": 0.42, "PH": 0.3}


def test_a_third_rule_adds_nothing_to_the_example():
    assert scores("PH", max_depth=3) == {"DH": 0.42, "CH": 0.42, "PH": 0.3}


def test_the_best_path_alone_may_count():
    assert scores("PH", max_depth=2, combine="max") == {"DH": 0.32, "CH": 0.4, "PH": 0.3}


def test_other_classes_have_other_ways():
    assert scores("CH", max_depth=2) == {"DH": 0.84, "PH": 0.64, "CH": 0.4}


def test_sports_pages_lead_nowhere():
    assert "SP" not in RuleTable(TABLE_1, frozenset({"PH"})).scores(max_depth=3)


def test_a_path_ends_at_the_first_wanted_class():
    paths = {path.classes for path in find_paths(TABLE_2, {"PH"}, 2)}
    assert paths == {("DH", "PH"), ("CH", "PH"), ("PH", "PH"), ("CH", "DH", "PH"), ("DH", "CH", "PH")}


def test_a_wanted_class_without_a_loop_has_no_score():
    assert "T" not in rule_scores({"T": {"C": 1.0}, "C": {"T": 0.5}}, {"T"}, max_depth=2)


def test_of_several_wanted_classes_any_will_do():
    assert scores("PH CH", max_depth=2) == {"DH": 0.9, "CH": 0.8, "PH": 0.7}


@st.composite
def any_rules(draw):
    names = [f"class {number}" for number in range(draw(st.integers(1, 6)))]
    counts = st.dictionaries(st.sampled_from(names), st.integers(0, 9))
    return RuleTable({name: draw(counts) for name in names}, frozenset(draw(st.sets(st.sampled_from(names)))))


@given(any_rules(), st.integers(1, 4))
def test_a_sum_is_at_most_1(table, max_depth):
    for combine in ("sum", "max"):
        found = table.scores(max_depth=max_depth, combine=combine).values()
        assert all(0 < score <= 1 + 1e-9 for score in found)


@given(any_rules(), st.integers(1, 3))
def test_no_path_goes_in_a_circle_or_over_a_wanted_class(table, max_depth):
    for path in find_paths(table.rules(), table.targets, max_depth):
        *inner, last = path.classes
        assert last in table.targets
        assert len(set(inner)) == len(inner) <= max_depth
        assert table.targets.isdisjoint(inner) or len(inner) == 1


CLASSES = {"x": {"PH": 0.9, "CH": 0.1}, "y": {"CH": 0.6, "PH": 0.4}, "z": {}}


def learn(**referred):
    return count_rules(referred, lambda name: class_of(CLASSES[name]) if name in CLASSES else None)


def test_linked_pages_count_by_the_class_that_the_classifier_gives_them():
    assert learn(DH=["x", "y"]) == {"DH": {"PH": 1, "CH": 1}}


def test_a_linked_page_counts_for_each_class_that_links_to_it():
    assert learn(DH=["x"], CH=["x"]) == {"DH": {"PH": 1}, "CH": {"PH": 1}}


def test_dead_links_do_not_count():
    assert learn(DH=["gone", "y"]) == {"DH": {"CH": 1}}


def test_a_page_of_no_class_counts_among_all():
    counts = learn(DH=["x", "z"])
    assert RuleTable(counts).rules() == {"DH": {"PH": 0.5}}


def test_a_table_comes_back_as_it_was_saved(tmp_path):
    table = RuleTable(TABLE_1, frozenset({"PH"}))
    table.save(tmp_path / "trained")
    assert RuleTable.load(tmp_path / "trained") == table
    assert [path.name for path in (tmp_path / "trained").iterdir()] == [FILE]


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": 2, "targets": [], "counts": {}}', '{"format": 1, "targets": 5, "counts": {}}'],
)
def test_a_damaged_table_is_refused(content, tmp_path):
    (tmp_path / FILE).write_text(content)
    with pytest.raises(ThresherError, match=FILE):
        RuleTable.load(tmp_path)


@pytest.mark.parametrize("count", [-1, 0.5, True, "1"])
def test_counts_are_whole_numbers(count, tmp_path):
    (tmp_path / FILE).write_text(json.dumps({"format": 1, "targets": [], "counts": {"a": {"b": count}}}))
    with pytest.raises(ThresherError, match=FILE):
        RuleTable.load(tmp_path)


def test_a_person_can_read_where_the_scores_come_from():
    assert list(RuleTable(TABLE_1, frozenset({"PH"})).lines(most=2)) == [
        "10 rules between 4 classes, from 40 linked pages",
        "3 classes lead to PH in at most 2 links:",
        "  0.420  CH → PH (0.40)",
        "  0.420  DH → CH (0.80) → PH (0.40)",
        "  and 1 more",
    ]
