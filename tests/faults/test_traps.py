"""Traps, mazes and mirrors: the quick form of rows H7, H8 and H13."""

import pytest

from testing.recording_server import Generated
from testing.recording_server.words import TOPIC_SENTENCES
from tests.faults.dry import dry_run
from tests.faults.traps import (
    DEFAULTS,
    MAX_PAGES_PER_TRAP,
    MAX_PAGES_WITH_HOME,
    TRAPS,
    lost_in,
    mirrored,
    trapped,
)

OWN = "tests.faults.traps:"


def test_traps_are_left_early_and_cost_no_good_page():
    run = trapped(4, 60)
    assert (run.recall, run.missed) == (1.0, 0)
    assert {name for name, count in run.fetches.items() if count > MAX_PAGES_PER_TRAP} == {"good"}
    assert set(run.fetches) == {"good", *TRAPS}


@pytest.mark.parametrize(("home", "most"), [(False, MAX_PAGES_PER_TRAP), (True, MAX_PAGES_WITH_HOME)])
def test_a_maze_that_the_judge_likes_is_left_all_the_same(home, most):
    requests, relevant, why = lost_in(Generated(OWN + "babble", {"home": home}))
    assert requests <= most
    assert relevant > requests / 4
    assert why


def test_a_trap_inside_a_good_site_costs_the_site_nothing():
    articles = {f"/{name}.html": f"<p>{text}</p>" for name, text in zip("abcdefghij", TOPIC_SENTENCES, strict=False)}
    home = "".join(f'<a href="{path}">more</a>' for path in [*articles, "/calendar", "/maze/in.html"])
    script = {
        "a.test": {"/": home, **articles, "/calendar": Generated("calendar"), "/maze/*": Generated(OWN + "walled")}
    }
    run = dry_run(script, ["http://a.test/"], DEFAULTS)
    assert {f"http://a.test{path}" for path in articles} <= run.kept
    assert str(run.hosts["a.test"].parked) == ""
    assert set(run.left["a.test"]) == {"/calendar?date=date", "/maze/*"}
    assert len(run.asked) < 100


def test_of_the_same_page_on_many_hosts_one_is_kept():
    run = mirrored(6, named=False)
    assert (set(run.copies.values()), len(run.copies)) == ({1}, 10)
    assert run.own_kept == run.own


def test_of_copies_that_name_the_original_at_most_one_is_kept_beside_it():
    run = mirrored(6, named=True)
    assert max(run.copies.values()) <= 2
    assert len(run.copies) == 10
    assert run.own_kept == run.own
