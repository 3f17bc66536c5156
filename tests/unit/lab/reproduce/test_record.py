"""The record of runs."""

from thresher_lab.reproduce.experiments import command_of
from thresher_lab.reproduce.plans import ExperimentOverrides
from thresher_lab.reproduce.record import record_run, runs_of


def test_a_run_says_what_it_took(tmp_path):
    record_run(tmp_path, "E1", "thresher lab reproduce E1", crawls=4, seconds=90)
    record_run(tmp_path, "E2", "thresher lab reproduce E2", crawls=0, seconds=1)
    [run] = runs_of(tmp_path, "E1")
    assert run.words().startswith("4 crawls in 1.5 min")
    assert not list(runs_of(tmp_path, "E2"))


def test_a_run_can_be_typed_again():
    choice = ExperimentOverrides(webs=["webkb"], topics=["dev"], pages=50)
    assert command_of("E9", choice) == "thresher lab reproduce E9 --web webkb --topics dev --pages 50"
