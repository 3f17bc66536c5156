"""What a crawl observes is added to what was learned, kept over restarts, and merged over workers."""

import pytest

from tests.unit.papers.strategies.rules.test_rule_table import TABLE_1
from tests.unit.papers.strategies.rules.test_strategy import LEASE, SOFT, by_first_word, page
from thresher.modelstate.codec import pack_values
from thresher.modelstate.folder import FolderStateStore
from thresher.records import Lease
from thresher.strategies.base import Stateful
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.rules import strategy
from thresher_papers.strategies.rules.strategy import STATE_KIND, InterclassRules, ObservedRules
from thresher_papers.strategies.rules.table import RuleTable

CHILD = Lease(url="http://a.example/1", host="a.example", score=1.0, fence=1, until=0.0, strategy_data={"class": "SP"})


@pytest.fixture
def make(tmp_path):
    RuleTable(TABLE_1, frozenset({"PH"})).save(tmp_path)
    return lambda **more: InterclassRules(TopicProfile(model=tmp_path), by_first_word, **more)


def test_links_carry_the_class_of_their_page_only_when_rules_are_refined(make):
    [plain] = make().score(page("CH"), SOFT, LEASE)
    [refined] = make(refine=True).score(page("CH"), SOFT, LEASE)
    assert (plain.strategy_data, refined.strategy_data) == ({}, {"class": "CH"})


def test_a_page_is_one_more_observation(make):
    """Of SP ten pages of SP are known and no path; with one of PH it is 1 in 11."""
    strategy = make(refine=True, refine_every=1)
    list(strategy.score(page("PH"), SOFT, CHILD))
    [candidate] = strategy.score(page("SP"), SOFT, LEASE)
    assert candidate.score == pytest.approx(1 / 11)


def test_scores_change_at_the_set_interval_of_pages(make):
    strategy = make(refine=True, refine_every=2)
    list(strategy.score(page("PH"), SOFT, CHILD))
    assert "SP" not in strategy._rule_focus
    list(strategy.score(page("DH"), SOFT, LEASE))
    assert "SP" in strategy._rule_focus


def test_observations_outlive_a_restart_and_reach_the_other_workers(make, tmp_path):
    first = make(refine=True)
    assert isinstance(first, Stateful)
    first.load_state(FolderStateStore(tmp_path / "notes", "w1"))
    list(first.score(page("PH"), SOFT, CHILD))
    first.save_state()
    for worker in ("w1", "w2"):
        later = make(refine=True)
        later.load_state(FolderStateStore(tmp_path / "notes", worker))
        [candidate] = later.score(page("SP"), SOFT, LEASE)
        assert candidate.score == pytest.approx(1 / 11)


def test_a_strategy_that_does_not_refine_writes_nothing(make, tmp_path):
    plain = make()
    plain.load_state(FolderStateStore(tmp_path / "notes", "w1"))
    plain.save_state()
    assert not (tmp_path / "notes").exists()


def test_what_another_worker_wrote_is_replaced_and_never_added_twice(tmp_path):
    one, two = ObservedRules(), ObservedRules()
    one.load_state(FolderStateStore(tmp_path, "one"))
    two.load_state(FolderStateStore(tmp_path, "two"))
    for _ in range(3):
        one.add("SP", "PH")
        one.save_state()
        two.read_others()
        two.read_others()
    assert two.added_to(RuleTable({}, frozenset())).counts == {"SP": {"PH": 3}}


@pytest.mark.parametrize("content", [b"nothing", pack_values({"worker": "x", "counts": {"SP": {"PH": -1}}})])
def test_a_damaged_entry_of_another_worker_is_left_out(tmp_path, content, caplog):
    FolderStateStore(tmp_path, "bad").write(STATE_KIND, content)
    rules = ObservedRules()
    rules.load_state(FolderStateStore(tmp_path, "one"))
    assert rules.added_to(RuleTable({}, frozenset())).counts == {}
    assert "left out" in caplog.text


def test_the_rarest_pairs_are_left_out_of_an_entry_that_would_be_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(strategy, "MAX_PAIRS", 1)
    rules, again = ObservedRules(), ObservedRules()
    rules.load_state(FolderStateStore(tmp_path, "one"))
    for child in ("PH", "PH", "SP"):
        rules.add("SP", child)
    rules.save_state()
    again.load_state(FolderStateStore(tmp_path, "one"))
    assert again.added_to(RuleTable({}, frozenset())).counts == {"SP": {"PH": 2}}
