"""What a crawl observes is added to what was learned, kept over restarts, and merged over workers."""

import pytest

from tests.unit.strategies.test_rule_table import TABLE_1
from tests.unit.strategies.test_rules import LEASE, SOFT, by_first_word, page
from thresher.classify.notebook import FolderNotebook
from thresher.records import Lease
from thresher.strategies.aim import Aim
from thresher.strategies.base import Rememberer
from thresher.strategies.rule_table import RuleTable
from thresher.strategies.rules import InterclassRules

CHILD = Lease(url="http://a.example/1", host="a.example", score=1.0, fence=1, until=0.0, carry={"class": "SP"})


@pytest.fixture
def make(tmp_path):
    RuleTable(TABLE_1, frozenset({"PH"})).save(tmp_path)
    return lambda **more: InterclassRules(Aim(model=tmp_path), by_first_word, **more)


def test_links_carry_the_class_of_their_page_only_when_rules_are_refined(make):
    [plain] = make().score(page("CH"), SOFT, LEASE)
    [refined] = make(refine=True).score(page("CH"), SOFT, LEASE)
    assert (plain.carry, refined.carry) == ({}, {"class": "CH"})


def test_a_page_is_one_more_observation(make):
    """Of SP ten pages of SP are known and no path; with one of PH it is 1 in 11."""
    strategy = make(refine=True, refine_every=1)
    list(strategy.score(page("PH"), SOFT, CHILD))
    [candidate] = strategy.score(page("SP"), SOFT, LEASE)
    assert candidate.score == pytest.approx(1 / 11)


def test_scores_change_every_so_many_pages(make):
    strategy = make(refine=True, refine_every=2)
    list(strategy.score(page("PH"), SOFT, CHILD))
    assert "SP" not in strategy._rule_focus
    list(strategy.score(page("DH"), SOFT, LEASE))
    assert "SP" in strategy._rule_focus


def test_observations_outlive_a_restart_and_reach_the_other_workers(make, tmp_path):
    first = make(refine=True)
    assert isinstance(first, Rememberer)
    first.keep_in(FolderNotebook(tmp_path / "notes", "w1"))
    list(first.score(page("PH"), SOFT, CHILD))
    first.write_down()
    for worker in ("w1", "w2"):
        later = make(refine=True)
        later.keep_in(FolderNotebook(tmp_path / "notes", worker))
        [candidate] = later.score(page("SP"), SOFT, LEASE)
        assert candidate.score == pytest.approx(1 / 11)


def test_a_strategy_that_does_not_refine_writes_nothing(make, tmp_path):
    plain = make()
    plain.keep_in(FolderNotebook(tmp_path / "notes", "w1"))
    plain.write_down()
    assert not (tmp_path / "notes").exists()
