"""Classes of which little is known borrow the rule of the node above them."""

import pytest

from thresher_papers.strategies.rules.table import RuleTable, inherited, with_inner_nodes

COUNTS = {
    "S/Physics": {"S/Physics": 10, "S/Maths": 30},
    "S/Maths": {"P/Poets": 3},
    "S/Quiet": {},
    "P/Poets": {"P/Poets": 25},
}


def scores(target):
    return with_inner_nodes(RuleTable(COUNTS, frozenset({target}))).scores(max_depth=2)


def test_a_class_with_few_observations_has_the_rule_of_its_node():
    """S: 43 observations, 30 of Maths, 10 of Physics, 3 of poets."""
    table = with_inner_nodes(RuleTable(COUNTS, frozenset({"S/Maths"})))
    assert table.counts["S/Maths"] == {"S/Physics": 10, "S/Maths": 30, "P/Poets": 3}
    assert table.counts["S/Physics"] == COUNTS["S/Physics"]
    assert table.scores(max_depth=1)["S/Maths"] == pytest.approx(30 / 43)


def test_a_class_without_a_path_has_the_score_of_its_node():
    """Poets are met from Maths alone, which now has the rule of S: 3 in 43."""
    found = scores("P/Poets")
    assert inherited(found, "S/Unheard") == pytest.approx(3 / 43 + 30 / 43 * 3 / 43)
    assert inherited(found, "S/Unheard") == found["S/*"]


def test_where_no_node_has_a_path_there_is_no_score():
    assert inherited(scores("S/Maths"), "P/Poets") is None
    assert inherited({}, "Top") is None
